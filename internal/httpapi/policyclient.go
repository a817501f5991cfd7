package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"opentabs/wire"
)

// policyClient implements [Policy] with requests to a running server. The methods of
// policyClient do not send the surface of a change, because the server determines the
// surface itself.
type policyClient struct {
	ctx    context.Context
	client *Client
}

// Policy returns a [Policy] that reads and changes permissions with requests to the
// server. When ctx ends, the Policy cancels its requests that are still open.
func (c *Client) Policy(ctx context.Context) Policy { return policyClient{ctx, c} }

func (p policyClient) Permissions(plugin string) (view PluginPermissions, err error) {
	err = p.client.sendWithTimeout(p.ctx, requestTimeout, http.MethodGet, pluginPath(plugin, "permission"), &view)
	return view, err
}

func (p policyClient) Review(plugin, hash string, permission wire.Permission, _ string) error {
	return p.sendChange(plugin, "review", policyChangeBody{Hash: hash, Permission: permission})
}

func (p policyClient) SetPermission(plugin, tool string, permission wire.Permission, _ string) error {
	return p.sendChange(plugin, "permission", policyChangeBody{Tool: tool, Permission: permission})
}

func (p policyClient) SetLimit(plugin, tool, limit, _ string) error {
	return p.sendChange(plugin, "limit", policyChangeBody{Tool: tool, Limit: limit})
}

func (p policyClient) SetMayOpenTab(plugin string, allowed bool, _ string) error {
	return p.sendChange(plugin, "opening", policyChangeBody{Allowed: allowed})
}

func (p policyClient) SetCalls(plugin, target string, allowed bool, _ string) error {
	return p.sendChange(plugin, "calls", policyChangeBody{Target: target, Allowed: allowed})
}

func (p policyClient) SetLateStartAccess(plugin string, allowed bool, _ string) error {
	return p.sendChange(plugin, "late", policyChangeBody{Allowed: allowed})
}

func (p policyClient) Settings(plugin string) ([]wire.SettingView, error) {
	var settings pluginSettings
	err := p.client.sendWithTimeout(p.ctx, requestTimeout, http.MethodGet, pluginPath(plugin, "settings"), &settings)
	return settings.Settings, err
}

func (p policyClient) ChangeSettings(plugin string, settingValues map[string]json.RawMessage, _ string) error {
	return p.sendChange(plugin, "settings", policyChangeBody{Values: settingValues})
}

func (p policyClient) Sites() ([]Site, error) {
	var siteRules siteList
	err := p.client.sendWithTimeout(p.ctx, requestTimeout, http.MethodGet, "/sites", &siteRules)
	return siteRules.Sites, err
}

func (p policyClient) SetSiteRule(site, rule, _ string) error {
	return p.client.post(p.ctx, "/sites", siteBody{Site: site, Permission: rule}, nil)
}

func (p policyClient) Forget(plugin, _ string) error {
	return p.sendChange(plugin, "forget", policyChangeBody{})
}

func (p policyClient) sendChange(plugin, route string, c policyChangeBody) error {
	return p.client.post(p.ctx, pluginPath(plugin, route), c, nil)
}

func pluginPath(plugin, route string) string {
	return "/plugins/" + url.PathEscape(plugin) + "/" + route
}
