package policy

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/statedoc"
	"opentabs/plugin"
	"opentabs/plugin/review"
	"opentabs/plugin/settings"
	"opentabs/wire"
)

// permissionsFile is the name of the policy's file in the state folder.
const permissionsFile = "permissions.json"

// PolicyOptions set a [Policy] or [Values] up. The zero value of each field means its default.
type Options struct {
	// LockWait is how long a change waits for another process that is changing
	// the file. Default 10 s; after that the change fails.
	LockWait time.Duration
	// Warn takes a sentence for a person when a damaged file was put aside.
	// Default: nobody is told.
	Warn func(sentence string)
	// Record takes every change that was made, and every decision. It may not
	// block. Default: nobody is told.
	Record func(Change)
	// Trusted reports whether whatever is there of a plugin counts as reviewed, as
	// while its author develops it, and the permission that it has if the person has
	// not set one. It may not block. Default: nothing does.
	Trusted func(*plugin.Plugin) (wire.Permission, bool)
	// Log takes what is wrong with the file. Default: nothing is logged.
	Log zerolog.Logger
}

// setDefaults fills in what is not set.
func (o *Options) setDefaults() {
	if o.LockWait == 0 {
		o.LockWait = 10 * time.Second
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Record == nil {
		o.Record = func(Change) {}
	}
}

// trusts reports whether the author develops the plugin now.
func (o Options) trusts(one *plugin.Plugin) bool {
	if o.Trusted == nil {
		return false
	}
	_, trusted := o.Trusted(one)
	return trusted
}

// Policy is what the person lets agents do: which plugins they have reviewed,
// and which tools run by themselves, after a question, or not at all. It stands
// in permissions.json in the state folder; what a person allowed for a session
// or for some time is in memory only.
//
// A plugin that is not in the file is not reviewed, and so is one whose content
// is not what was reviewed. What the file says is what holds: a change by
// another process or by hand counts from the next call on. If it cannot be read,
// nothing is reviewed.
//
// A Policy is safe for concurrent use, and against other processes that use the
// same folder. Its gates and hooks are those of [Policy.Gates], [Policy.Before]
// and [Policy.After].
type Policy struct {
	file    *statedoc.Watched[*statedoc.Plugins, *rules]
	set     func() *plugin.Set
	opts    Options
	grants  grants
	archive review.Archive
	// refused are the calls between plugins that were not allowed.
	refused refusedCalls
}

// Change is one thing that a person changed or decided.
type Change struct {
	// Kind is "review", "permission", "limit", "opening", "settings",
	// "recommendation", "forget", "calls", "late-access" or "decision".
	Kind   string
	Plugin string
	// Tool is empty for the plugin as a whole.
	Tool string
	// Old and New are what holds before and after: a permission, a limit, a page
	// that may be opened; of settings New names the keys that changed, and no value;
	// of "calls" one of both is the plugin that may or might be called; of
	// "late-access" both are "on" or empty.
	Old, New string
	// Hash is that of the content that was reviewed.
	Hash string
	// CallID, Client, Caller, Allow, Scope and For are those of a decision.
	CallID string
	Client string
	Caller *dispatch.Caller
	Allow  bool
	Scope  wire.Scope
	For    time.Duration
	// By is the surface.
	By string
}

// State is how things stand with a plugin.
type State struct {
	Standing
	// Reviewed says that what is there now was reviewed.
	Reviewed bool
	// Effective is the plugin's permission: off if it is not reviewed.
	Effective wire.Permission
}

// NewPolicy returns the policy in the folder dir, which need not exist yet, for
// the plugins that set returns.
func New(dir string, set func() *plugin.Set, o Options) *Policy {
	o.setDefaults()
	path := filepath.Join(dir, permissionsFile)
	p := &Policy{set: set, opts: o, archive: review.NewArchive(dir)}
	p.file = statedoc.NewWatched(statedoc.File[*statedoc.Plugins]{
		Path: path, What: "the file of permissions",
		Lost:     "nothing is allowed any more, so review your plugins again",
		LockWait: o.LockWait, Warn: o.Warn, Empty: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}, readRules, &rules{}, func(r statedoc.Reading[*rules]) { noticePermissions(o.Log, path, r) })
	return p
}

// noticePermissions logs what is wrong with the file.
func noticePermissions(log zerolog.Logger, path string, r statedoc.Reading[*rules]) {
	if r.Problem != nil {
		log.Error().Err(r.Problem).Msg("the permissions cannot be read, so no tool runs")
	}
	for _, problem := range r.View.problems {
		log.Error().Str("file", path).Msg(problem)
	}
}

// Changes returns the changes of a plugin since its last review; see
// [Archive.Changes].
func (p *Policy) Changes(one *plugin.Plugin) (text string, known bool, err error) {
	return p.archive.Changes(one)
}

// Path returns the path of the policy's file.
func (p *Policy) Path() string { return p.file.Path() }

// Repair puts a damaged file aside, so that what a person kept in it is not lost
// to the next change.
func (p *Policy) Repair() error { return p.file.Repair() }

// OnChange calls changed after each change. One at a time; it may not change the
// policy.
func (p *Policy) OnChange(changed func()) { p.file.OnChange(changed) }

// Watch notices changes by other processes and by hand until ctx ends, so that
// surfaces show them also while there are no calls.
func (p *Policy) Watch(ctx context.Context) { p.file.Watch(ctx) }

// Problems says what in the file could not be read; what that is about is off.
func (p *Policy) Problems() []string {
	r := p.file.Current()
	if r.Problem != nil {
		return []string{r.Problem.Error()}
	}
	return r.View.problems
}

// State returns how things stand with a plugin, which need not be there.
func (p *Policy) State(name string) State {
	one, _ := p.set().Plugin(name)
	return p.stateOf(name, one)
}

func (p *Policy) stateOf(name string, one *plugin.Plugin) State {
	s := State{Standing: p.file.Current().View.plugins[name], Effective: wire.PermissionOff}
	s.Reviewed = one != nil && s.Review != nil && s.Review.Hash == one.ContentHash()
	if one != nil && !s.Reviewed && p.opts.Trusted != nil {
		var permission wire.Permission
		if permission, s.Reviewed = p.opts.Trusted(one); s.Reviewed && s.Permission == "" {
			s.Permission = permission
		}
	}
	if s.Reviewed && s.Permission != "" {
		s.Effective = s.Permission
	}
	return s
}

// Tool returns the permission that holds for a tool of the plugin.
func (s State) Tool(name string) wire.Permission {
	if !s.Reviewed {
		return wire.PermissionOff
	}
	if own := s.Tools[name].Permission; own != "" {
		return own
	}
	return s.Effective
}

// Runs reports whether any tool of the plugin may run, so that pages should have
// its adapter.
func (p *Policy) Runs(one *plugin.Plugin) bool {
	s := p.stateOf(one.Name, one)
	return s.Effective != wire.PermissionOff || slices.ContainsFunc(one.Tools, func(t *plugin.Tool) bool {
		return s.Tool(t.Name) != wire.PermissionOff
	})
}

// ForSettings returns these options for the user's settings of plugins.
func (o Options) ForSettings() settings.Options {
	s := settings.Options{LockWait: o.LockWait, Warn: o.Warn, Log: o.Log}
	if o.Record != nil {
		s.Record = func(name string, keys []string, by string) {
			o.Record(Change{Kind: "settings", Plugin: name, New: strings.Join(keys, " "), By: by})
		}
	}
	return s
}
