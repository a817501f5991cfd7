package wire

import "encoding/json"

// ConfigSettingsParams changes settings of a plugin.
type ConfigSettingsParams struct {
	Plugin string `json:"plugin"`
	// Values is a JSON object of the settings to change. Each value in Values has the format
	// of SettingView.Value; null removes the value of the setting.
	Values json.RawMessage `json:"values"`
}

// ConfigSettingsResult is an empty object that confirms that the settings are saved.
type ConfigSettingsResult struct{}

// ConfigOpeningParams sets whether calls of a plugin are allowed to open tabs.
type ConfigOpeningParams struct {
	Plugin  string `json:"plugin"`
	Allowed bool   `json:"allowed"`
}

// ConfigOpeningResult is an empty object that confirms that the server saved the setting.
type ConfigOpeningResult struct{}

// ConfigCallsParams sets whether tools of the plugin Plugin are allowed to call tools of the
// plugin CalledPlugin.
type ConfigCallsParams struct {
	Plugin       string `json:"plugin"`
	CalledPlugin string `json:"other"`
	Allowed      bool   `json:"allowed"`
}

// ConfigCallsResult is an empty object that confirms that the server saved the setting.
type ConfigCallsResult struct{}

// ConfigLateAccessParams grants or revokes late access. With late access, a plugin that
// starts after the page's scripts can get secret settings and call other plugins.
type ConfigLateAccessParams struct {
	Plugin  string `json:"plugin"`
	Allowed bool   `json:"allowed"`
}

// ConfigLateAccessResult is an empty object that confirms that the server saved the
// setting.
type ConfigLateAccessResult struct{}

// ConfigSiteParams sets the user's rule for browser tools on a site.
type ConfigSiteParams struct {
	// Site is the site that the user typed: a host with an optional port, a URL, or a
	// pattern with "*".
	Site string `json:"site"`
	// Permission is the new rule for the site: off, read, ask or auto. If Permission is
	// absent, the server removes the site's rule and its "always" approvals.
	Permission string `json:"permission,omitempty"`
}

// ConfigSiteResult is an empty object that confirms that the server stored the rule.
type ConfigSiteResult struct{}

// ConfigBrowserToolsParams turns browser tools on or off.
type ConfigBrowserToolsParams struct {
	// Names lists the tool groups and tools to turn on or off. Turning on a group does not turn on its
	// dangerous tools. If Names is absent, all browser tools are turned on or off together,
	// and each group and tool keeps its separate permission.
	Names []string `json:"names,omitempty"`
	On    bool     `json:"on"`
}

// ConfigBrowserToolsResult is an empty object that confirms that the server saved the setting.
type ConfigBrowserToolsResult struct{}

// ConfigPermissionParams sets the permission of a plugin or of one of its tools.
type ConfigPermissionParams struct {
	Plugin string `json:"plugin"`
	// Tool is the name of a tool, or empty to set the permission of the whole plugin.
	Tool string `json:"tool,omitempty"`
	// Permission is the new permission, or empty to remove the separate permission of a tool.
	Permission Permission `json:"permission,omitempty"`
}

// ConfigPermissionResult is an empty object that confirms that the permission is saved.
type ConfigPermissionResult struct{}
