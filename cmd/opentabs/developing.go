package main

import (
	"sync"

	"github.com/rs/zerolog"

	"opentabs/plugin"
	"opentabs/wire"
)

// developing are the folders of the plugins that somebody develops just now
// (opentabs plugin dev). Whoever does that is the author, so what is built there
// counts as reviewed, and pages take it without a reload. It is safe for
// concurrent use.
type developing struct {
	policy *plugin.Policy
	set    func() *plugin.Set
	// changed is called when another plugin is being developed.
	changed func()
	log     zerolog.Logger

	reviewing sync.Mutex // held while reviews are recorded

	mu   sync.Mutex           // guards held
	held map[string]*heldOpen // by folder
}

// heldOpen is one folder in which plugins are developed.
type heldOpen struct {
	commands   int
	permission wire.Permission
}

// begin says that the plugin in dir, an absolute path, is being developed until
// end is called. If it has no permission yet it gets this one.
func (d *developing) begin(dir string, permission wire.Permission) (end func(), err error) {
	if _, err := plugin.ParsePermission(string(permission)); err != nil {
		return nil, err
	}
	d.mu.Lock()
	one := d.held[dir]
	if one == nil {
		one = &heldOpen{}
		d.held[dir] = one
	}
	one.commands++
	one.permission = permission
	first := one.commands == 1
	d.mu.Unlock()
	d.review(d.set())
	if first {
		d.changed()
	}
	return func() { d.end(dir) }, nil
}

func (d *developing) end(dir string) {
	d.review(d.set()) // what is there now stays let in
	d.mu.Lock()
	d.held[dir].commands--
	last := d.held[dir].commands == 0
	if last {
		delete(d.held, dir)
	}
	d.mu.Unlock()
	if last {
		d.changed()
	}
}

// has reports whether a plugin is being developed: this one, not another that
// has its name. Without a list none is.
func (d *developing) has(one *plugin.Plugin) bool {
	_, held := d.permission(one)
	return held
}

// permission is that which a plugin gets that is being developed and has none. It
// is plugin.PolicyOptions.Trusted: from one build to the next a plugin is never
// without a review.
func (d *developing) permission(one *plugin.Plugin) (wire.Permission, bool) {
	if d == nil {
		return "", false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	held := d.held[one.Dir]
	if held == nil || one.Source != plugin.SourceFolder {
		return "", false
	}
	return held.permission, true
}

// review records what is being developed and has changed as reviewed, so that it
// stays so afterwards. Its permission stays as the person has set it.
func (d *developing) review(set *plugin.Set) {
	d.reviewing.Lock()
	defer d.reviewing.Unlock()
	for _, one := range set.Plugins() {
		permission, held := d.permission(one)
		state := d.policy.State(one.Name)
		if !held || state.Review != nil && state.Review.Hash == one.ContentHash() {
			continue
		}
		if state.Permission != "" {
			permission = state.Permission
		}
		if err := d.policy.Review(one.Name, one.ContentHash(), permission, "opentabs plugin dev"); err != nil {
			d.log.Error().Err(err).Str("plugin", one.Name).Msg("a new build could not be let in")
		}
	}
}

// reviewLater is review for a registry's listener: pages should not wait for what
// a review keeps.
func (d *developing) reviewLater(*plugin.Set) { go func() { d.review(d.set()) }() }
