package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/rs/zerolog"

	"opentabs/internal/audit"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/mcpserver"
	"opentabs/plugin"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// policyAPI is the policy as the routes and the side panels want it.
type policyAPI struct {
	policy   *plugin.Policy
	registry *plugin.Registry
}

var (
	_ httpapi.Policy  = policyAPI{}
	_ wsbridge.Policy = policyAPI{}

	_ mcpserver.Inspector = policyAPI{}
)

// Plugins are the plugins as the side panel shows them.
func (a policyAPI) Plugins() ([]wire.PluginView, []wire.FailedView) {
	return pluginViews(a.policy, a.registry), failedViews(a.registry.Set())
}

func (a policyAPI) Permissions(name string) (httpapi.PluginPermissions, error) {
	one, ok := a.registry.Set().Plugin(name)
	if !ok {
		return httpapi.PluginPermissions{}, known(a.policy.Unknown(name))
	}
	view := permissionsOf(a.policy, one)
	view.Recommended, view.Fault = a.recommended(one), a.fault(one)
	return view, nil
}

func (a policyAPI) Review(name, hash string, permission wire.Permission, by string) error {
	return known(a.policy.Review(name, hash, permission, by))
}

func (a policyAPI) SetPermission(name, tool string, permission wire.Permission, by string) error {
	return known(a.policy.SetPermission(name, tool, permission, by))
}

func (a policyAPI) SetLimit(name, tool, limit, by string) error {
	var l plugin.Limit
	if err := l.UnmarshalText([]byte(limit)); err != nil {
		return err
	}
	return known(a.policy.SetLimit(name, tool, l, by))
}

func (a policyAPI) SetOpening(name string, allowed bool, by string) error {
	return known(a.policy.SetOpening(name, allowed, by))
}

func (a policyAPI) SetCalls(name, other string, allowed bool, by string) error {
	return known(a.policy.SetCalls(name, other, allowed, by))
}

func (a policyAPI) SetLateAccess(name string, allowed bool, by string) error {
	return known(a.policy.SetLateAccess(name, allowed, by))
}

func (a policyAPI) Settings(name string) ([]wire.SettingView, error) {
	one, ok := a.registry.Set().Plugin(name)
	if !ok {
		return nil, known(a.policy.Unknown(name))
	}
	return settingViews(a.policy, a.registry, one), nil
}

func (a policyAPI) ChangeSettings(name string, values map[string]json.RawMessage, by string) error {
	one, ok := a.registry.Set().Plugin(name)
	if !ok {
		return known(a.policy.Unknown(name))
	}
	return known(a.registry.Values().Change(one, values, by))
}

func (a policyAPI) Forget(name, by string) error {
	return errors.Join(a.policy.Forget(name, by), a.registry.Values().Forget(name, by))
}

// recommended is what an agent says of a plugin.
func (a policyAPI) recommended(one *plugin.Plugin) *httpapi.Recommendation {
	r := a.policy.Recommended(one)
	if r == nil {
		return nil
	}
	return &httpapi.Recommendation{Permission: r.Permission, Note: r.Note, Mark: httpapi.Mark(r.Mark)}
}

// Inspect shows a plugin to whoever reviews it.
func (a policyAPI) Inspect(name string) (*plugin.Inspection, error) {
	return a.policy.Inspect(name, a.registry.Values())
}

// Recommend keeps an agent's opinion.
func (a policyAPI) Recommend(name, hash string, permission wire.Permission, note, by string) error {
	return a.policy.Recommend(name, hash, permission, note, by)
}

// known makes an error about a name that is not there one of the routes.
func known(err error) error {
	if errors.Is(err, plugin.ErrUnknown) {
		return &unknownError{err}
	}
	return err
}

// unknownError has the text of err and is httpapi.ErrUnknown too.
type unknownError struct{ err error }

func (u *unknownError) Error() string   { return u.err.Error() }
func (u *unknownError) Unwrap() []error { return []error{u.err, httpapi.ErrUnknown} }

// permissionsOf is how things stand with a plugin.
func permissionsOf(policy *plugin.Policy, one *plugin.Plugin) httpapi.PluginPermissions {
	s := policy.State(one.Name)
	view := httpapi.PluginPermissions{
		Plugin: one.Name, Hash: one.ContentHash(), Reviewed: s.Reviewed, Permission: s.Effective, Stored: s.Permission,
		Mark: httpapi.Mark(s.Set), Problems: policy.Problems(), Tools: []httpapi.ToolPermissions{},
		OpensAt: one.OpensAt, Opening: policy.MayOpen(one.Name),
		World: one.World, Late: one.StartsLate(), LateAccess: s.HasLateAccess(),
	}
	for _, other := range s.CallsTo() {
		call := httpapi.AllowedCall{Plugin: other, Mark: httpapi.Mark(s.Calls[other])}
		if s.Reviewed {
			view.Calls = append(view.Calls, call)
		} else {
			view.StoredCalls = append(view.StoredCalls, call)
		}
	}
	if r := s.Review; r != nil {
		view.Review = &httpapi.Review{Hash: r.Hash, Version: r.Version, Dir: r.Dir, Mark: httpapi.Mark(r.Mark)}
	}
	grants := policy.Grants(one.Name)
	for _, t := range one.Tools {
		own := s.Tools[t.Name]
		tool := httpapi.ToolPermissions{
			Name: t.Name, Permission: s.Tool(t.Name), Own: own.Permission, Mark: httpapi.Mark(own.Mark), Limit: own.Limit.String(),
		}
		for _, g := range grants[t.Name] {
			tool.Grants = append(tool.Grants, httpapi.Grant{Scope: g.Scope, Client: g.Client, Caller: g.Caller, Mark: httpapi.Mark(g.Mark), Until: g.Until})
		}
		view.Tools = append(view.Tools, tool)
	}
	return view
}

// rulebook is where a command reads and changes permissions: the server that
// runs, or the file where none does.
type rulebook struct {
	httpapi.Policy
	// set is the plugins as this process has loaded them; here reads their files.
	set  *plugin.Set
	here policyAPI
	// client asks the server, which has every change at once; nil if none runs.
	client *httpapi.Client
}

// rulebook finds out which it is.
func (p *program) rulebook(ctx context.Context) (rulebook, error) {
	dirs, err := p.home()
	if err != nil {
		return rulebook{}, err
	}
	settings, err := p.settings(dirs, nil)
	if err != nil {
		return rulebook{}, err
	}
	registry, err := p.plugins(dirs)
	if err != nil {
		return rulebook{}, err
	}
	book := rulebook{set: registry.Set(), here: policyAPI{p.policy(dirs, registry), registry}}
	client, err := p.serverOf(ctx, dirs, settings)
	switch {
	case err != nil:
		return rulebook{}, err
	case client != nil:
		book.Policy, book.client = remotePolicy{ctx, client}, client
	default:
		book.Policy = book.here
	}
	return book, nil
}

// serverOf returns a client of the server that runs, nil if none does.
func (p *program) serverOf(ctx context.Context, dirs config.Dirs, s config.Settings) (*httpapi.Client, error) {
	server, err := findServer(ctx, dirs, s)
	if errors.Is(err, httpapi.ErrNoServer) || errors.Is(err, httpapi.ErrStranger) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	token, err := dirs.Token()
	if err != nil {
		return nil, err
	}
	return httpapi.NewClient(server.port, token), nil
}

// policy is the file of permissions; what is wrong with it is told on stderr.
func (p *program) policy(dirs config.Dirs, registry *plugin.Registry) *plugin.Policy {
	return plugin.NewPolicy(dirs.State, registry.Set, p.told(dirs))
}

// plugins loads the plugins, with their settings.
func (p *program) plugins(dirs config.Dirs) (*plugin.Registry, error) {
	settings, err := p.settings(dirs, nil)
	if err != nil {
		return nil, err
	}
	registry := plugin.NewRegistry(p.store(dirs), zerolog.Nop())
	registry.UseValues(plugin.NewValues(dirs.State, p.told(dirs)))
	if err := discover(registry, settings, p.getenv); err != nil {
		p.out.Notef("warning: %v", err)
	}
	return registry, registry.Reload()
}

// told is what files tell that a command changes.
func (p *program) told(dirs config.Dirs) plugin.PolicyOptions {
	return plugin.PolicyOptions{
		Warn: func(sentence string) { p.out.Notef("%s", sentence) },
		Record: func(c plugin.Change) { // one line, so the log is not kept open
			log := audit.Open(dirs.State, audit.Options{})
			defer log.Close()
			log.Write(changeRecord(c))
		},
	}
}

// remotePolicy is the policy of the server that runs, for one command. That
// server names the surface of a change by itself.
type remotePolicy struct {
	ctx    context.Context
	client *httpapi.Client
}

func (r remotePolicy) Permissions(name string) (httpapi.PluginPermissions, error) {
	view, err := r.client.Permissions(r.ctx, name)
	return view, local(err)
}

func (r remotePolicy) Review(name, hash string, permission wire.Permission, _ string) error {
	return local(r.client.Review(r.ctx, name, hash, permission))
}

func (r remotePolicy) SetPermission(name, tool string, permission wire.Permission, _ string) error {
	return local(r.client.SetPermission(r.ctx, name, tool, permission))
}

func (r remotePolicy) SetLimit(name, tool, limit, _ string) error {
	return local(r.client.SetLimit(r.ctx, name, tool, limit))
}

func (r remotePolicy) SetOpening(name string, allowed bool, _ string) error {
	return local(r.client.SetOpening(r.ctx, name, allowed))
}

func (r remotePolicy) SetCalls(name, other string, allowed bool, _ string) error {
	return local(r.client.SetCalls(r.ctx, name, other, allowed))
}

func (r remotePolicy) SetLateAccess(name string, allowed bool, _ string) error {
	return local(r.client.SetLateAccess(r.ctx, name, allowed))
}

func (r remotePolicy) Settings(name string) ([]wire.SettingView, error) {
	views, err := r.client.Settings(r.ctx, name)
	return views, local(err)
}

func (r remotePolicy) ChangeSettings(name string, values map[string]json.RawMessage, _ string) error {
	return local(r.client.ChangeSettings(r.ctx, name, values))
}

func (r remotePolicy) Forget(name, _ string) error {
	return local(r.client.Forget(r.ctx, name))
}

// local makes of the server's refusal the error that the file would give.
func local(err error) error {
	var refused *httpapi.Refused
	if errors.As(err, &refused) && refused.Status == 404 {
		return &unknownError{err}
	}
	return err
}

// misnamed makes an error about a name that is not there one of the person at
// the keyboard.
func misnamed(err error) error {
	if errors.Is(err, httpapi.ErrUnknown) {
		return usage("%v", err)
	}
	return err
}

// settingViews are a plugin's settings as surfaces show them.
func settingViews(policy *plugin.Policy, registry *plugin.Registry, one *plugin.Plugin) []wire.SettingView {
	views := registry.Values().Views(one)
	if policy.IsRestricted(one) {
		for i := range views {
			views[i].Withheld = views[i].Secret
		}
	}
	return views
}

// pluginViews are the plugins as the side panel shows them.
func pluginViews(policy *plugin.Policy, registry *plugin.Registry) []wire.PluginView {
	views := []wire.PluginView{}
	for _, one := range registry.Set().Plugins() {
		s := policy.State(one.Name)
		view := wire.PluginView{
			Name: one.Name, DisplayName: one.DisplayName, Version: one.Version, Hash: one.ContentHash(),
			Reviewed: s.Reviewed, Permission: s.Effective, Matches: slices.Clone(one.Matches),
			Icon: one.Icon, Homepage: one.Homepage, Settings: settingViews(policy, registry, one),
			Opening: policy.MayOpen(one.Name), OpensAt: one.OpensAt,
			World: one.World, Late: one.StartsLate(), LateAccess: s.HasLateAccess(), Refused: policy.Refused(one.Name),
		}
		if s.Reviewed {
			view.Calls = s.CallsTo()
		}
		if fault, broken := registry.Faults().Of(one); broken {
			view.Problem = fault.Text()
		}
		if r := policy.Recommended(one); r != nil {
			view.Recommended = &wire.RecommendedView{By: r.By, Permission: r.Permission, Note: r.Note}
		}
		for _, t := range one.Tools {
			view.Tools = append(view.Tools, wire.ToolView{
				Name: t.Name, DisplayName: t.DisplayName, Permission: s.Tools[t.Name].Permission,
				ReadOnly: t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly, Allowed: allowedViews(s.Tools[t.Name]), Category: t.Group,
			})
		}
		views = append(views, view)
	}
	return views
}

// allowedViews are the callers that a tool always runs for.
func allowedViews(tool plugin.ToolStanding) []wire.AllowedView {
	var views []wire.AllowedView
	for _, one := range tool.Allowed {
		views = append(views, wire.AllowedView{Client: one.Client, Caller: one.Caller})
	}
	return views
}

// failedViews are the plugins that could not be loaded, as the side panel shows
// them.
func failedViews(set *plugin.Set) []wire.FailedView {
	var views []wire.FailedView
	for _, f := range set.Failed() {
		views = append(views, wire.FailedView{Name: f.Name, Path: f.Path, Error: f.Err.Error()})
	}
	return views
}
