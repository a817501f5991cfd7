// Package permissions presents the review, permissions and settings of plugins to
// the HTTP API, the side panel, agents and commands.
//
// [Local] works on the files of the installation; httpapi.Client.Policy works on a
// running daemon.
package permissions

import (
	"encoding/json"
	"errors"

	"opentabs/internal/audit"
	"opentabs/internal/httpapi"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
	"opentabs/plugin/inspection"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// Local reads and changes the permissions in this process.
type Local struct {
	policy   *policy.Policy
	registry *catalog.Catalog
}

var _ httpapi.Policy = Local{}

// NewLocal returns the permissions of the plugins in registry.
func NewLocal(policy *policy.Policy, registry *catalog.Catalog) Local {
	return Local{policy, registry}
}

// Plugins returns the plugins for the side panel: those that are loaded and those
// that failed to load.
func (l Local) Plugins() ([]wire.PluginView, []wire.FailedPluginView) {
	return l.pluginViews(), failedViews(l.registry.Set())
}

// Permissions implements httpapi.Policy.
func (l Local) Permissions(name string) (httpapi.PluginPermissions, error) {
	one, err := l.registry.Set().Find(name)
	if err != nil {
		return httpapi.PluginPermissions{}, withNotFound(err)
	}
	view := l.permissionsOf(one)
	view.Recommended, view.Fault = l.recommendation(one), l.fault(one)
	return view, nil
}

// Review implements httpapi.Policy.
func (l Local) Review(name, hash string, permission wire.Permission, by string) error {
	return withNotFound(l.policy.Review(name, hash, permission, by))
}

// SetPermission implements httpapi.Policy.
func (l Local) SetPermission(name, tool string, permission wire.Permission, by string) error {
	return withNotFound(l.policy.SetPermission(name, tool, permission, by))
}

// SetLimit implements httpapi.Policy.
func (l Local) SetLimit(name, tool, limit, by string) error {
	var parsed policy.Limit
	if err := parsed.UnmarshalText([]byte(limit)); err != nil {
		return err
	}
	return withNotFound(l.policy.SetLimit(name, tool, parsed, by))
}

// SetOpening implements httpapi.Policy.
func (l Local) SetOpening(name string, allowed bool, by string) error {
	return withNotFound(l.policy.SetOpening(name, allowed, by))
}

// SetCalls implements httpapi.Policy.
func (l Local) SetCalls(name, other string, allowed bool, by string) error {
	return withNotFound(l.policy.SetCalls(name, other, allowed, by))
}

// SetLateAccess implements httpapi.Policy.
func (l Local) SetLateAccess(name string, allowed bool, by string) error {
	return withNotFound(l.policy.SetLateAccess(name, allowed, by))
}

// Settings implements httpapi.Policy.
func (l Local) Settings(name string) ([]wire.SettingView, error) {
	one, err := l.registry.Set().Find(name)
	if err != nil {
		return nil, withNotFound(err)
	}
	return l.settingViews(one), nil
}

// ChangeSettings implements httpapi.Policy.
func (l Local) ChangeSettings(name string, values map[string]json.RawMessage, by string) error {
	one, err := l.registry.Set().Find(name)
	if err != nil {
		return withNotFound(err)
	}
	return withNotFound(l.registry.Values().Change(one, values, by))
}

// Forget implements httpapi.Policy.
func (l Local) Forget(name, by string) error {
	return errors.Join(l.policy.Forget(name, by), l.registry.Values().Forget(name, by))
}

// Inspect returns what a reviewer sees of a plugin.
func (l Local) Inspect(name string) (*inspection.Inspection, error) {
	in, err := inspection.Inspect(l.policy, l.registry.Set(), l.registry.Values(), name)
	return in, withNotFound(err)
}

// Recommend stores an agent's recommendation for a plugin.
func (l Local) Recommend(name, hash string, permission wire.Permission, note, by string) error {
	return l.policy.Recommend(name, hash, permission, note, by)
}

// notFoundError has the text of err and also matches httpapi.ErrUnknown.
type notFoundError struct{ err error }

func (e *notFoundError) Error() string   { return e.err.Error() }
func (e *notFoundError) Unwrap() []error { return []error{e.err, httpapi.ErrUnknown} }

// withNotFound makes an error about an unknown plugin or tool match
// httpapi.ErrUnknown.
func withNotFound(err error) error {
	if errors.Is(err, plugin.ErrUnknown) {
		return &notFoundError{err}
	}
	return err
}

// AuditRecord returns the audit record of a change of permissions or settings.
func AuditRecord(c policy.Change) audit.Record {
	r := audit.Record{Kind: audit.Kind(c.Kind), Tool: c.Plugin, Hash: c.Hash, By: c.By, Old: c.Old, New: c.New}
	r.CallID, r.Client, r.Caller = c.CallID, c.Client, c.Caller
	if c.Tool != "" {
		r.Tool += "__" + c.Tool
	}
	if r.Kind == audit.KindDecision {
		r.Allow, r.Scope, r.ForMs = &c.Allow, c.Scope, c.For.Milliseconds()
	}
	return r
}
