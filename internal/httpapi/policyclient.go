package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"opentabs/wire"
)

// remotePolicy is the [Policy] of a running server. The methods of remotePolicy ignore
// the parameter by, because the server itself records the surface of a change.
type remotePolicy struct {
	ctx    context.Context // context of the command that uses remotePolicy
	client *Client
}

// Policy returns a [Policy] that sends each operation to the server. The requests are
// cancelled when ctx ends.
func (c *Client) Policy(ctx context.Context) Policy { return remotePolicy{ctx, c} }

func (p remotePolicy) Permissions(plugin string) (view PluginPermissions, err error) {
	err = p.client.exchange(p.ctx, requestTimeout, http.MethodGet, pluginPath(plugin, "permission"), &view)
	return view, err
}

func (p remotePolicy) Review(plugin, hash string, permission wire.Permission, _ string) error {
	return p.sendChange(plugin, "review", changeBody{Hash: hash, Permission: permission})
}

func (p remotePolicy) SetPermission(plugin, tool string, permission wire.Permission, _ string) error {
	return p.sendChange(plugin, "permission", changeBody{Tool: tool, Permission: permission})
}

func (p remotePolicy) SetLimit(plugin, tool, limit, _ string) error {
	return p.sendChange(plugin, "limit", changeBody{Tool: tool, Limit: limit})
}

func (p remotePolicy) SetOpening(plugin string, allowed bool, _ string) error {
	return p.sendChange(plugin, "opening", changeBody{Allowed: allowed})
}

func (p remotePolicy) SetCalls(plugin, target string, allowed bool, _ string) error {
	return p.sendChange(plugin, "calls", changeBody{Target: target, Allowed: allowed})
}

func (p remotePolicy) SetLateAccess(plugin string, allowed bool, _ string) error {
	return p.sendChange(plugin, "late", changeBody{Allowed: allowed})
}

func (p remotePolicy) Settings(plugin string) ([]wire.SettingView, error) {
	var settings pluginSettings
	err := p.client.exchange(p.ctx, requestTimeout, http.MethodGet, pluginPath(plugin, "settings"), &settings)
	return settings.Settings, err
}

func (p remotePolicy) ChangeSettings(plugin string, values map[string]json.RawMessage, _ string) error {
	return p.sendChange(plugin, "settings", changeBody{Values: values})
}

func (p remotePolicy) Sites() ([]Site, error) {
	var list siteList
	err := p.client.exchange(p.ctx, requestTimeout, http.MethodGet, "/sites", &list)
	return list.Sites, err
}

func (p remotePolicy) SetSite(site, rule, _ string) error {
	return p.client.post(p.ctx, "/sites", siteBody{Site: site, Permission: rule}, nil)
}

func (p remotePolicy) Forget(plugin, _ string) error {
	return p.sendChange(plugin, "forget", changeBody{})
}

// sendChange sends a POST request to a route below /plugins/{plugin}.
func (p remotePolicy) sendChange(plugin, route string, c changeBody) error {
	return p.client.post(p.ctx, pluginPath(plugin, route), c, nil)
}

func pluginPath(plugin, route string) string {
	return "/plugins/" + url.PathEscape(plugin) + "/" + route
}
