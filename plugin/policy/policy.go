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

// permissionsFile is the name of the file in the state folder that stores permissions.
const permissionsFile = "permissions.json"

// lockTimeout is how long a change of permissions.json waits for a lock that another process
// holds, before the change fails.
const lockTimeout = 10 * time.Second

// Options configures a [Policy]. The zero value of a field selects the field's default.
type Options struct {
	// WarnUser receives a sentence for the user when opentabs renames a damaged
	// permissions.json. Default: no warning.
	WarnUser func(warning string)
	// RecordChange receives each change and each decision that the user makes. RecordChange
	// must not block. By default, a Policy records no changes.
	RecordChange func(Change)
	// IsInDevelopment reports whether any content of a plugin counts as reviewed, because its author is developing the
	// plugin. The returned permission applies to a plugin in development unless the user has set another permission. By
	// default, no plugin counts as in development.
	IsInDevelopment func(*plugin.Plugin) (wire.Permission, bool)
	// The field Log receives errors about permissions.json. By default, the field Log is
	// not set.
	Log zerolog.Logger
}

func (o *Options) setDefaults() {
	if o.WarnUser == nil {
		o.WarnUser = func(string) {}
	}
	if o.RecordChange == nil {
		o.RecordChange = func(Change) {}
	}
}

func (o Options) isInDevelopment(loadedPlugin *plugin.Plugin) bool {
	if o.IsInDevelopment == nil {
		return false
	}
	_, isInDevelopment := o.IsInDevelopment(loadedPlugin)
	return isInDevelopment
}

// Policy stores what the user allows agents to do. A Policy records which plugins are
// reviewed, and whether each tool runs, needs approval, or is off. Permissions are stored
// in permissions.json in the state folder. Grants for a session or for some time exist
// only in memory.
//
// A plugin counts as reviewed only if the user has reviewed its current content. A change
// of permissions.json by another process or an editor takes effect at the next call. If
// permissions.json cannot be read, no plugin counts as reviewed.
//
// A Policy is safe for concurrent use by goroutines and processes. An [Enforcer] applies
// the rules of a Policy to calls.
type Policy struct {
	file           *statedoc.Watched[*statedoc.Plugins, *permissionRules]
	currentPlugins func() *plugin.Set
	opts           Options
	grants         memoryGrants
	archive        review.Archive
	refusedCalls   refusedCalls
}

// Change is one change or one decision that the user made, for the audit log.
type Change struct {
	// Kind is "review", "permission", "limit", "opening", "settings", "recommendation",
	// "forget", "calls", "late-access", "site" or "decision".
	Kind   string
	Plugin string
	// For a change of the kind "site", Site is the pattern of the site. For a decision about
	// a browser tool, Site is the site of the tab. The field Site is empty for a change of
	// any kind except "site" and "decision".
	Site string
	// Tool is the tool that the change or decision concerns, or empty for a change of the
	// whole plugin.
	Tool string
	// The fields Old and New are the values before and after the change, such as a
	// permission, a limit, or a page that calls are allowed to open. For a change of
	// "settings", New lists the names of the changed settings without their values. For a
	// change of "calls", Old or New is the name of the called plugin. For a change of
	// "late-access", the values are "on" (granted) or "" (not granted).
	Old, New string
	// The field Hash is the content hash of the reviewed plugin.
	Hash string
	// The fields CallID, Client, Caller, Allow, Scope and For are set only for a change
	// of the kind "decision".
	CallID string
	Client string
	Caller *dispatch.Caller
	Allow  bool
	Scope  wire.Scope
	For    time.Duration
	// The field By is the surface, such as the side panel, on which the user made the
	// change.
	By string
}

// endsGrants reports whether the change ends the grants of its tool, or of all tools of its plugin.
func (c *Change) endsGrants() bool { return c.Kind == "permission" || c.Kind == "forget" }

// State is the current review and the current permissions of a plugin.
type State struct {
	PluginEntry
	// The field Reviewed reports whether the user has reviewed the plugin's current
	// content.
	Reviewed bool
	// EffectivePermission is the permission that applies to the plugin now: "off" if the
	// plugin is not reviewed.
	EffectivePermission wire.Permission
	builtinPlugin       *plugin.Plugin
}

// New returns the policy in the state folder dir, which need not exist yet. The function
// currentPlugins returns the loaded plugins to which the policy applies.
func New(dir string, currentPlugins func() *plugin.Set, o Options) *Policy {
	o.setDefaults()
	path := filepath.Join(dir, permissionsFile)
	p := &Policy{currentPlugins: currentPlugins, opts: o, archive: review.NewArchive(dir)}
	p.file = statedoc.NewWatched(statedoc.File[*statedoc.Plugins]{
		Path: path, Subject: "the file of permissions",
		LossWarning: "nothing is allowed any more, so review your plugins again",
		LockWait:    lockTimeout, Warn: o.WarnUser, NewContent: statedoc.NewPlugins, Parse: statedoc.ParsePlugins, Encode: (*statedoc.Plugins).Encode,
	}, readRules, &permissionRules{}, func(r statedoc.ReadResult[*permissionRules]) { logPermissionProblems(o.Log, path, r) })
	return p
}

func logPermissionProblems(log zerolog.Logger, path string, r statedoc.ReadResult[*permissionRules]) {
	if r.Problem != nil {
		log.Error().Err(r.Problem).Msg("the permissions cannot be read, so no tool runs")
	}
	for _, problemText := range r.View.problems {
		log.Error().Str("file", path).Msg(problemText)
	}
}

// Changes returns the changes of a plugin since the user's last review of the plugin; see
// [Archive.Changes].
func (p *Policy) Changes(loadedPlugin *plugin.Plugin) (changes string, isKnown bool, err error) {
	return p.archive.Changes(loadedPlugin)
}

// Path returns the path of permissions.json.
func (p *Policy) Path() string { return p.file.Path() }

// Repair renames a damaged permissions.json, because the next change of a permission would
// overwrite the damaged file.
func (p *Policy) Repair() error { return p.file.Repair() }

// OnChange registers a listener that runs after each change of the permissions. The policy
// runs its listeners one after another. A listener must not change the policy.
func (p *Policy) OnChange(onChange func()) { p.file.OnChange(onChange) }

// Watch detects changes of permissions.json by other processes and editors until ctx is
// done. Without Watch, surfaces such as the side panel would show a change by another
// process only after the next call.
func (p *Policy) Watch(ctx context.Context) { p.file.Watch(ctx) }

// Problems returns sentences about the parts of permissions.json that cannot be parsed.
// Plugins and tools whose permissions cannot be parsed are off.
func (p *Policy) Problems() []string {
	r := p.file.Current()
	if r.Problem != nil {
		return []string{r.Problem.Error()}
	}
	return r.View.problems
}

// State returns the review and the permissions of a plugin. For a plugin that is not installed, State returns the
// stored permissions.
func (p *Policy) State(name string) State {
	loadedPlugin, _ := p.currentPlugins().Plugin(name)
	return p.stateOf(name, loadedPlugin)
}

func (p *Policy) stateOf(name string, loadedPlugin *plugin.Plugin) State {
	return p.opts.stateForRules(p.file.Current().View, name, loadedPlugin)
}

func (o Options) stateForRules(rules *permissionRules, name string, loadedPlugin *plugin.Plugin) State {
	s := State{PluginEntry: rules.plugins[name], EffectivePermission: wire.PermissionOff}
	if loadedPlugin != nil && loadedPlugin.IsBuiltin() { // a built-in plugin needs no review, but is off until the user turns it on
		s.builtinPlugin = loadedPlugin
	}
	s.Reviewed = s.builtinPlugin != nil || loadedPlugin != nil && s.Review != nil && s.Review.Hash == loadedPlugin.ContentHash()
	if loadedPlugin != nil && !s.Reviewed && o.IsInDevelopment != nil {
		var permission wire.Permission
		if permission, s.Reviewed = o.IsInDevelopment(loadedPlugin); s.Reviewed && s.Permission == "" {
			s.Permission = permission
		}
	}
	if s.Reviewed && s.Permission != "" {
		s.EffectivePermission = s.Permission
	}
	return s
}

// Tool returns the effective permission of a tool. If a built-in plugin is off, all of
// its tools are off.
func (s State) Tool(name string) wire.Permission {
	if !s.Reviewed || s.builtinPlugin != nil && s.EffectivePermission == wire.PermissionOff {
		return wire.PermissionOff
	}
	if toolPermission := s.Tools[name].Permission; toolPermission != "" {
		return toolPermission
	}
	if s.builtinPlugin != nil && slices.ContainsFunc(s.builtinPlugin.Tools, func(t *plugin.Tool) bool { return t.Name == name && t.IsOffByDefault }) {
		return wire.PermissionOff
	}
	return s.EffectivePermission
}

// MayRunAnyTool reports whether the user's permissions allow at least one tool of the plugin
// to run. If the user's permissions allow none of the plugin's tools to run, pages do not
// receive the plugin's adapter.
func (p *Policy) MayRunAnyTool(loadedPlugin *plugin.Plugin) bool {
	s := p.stateOf(loadedPlugin.Name, loadedPlugin)
	return s.EffectivePermission != wire.PermissionOff || slices.ContainsFunc(loadedPlugin.Tools, func(t *plugin.Tool) bool {
		return s.Tool(t.Name) != wire.PermissionOff
	})
}

// SettingsOptions returns the options with which package settings stores the user's
// settings of plugins.
func (o Options) SettingsOptions() settings.Options {
	s := settings.Options{WarnUser: o.WarnUser, Log: o.Log}
	if o.RecordChange != nil {
		s.RecordChange = func(name string, keys []string, by string) {
			o.RecordChange(Change{Kind: "settings", Plugin: name, New: strings.Join(keys, " "), By: by})
		}
	}
	return s
}
