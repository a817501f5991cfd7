// Package changes handles requests from side panels that inspect plugins or change
// plugins, permissions and settings.
//
// # Concurrency
//
// All functions of package changes are safe for concurrent use.
package changes

import (
	"encoding/json"
	"errors"

	"opentabs/wire"
)

// Policy provides the plugins, permissions and settings that side panels show and change. Each
// implementation of Policy must be safe for concurrent use. The argument surface is where the
// user decided, such as the side panel. Each error that a method of Policy returns has a text
// for the user.
type Policy interface {
	// Plugins returns all plugins with their permissions and settings, and the plugins
	// that failed to load.
	Plugins() ([]wire.PluginView, []wire.FailedPluginView)
	// SetPermission sets the permission of a plugin, or of one tool if the argument tool
	// is not empty. An empty permission removes the tool's permission.
	SetPermission(plugin, tool string, permission wire.Permission, surface string) error
	// ReviewAll records the user's reviews of plugins and enables the plugins. The result errs has one element per
	// review, nil for a review that succeeded.
	ReviewAll(reviews []wire.ConfigReviewParams, surface string) (errs []error)
	// InspectPlugin returns the description of a plugin that the user reads before
	// enabling the plugin.
	InspectPlugin(plugin string) (wire.PluginInspectResult, error)
	// PluginPage returns one page of a plugin's code, or of the changes since the last
	// review.
	PluginPage(in wire.PluginPageParams) (wire.PluginPageResult, error)
	// InstallPlugin installs a plugin from a package. UpdatePlugin updates a plugin.
	// RemovePlugin removes a plugin with its review, permissions and settings.
	InstallPlugin(packageText string) (wire.PluginInstallResult, error)
	UpdatePlugin(plugin string) (wire.PluginUpdateResult, error)
	RemovePlugin(plugin, surface string) error
	// ChangeSettings changes the settings of a plugin. The map settingValues is keyed by
	// setting; the JSON value null removes a setting.
	ChangeSettings(plugin string, settingValues map[string]json.RawMessage, surface string) error
	// SetMayOpenTab sets whether calls may open the plugin's page in a new tab.
	SetMayOpenTab(plugin string, allowed bool, surface string) error
	// SetCalls sets whether the tools of a plugin may call the tools of another plugin.
	SetCalls(plugin, otherPlugin string, allowed bool, surface string) error
	// SetLateStartAccess sets whether a late adapter may receive secret settings and call
	// other plugins.
	SetLateStartAccess(plugin string, allowed bool, surface string) error
	// BrowserTools returns the permissions of the browser tools.
	BrowserTools() wire.StateBrowserParams
	// SwitchBrowserTools turns the named browser tools and groups of browser tools on or off.
	// If names is empty, SwitchBrowserTools turns all browser tools on or off.
	SwitchBrowserTools(names []string, on bool, surface string) error
	// SetSiteRule sets the rule of a site for browser tools. An empty rule removes the site's
	// rule and its "always" approvals.
	SetSiteRule(site, rule, surface string) error
}

// Change applies a side panel's decoded request. A Change returns the body of the reply to the
// side panel, or an error whose text is for the user.
type Change func(policy Policy, surface string) (body []byte, err error)

// ChangeDecoder decodes the parameters of a side panel's request into a [Change].
type ChangeDecoder func(params []byte) (Change, error)

// FindDecoder returns the decoder for a JSON-RPC method, or nil if package changes does not
// handle the method.
func FindDecoder(method wire.Method) ChangeDecoder { return decoders[method] }

var decoders = map[wire.Method]ChangeDecoder{
	wire.MethodConfigPermission: newDecoder(func(policy Policy, in wire.ConfigPermissionParams, surface string) (r wire.ConfigPermissionResult, err error) {
		return r, policy.SetPermission(in.Plugin, in.Tool, in.Permission, surface)
	}),
	wire.MethodConfigReview: newDecoder(func(policy Policy, in wire.ConfigReviewParams, surface string) (r wire.ConfigReviewResult, err error) {
		return r, errors.Join(policy.ReviewAll([]wire.ConfigReviewParams{in}, surface)...)
	}),
	wire.MethodPluginInspect: newDecoder(func(policy Policy, in wire.PluginInspectParams, _ string) (wire.PluginInspectResult, error) {
		return policy.InspectPlugin(in.Plugin)
	}),
	wire.MethodPluginPage: newDecoder(func(policy Policy, in wire.PluginPageParams, _ string) (wire.PluginPageResult, error) {
		return policy.PluginPage(in)
	}),
	wire.MethodPluginInstall: newDecoder(func(policy Policy, in wire.PluginInstallParams, _ string) (wire.PluginInstallResult, error) {
		return policy.InstallPlugin(in.Package)
	}),
	wire.MethodPluginUpdate: newDecoder(func(policy Policy, in wire.PluginUpdateParams, _ string) (wire.PluginUpdateResult, error) {
		return policy.UpdatePlugin(in.Plugin)
	}),
	wire.MethodPluginRemove: newDecoder(func(policy Policy, in wire.PluginRemoveParams, surface string) (r wire.PluginRemoveResult, err error) {
		return r, policy.RemovePlugin(in.Plugin, surface)
	}),
	wire.MethodConfigSettings: newDecoder(changeSettings),
	wire.MethodConfigOpening: newDecoder(func(policy Policy, in wire.ConfigOpeningParams, surface string) (r wire.ConfigOpeningResult, err error) {
		return r, policy.SetMayOpenTab(in.Plugin, in.Allowed, surface)
	}),
	wire.MethodConfigCalls: newDecoder(func(policy Policy, in wire.ConfigCallsParams, surface string) (r wire.ConfigCallsResult, err error) {
		return r, policy.SetCalls(in.Plugin, in.CalledPlugin, in.Allowed, surface)
	}),
	wire.MethodConfigLateAccess: newDecoder(func(policy Policy, in wire.ConfigLateAccessParams, surface string) (r wire.ConfigLateAccessResult, err error) {
		return r, policy.SetLateStartAccess(in.Plugin, in.Allowed, surface)
	}),
	wire.MethodConfigBrowserTools: newDecoder(func(policy Policy, in wire.ConfigBrowserToolsParams, surface string) (r wire.ConfigBrowserToolsResult, err error) {
		return r, policy.SwitchBrowserTools(in.Names, in.On, surface)
	}),
	wire.MethodConfigSite: newDecoder(func(policy Policy, in wire.ConfigSiteParams, surface string) (r wire.ConfigSiteResult, err error) {
		return r, policy.SetSiteRule(in.Site, in.Permission, surface)
	}),
}

func newDecoder[P, R any](apply func(policy Policy, in P, surface string) (R, error)) ChangeDecoder {
	return func(params []byte) (Change, error) {
		var in P
		if err := wire.DecodeBody(params, &in); err != nil {
			return nil, err
		}
		return func(policy Policy, surface string) ([]byte, error) {
			result, err := apply(policy, in, surface)
			if err != nil {
				return nil, err
			}
			return wire.EncodeBody(result), nil
		}, nil
	}
}

func changeSettings(policy Policy, in wire.ConfigSettingsParams, surface string) (r wire.ConfigSettingsResult, err error) {
	var settingValues map[string]json.RawMessage
	if err := json.Unmarshal(in.Values, &settingValues); err != nil || settingValues == nil {
		return r, errors.New("config.settings needs values, an object of settings by key")
	}
	return r, policy.ChangeSettings(in.Plugin, settingValues, surface)
}
