package permissions

import (
	"slices"

	"opentabs/browser"
	"opentabs/internal/httpapi"
	"opentabs/plugin"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// Status returns what GET /status reports about a plugin, except the plugin's tabs.
func (l LocalPolicy) Status(p *plugin.Plugin) httpapi.Plugin {
	state := l.Policy.State(p.Name)
	status := httpapi.Plugin{
		Name: p.Name, DisplayName: p.DisplayName, Version: p.Version, Source: string(p.Source), Package: p.Package, Dir: p.Dir, Hash: p.Hash,
		Matches: append([]string{}, p.Matches...), Tools: []string{},
		Reviewed: state.Reviewed, Permission: state.EffectivePermission, HasChanged: state.Review != nil && !state.Reviewed,
	}
	for _, t := range p.Tools {
		status.Tools = append(status.Tools, t.FullName())
	}
	for _, s := range l.registry.Values().MissingSettings(p) {
		status.MissingSettings = append(status.MissingSettings, s.Key)
	}
	if state.Reviewed {
		status.Calls = state.CallablePlugins()
	}
	status.StartsAfterPageScripts, status.HasLateStartAccess = p.StartsAfterPageScripts(), state.HasLateStartAccess()
	status.Recommendation = l.findRecommendation(p)
	status.Fault = l.startFault(p)
	return status
}

// NewFailedPlugin returns what GET /status reports about a plugin that failed to load.
func NewFailedPlugin(f plugin.Failure) httpapi.FailedPlugin {
	return httpapi.FailedPlugin{Name: f.Name, Path: f.Path, Error: f.Err.Error()}
}

func (l LocalPolicy) startFault(p *plugin.Plugin) *httpapi.Fault {
	f, isFaulty := l.registry.Faults().FindFault(p)
	if !isFaulty {
		return nil
	}
	return &httpapi.Fault{Text: f.Text(), Problem: f.Problem, Site: f.Site, Browser: f.Browser, At: f.At}
}

func (l LocalPolicy) findRecommendation(loadedPlugin *plugin.Plugin) *httpapi.Recommendation {
	r := l.Policy.Recommended(loadedPlugin)
	if r == nil {
		return nil
	}
	return &httpapi.Recommendation{Permission: r.Permission, Note: r.Note, ChangeOrigin: httpapi.ChangeOrigin(r.ChangeOrigin)}
}

func (l LocalPolicy) permissionsOf(loadedPlugin *plugin.Plugin) httpapi.PluginPermissions {
	s := l.Policy.State(loadedPlugin.Name)
	view := httpapi.PluginPermissions{
		Plugin: loadedPlugin.Name, Hash: loadedPlugin.ContentHash(), Reviewed: s.Reviewed, Permission: s.EffectivePermission, StoredPermission: s.Permission,
		ChangeOrigin: httpapi.ChangeOrigin(s.PermissionOrigin), Problems: l.Policy.Problems(), Tools: []httpapi.ToolPermissions{},
		OpensURL: loadedPlugin.OpenURL, MayOpenTab: l.Policy.MayOpenPage(loadedPlugin.Name),
		World: loadedPlugin.World, StartsAfterPageScripts: loadedPlugin.StartsAfterPageScripts(), HasLateStartAccess: s.HasLateStartAccess(),
	}
	for _, target := range s.CallablePlugins() {
		call := httpapi.AllowedCall{Plugin: target, ChangeOrigin: httpapi.ChangeOrigin(s.Calls[target])}
		if s.Reviewed {
			view.Calls = append(view.Calls, call)
		} else {
			view.StoredCalls = append(view.StoredCalls, call)
		}
	}
	if r := s.Review; r != nil {
		view.Review = &httpapi.Review{Hash: r.Hash, Version: r.Version, Dir: r.Dir, ChangeOrigin: httpapi.ChangeOrigin(r.ChangeOrigin)}
	}
	grants := l.Policy.Grants(loadedPlugin.Name)
	for _, t := range loadedPlugin.Tools {
		toolPermission := s.Tools[t.Name]
		tool := httpapi.ToolPermissions{
			Name: t.Name, Permission: s.Tool(t.Name), PermissionOverride: toolPermission.Permission, ChangeOrigin: httpapi.ChangeOrigin(toolPermission.ChangeOrigin), Limit: toolPermission.Limit.String(),
		}
		for _, g := range grants[t.Name] {
			tool.Grants = append(tool.Grants, httpapi.Grant{Scope: g.Scope, Client: g.Client, Caller: g.Caller, ChangeOrigin: httpapi.ChangeOrigin(g.ChangeOrigin), ExpiresAt: g.ExpiresAt})
		}
		view.Tools = append(view.Tools, tool)
	}
	return view
}

func (l LocalPolicy) settingViews(loadedPlugin *plugin.Plugin) []wire.SettingView {
	views := l.registry.Values().Views(loadedPlugin)
	if l.Policy.IsRestricted(loadedPlugin) {
		for i := range views {
			views[i].IsWithheld = views[i].Secret
		}
	}
	return views
}

func (l LocalPolicy) pluginViews() []wire.PluginView {
	views := []wire.PluginView{}
	for _, loadedPlugin := range l.registry.Set().Plugins() {
		s := l.Policy.State(loadedPlugin.Name)
		pluginView := wire.PluginView{
			Name: loadedPlugin.Name, DisplayName: loadedPlugin.DisplayName, Version: loadedPlugin.Version, Hash: loadedPlugin.ContentHash(),
			Reviewed: s.Reviewed, HasChanged: s.Review != nil && !s.Reviewed, Source: wire.PluginSource(loadedPlugin.Source), Permission: s.EffectivePermission, Matches: slices.Clone(loadedPlugin.Matches),
			Icon: loadedPlugin.Icon, Homepage: loadedPlugin.Homepage, Settings: l.settingViews(loadedPlugin),
			MayOpenTab: l.Policy.MayOpenPage(loadedPlugin.Name), OpensURL: loadedPlugin.OpenURL,
			World: loadedPlugin.World, StartsAfterPageScripts: loadedPlugin.StartsAfterPageScripts(), HasLateStartAccess: s.HasLateStartAccess(), RefusedPlugins: l.Policy.RefusedPlugins(loadedPlugin.Name),
		}
		if s.Reviewed {
			pluginView.Calls = s.CallablePlugins()
		}
		if fault, isFaulty := l.registry.Faults().FindFault(loadedPlugin); isFaulty {
			pluginView.Problem = fault.Text()
		}
		if r := l.Policy.Recommended(loadedPlugin); r != nil {
			pluginView.Recommended = &wire.RecommendationView{By: r.By, Permission: r.Permission, Note: r.Note}
		}
		for _, t := range loadedPlugin.Tools {
			pluginView.Tools = append(pluginView.Tools, wire.ToolView{
				Name: t.Name, DisplayName: t.DisplayName, Permission: s.Tools[t.Name].Permission,
				ReadOnly: t.IsReadOnly(), Allowed: allowedViews(s.Tools[t.Name]), Category: t.Group, Undo: undoToolOf(t),
			})
		}
		views = append(views, pluginView)
	}
	return views
}

func undoToolOf(t *plugin.Tool) string {
	if t.Undo == nil {
		return ""
	}
	return t.Undo.Tool
}

// BrowserTools returns the user's permissions for browser tools as shown in the side
// panel.
func (l LocalPolicy) BrowserTools() wire.StateBrowserParams {
	s := l.Policy.State(browser.Name)
	view := wire.StateBrowserParams{Permission: s.EffectivePermission}
	for _, group := range browser.Groups() {
		groupView := wire.BrowserGroupView{Name: group.Name}
		for _, name := range group.Tools {
			tool := wire.BrowserToolView{Name: name, DisplayName: name, Permission: s.Tool(name), Dangerous: browser.IsDangerous(name)}
			if foundTool, ok := l.registry.Set().Tool(name); ok {
				tool.DisplayName = foundTool.DisplayName
			}
			groupView.Tools = append(groupView.Tools, tool)
		}
		view.Groups = append(view.Groups, groupView)
	}
	sites, _ := l.Sites() // the error is always nil, because the rules are in memory
	for _, site := range sites {
		siteView := wire.SiteView{Site: site.Site, Permission: site.Permission}
		for _, client := range site.AlwaysAllowed {
			siteView.Allowed = append(siteView.Allowed, wire.SiteClientView{Client: client.Client, Class: client.Class})
		}
		view.Sites = append(view.Sites, siteView)
	}
	return view
}

// SwitchBrowserTools turns browser tools on or off. Each element of names is the name of
// a browser tool or of a group of browser tools. If names is empty, SwitchBrowserTools
// changes all browser tools.
func (l LocalPolicy) SwitchBrowserTools(names []string, on bool, surface string) error {
	isOff := l.Policy.State(browser.Name).EffectivePermission == wire.PermissionOff
	_, _, err := browser.SwitchTools(l.Policy, names, on, isOff, surface)
	return err
}

func allowedViews(tool policy.ToolEntry) []wire.AllowedCallerView {
	var views []wire.AllowedCallerView
	for _, loadedPlugin := range tool.Allowed {
		views = append(views, wire.AllowedCallerView{Client: loadedPlugin.Client, Caller: loadedPlugin.Caller})
	}
	return views
}

func failedViews(pluginSet *plugin.Set) []wire.FailedPluginView {
	var views []wire.FailedPluginView
	for _, f := range pluginSet.Failed() {
		views = append(views, wire.FailedPluginView{Name: f.Name, Path: f.Path, Error: f.Err.Error()})
	}
	return views
}
