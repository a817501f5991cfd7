package plugin

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/jsonread"
)

// Registry loads the plugins of a [Store] and serves them as a [Set].
type Registry struct {
	store *Store
	log   zerolog.Logger
	sites func(*Plugin) []dispatch.Instance
	set   atomic.Pointer[Set]

	reload sync.Mutex // held while plugins are loaded and listeners are told

	mu        sync.Mutex // guards the rest
	listeners []*listener
	folders   []string
	loaded    []Entry // what the last reload was about
	stamps    stamps  // what it all looked like just before
}

// listener is a function that wants to know of a new set.
type listener struct{ changed func(*Set) }

// NewRegistry returns a registry whose set is empty until [Registry.Reload].
func NewRegistry(store *Store, log zerolog.Logger) *Registry {
	r := &Registry{store: store, log: log, sites: func(*Plugin) []dispatch.Instance { return nil }}
	r.set.Store(NewSet(nil, nil))
	return r
}

// UseSites sets the function that returns the sites which the user has set for a
// plugin. Each Reload makes plugins work in those sites. Call UseSites before the
// first [Registry.Reload].
func (r *Registry) UseSites(sites func(*Plugin) []dispatch.Instance) { r.sites = sites }

// DiscoverIn has each reload from now on look for packages in these folders of npm
// packages too. What was added to the store counts before them.
func (r *Registry) DiscoverIn(folders []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.folders = slices.Clone(folders)
}

// entries returns what is to be loaded, in the order in which it counts, and what
// of the store can't be read.
func (r *Registry) entries() ([]Entry, []Failure, error) {
	r.mu.Lock()
	folders := r.folders
	r.mu.Unlock()
	seen := stamps{} // before it is read
	seen.addLists(r.store.Path(), folders)
	entries, failed, err := r.store.list()
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.loaded, r.stamps = nil, seen
		return nil, nil, err
	}
	added := map[string]bool{}
	for _, e := range entries {
		added[resolved(e.Path)] = true
	}
	for _, e := range found(folders) {
		if !added[resolved(e.Path)] {
			entries = append(entries, e)
		}
	}
	seen.addPackages(entries)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loaded, r.stamps = entries, seen
	return entries, failed, nil
}

// Set returns the current set; never nil.
func (r *Registry) Set() *Set { return r.set.Load() }

// OnChange calls changed after each reload that brought something new, in the
// goroutine that reloads, one set at a time and in order. changed may not call
// Reload. A reload that has begun when stop is called may still call changed.
func (r *Registry) OnChange(changed func(*Set)) (stop func()) {
	l := &listener{changed: changed}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = append(r.listeners, l)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.listeners = slices.DeleteFunc(r.listeners, func(other *listener) bool { return other == l })
	}
}

// Reload reads the store and loads every plugin in it. A plugin that cannot be
// loaded is listed as failed and hinders no other; Reload itself fails only if
// the store cannot be read. Then the set stays as it is, but for an empty one,
// which lists the store as failed.
func (r *Registry) Reload() error {
	r.reload.Lock()
	defer r.reload.Unlock()
	old := r.Set()
	entries, failed, err := r.entries()
	if err != nil {
		if len(old.plugins) == 0 {
			r.set.Store(NewSet(nil, []Failure{{Path: r.store.Path(), Err: err}}))
		}
		return err
	}
	loaded := r.loadAll(entries)
	for _, one := range loaded {
		if one.plugin != nil {
			one.plugin.settle(r.sites(one.plugin))
		}
	}
	var plugins []*Plugin
	for i, p := range resolve(entries, loaded, old) {
		if err := loaded[i].err; err != nil {
			failed = append(failed, Failure{Path: entries[i].Path, Name: entries[i].Name, Err: err})
			continue
		}
		if p != nil {
			plugins = append(plugins, p)
		}
	}
	set := NewSet(plugins, failed)
	if same(old, set) {
		return nil
	}
	for _, p := range plugins {
		for _, w := range p.Warnings {
			r.log.Warn().Str("plugin", p.Name).Msg(w)
		}
	}
	for _, f := range failed {
		r.log.Error().Str("plugin", f.Name).Str("path", f.Path).Err(f.Err).Msg("plugin not loaded")
	}
	r.set.Store(set)
	r.tell(set)
	return nil
}

// tell hands set to the listeners.
func (r *Registry) tell(set *Set) {
	r.mu.Lock()
	listeners := slices.Clone(r.listeners)
	r.mu.Unlock()
	for _, l := range listeners {
		l.changed(set)
	}
}

// outcome is what came of loading one entry.
type outcome struct {
	plugin *Plugin
	err    error
}

// loadAll loads the entries' packages, as many at once as there are processors.
func (r *Registry) loadAll(entries []Entry) []outcome {
	outcomes := make([]outcome, len(entries))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(entries)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(entries); i = int(next.Add(1)) - 1 {
				outcomes[i].plugin, outcomes[i].err = r.loadEntry(entries[i])
			}
		})
	}
	wg.Wait()
	loaded := map[string]bool{}
	for _, e := range entries {
		loaded[e.Path] = true
	}
	if err := r.store.index.save(func(dir string) bool { return loaded[dir] }); err != nil {
		r.log.Debug().Err(err).Msg("the plugin index is not written, so the next start reads all adapters")
	}
	return outcomes
}

// loadEntry loads a package. One that opentabs has installed is refused if it is
// not what was installed: nobody has to do with its files. A folder of the
// person's may change; what is in it then is not reviewed.
func (r *Registry) loadEntry(e Entry) (*Plugin, error) {
	p, err := load(e.Path, r.store.index)
	if err != nil {
		return nil, err
	}
	p.Source, p.changed = e.Source, func() { r.distrust(e.Path) }
	refuse := func(file, format string, args ...any) (*Plugin, error) {
		return nil, &PackageError{Dir: e.Path, Problems: []jsonread.Problem{{File: file, Text: fmt.Sprintf(format, args...)}}}
	}
	switch {
	case e.Source == SourceNPM && p.Hash != e.Hash:
		return refuse(adapterFile, "changed since it was installed; install it anew with opentabs plugin install %s@%s", e.Package, p.Version)
	case e.Source == SourceNPM && p.ManifestHash != e.Manifest:
		return refuse(packageFile+" or "+toolsFile, "changed since it was installed; install it anew with opentabs plugin install %s@%s", e.Package, p.Version)
	case e.Source == SourceGlobal && p.Package != e.Package:
		return refuse(packageFile, "says that it is the package %q, but the folder is that of %q; install it anew", p.Package, e.Package)
	case p.Name != e.Name:
		return refuse(packageFile, "names the plugin %q by now, but it was added as %q; run opentabs plugin remove %s, then opentabs plugin add %s", p.Name, e.Name, e.Name, e.Path)
	}
	if p.ManifestHash != e.Manifest && !r.store.index.compiles(e.Path, p.ManifestHash) { // else they compiled when it was added
		if err := p.CheckSchemas(); err != nil {
			return nil, err
		}
		r.store.index.noteCompiles(e.Path, p.ManifestHash)
	}
	if e.Source != SourceGlobal { // those are checked before a page gets them: there may be many that are never used
		if err := r.store.checkScripts(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// distrust has the next look of [Watch] load the plugins again, and read what is
// in this folder: it is not what was loaded, although it looks the same.
func (r *Registry) distrust(dir string) {
	r.store.index.forget(dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stamps = nil
}

// resolve picks what is served: an unchanged plugin keeps its value, so that
// its compiled schemas live on, and of two with one name the first is served,
// also while it can't be loaded: nothing takes a plugin's place in silence.
func resolve(entries []Entry, loaded []outcome, old *Set) []*Plugin {
	first := map[string]int{}
	plugins := make([]*Plugin, len(loaded))
	for i, e := range entries {
		if j, clash := first[e.Name]; clash {
			if one := loaded[j].plugin; e.Source != SourceGlobal || one == nil || one.Package != e.Package {
				loaded[i].err = clashError(entries[j], e)
			} // else it is the same package once more, which the person has added or installed
			continue
		}
		first[e.Name] = i
		p := loaded[i].plugin
		if p == nil {
			continue
		}
		if before, ok := old.Plugin(p.Name); ok && samePlugin(before, p) {
			p = before
		}
		plugins[i] = p
	}
	return plugins
}

func samePlugin(a, b *Plugin) bool {
	return a.Dir == b.Dir && a.Source == b.Source && a.Hash == b.Hash && a.ManifestHash == b.ManifestHash && slices.Equal(a.Instances, b.Instances)
}

// same reports whether two sets hold the same plugins and failures.
func same(a, b *Set) bool {
	return slices.Equal(a.plugins, b.plugins) && slices.EqualFunc(a.failed, b.failed, func(x, y Failure) bool {
		return x.Path == y.Path && x.Name == y.Name && x.Err.Error() == y.Err.Error()
	})
}
