// Package changes answers the requests with which users inspect plugins and change
// plugins, permissions and settings in side panels.
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

// Policy provides what side panels show and change: plugins, permissions and settings. The
// methods of Policy are safe for concurrent use. The argument surface of each Policy
// method names the place of the user's decision, such as the side panel. The errors of
// Policy are sentences for the user.
type Policy interface {
	// Plugins returns all plugins with their permissions and settings, and the plugins
	// that failed to load.
	Plugins() ([]wire.PluginView, []wire.FailedPluginView)
	// SetPermission sets the permission of a plugin, or of one of its tools if tool is
	// not empty. An empty permission removes the tool's permission.
	SetPermission(plugin, tool string, permission wire.Permission, surface string) error
	// ReviewAll reviews and enables plugins. errs has the error of each review at the
	// same index, or nil.
	ReviewAll(reviews []wire.ConfigReviewParams, surface string) (errs []error)
	// InspectPlugin returns what a user reads about a plugin before enabling it.
	InspectPlugin(plugin string) (wire.PluginInspectResult, error)
	// PluginPage returns one page of the code or the changes of a plugin.
	PluginPage(in wire.PluginPageParams) (wire.PluginPageResult, error)
	// InstallPlugin installs a package, UpdatePlugin updates a plugin, and RemovePlugin
	// removes a plugin with its review, permissions and settings.
	InstallPlugin(packageText string) (wire.PluginInstallResult, error)
	UpdatePlugin(plugin string) (wire.PluginUpdateResult, error)
	RemovePlugin(plugin, surface string) error
	// ChangeSettings changes settings of a plugin by key; null removes a setting.
	ChangeSettings(plugin string, values map[string]json.RawMessage, surface string) error
	// SetOpening allows or forbids that calls open the plugin's page in a new tab.
	SetOpening(plugin string, allowed bool, surface string) error
	// SetCalls allows or forbids the tools of the plugin to call the tools of another
	// plugin.
	SetCalls(plugin, other string, allowed bool, surface string) error
	// SetLateAccess allows or forbids a plugin that starts late to get its
	// secret settings and to call other plugins.
	SetLateAccess(plugin string, allowed bool, surface string) error
	// BrowserTools returns the permissions of browser tools.
	BrowserTools() wire.StateBrowserParams
	// SwitchBrowserTools switches groups of browser tools and single tools on or off;
	// without names, all browser tools.
	SwitchBrowserTools(names []string, on bool, surface string) error
	// SetSite sets the rule of a site for browser tools. An empty rule removes the rule
	// and the approvals "always" of the site.
	SetSite(site, rule, surface string) error
}

// Change is a decoded request of a side panel. Change returns the body of the answer, or
// an error that is a sentence for the user.
type Change func(policy Policy, surface string) (body []byte, err error)

// Decoder decodes the params of a request.
type Decoder func(params []byte) (Change, error)

// DecoderOf returns the decoder of a method; nil for a method of another package.
func DecoderOf(method wire.Method) Decoder { return decoders[method] }

var decoders = map[wire.Method]Decoder{
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
		return r, policy.SetOpening(in.Plugin, in.Allowed, surface)
	}),
	wire.MethodConfigCalls: newDecoder(func(policy Policy, in wire.ConfigCallsParams, surface string) (r wire.ConfigCallsResult, err error) {
		return r, policy.SetCalls(in.Plugin, in.CalledPlugin, in.Allowed, surface)
	}),
	wire.MethodConfigLateAccess: newDecoder(func(policy Policy, in wire.ConfigLateAccessParams, surface string) (r wire.ConfigLateAccessResult, err error) {
		return r, policy.SetLateAccess(in.Plugin, in.Allowed, surface)
	}),
	wire.MethodConfigBrowserTools: newDecoder(func(policy Policy, in wire.ConfigBrowserToolsParams, surface string) (r wire.ConfigBrowserToolsResult, err error) {
		return r, policy.SwitchBrowserTools(in.Names, in.On, surface)
	}),
	wire.MethodConfigSite: newDecoder(func(policy Policy, in wire.ConfigSiteParams, surface string) (r wire.ConfigSiteResult, err error) {
		return r, policy.SetSite(in.Site, in.Permission, surface)
	}),
}

// newDecoder returns the decoder of a method with params P and result R.
func newDecoder[P, R any](apply func(policy Policy, in P, surface string) (R, error)) Decoder {
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
	var values map[string]json.RawMessage
	if err := json.Unmarshal(in.Values, &values); err != nil || values == nil {
		return r, errors.New("config.settings needs values, an object of settings by key")
	}
	return r, policy.ChangeSettings(in.Plugin, values, surface)
}
