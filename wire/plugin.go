package wire

import "encoding/json"

// World is the JavaScript environment of an adapter.
type World string

const (
	// WorldMain is shared with the scripts of the page.
	WorldMain World = "main"
	// WorldIsolated shares only the DOM with the page.
	WorldIsolated World = "isolated"
)

// PluginInfo describes one plugin to a browser.
type PluginInfo struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Hash is the SHA-256 of the adapter's code, in hexadecimal.
	Hash  string `json:"hash"`
	World World  `json:"world"`
	// Matches and Excludes are Chrome match patterns.
	Matches  []string `json:"matches,omitempty"`
	Excludes []string `json:"excludes,omitempty"`
	// ScriptID identifies the complete script that runs the adapter and changes with the
	// adapter, the host, the pre-script and the settings. ScriptID contains only letters,
	// digits, hyphens and underscores.
	ScriptID string `json:"script"`
	// AllFrames is true if the script also runs in the frames of a page, because the
	// plugin has a pre-script or RunsInFrames is true.
	AllFrames bool `json:"allFrames,omitempty"`
	// RunsInFrames is true if the adapter also runs in frames that have the origin of the
	// page.
	RunsInFrames bool `json:"frames,omitempty"`
	// StartsEarly is true if the adapter must start before the scripts of the page.
	StartsEarly bool `json:"early,omitempty"`
	// PreScript is true if the plugin has a pre-script.
	PreScript bool `json:"preScript,omitempty"`
	// UnchangedPartsID identifies the plugin's world and pre-script, which a hot reload
	// can't change. A new adapter replaces a running adapter without a reload of the
	// page if both adapters have an equal UnchangedPartsID.
	UnchangedPartsID string `json:"base,omitempty"`
	// InDevelopment is true if the plugin is in development.
	InDevelopment bool `json:"dev,omitempty"`
	// File is the adapter's path in the folder of the unpacked extension, for a browser
	// without user scripts. File is empty if the server has no folder of an unpacked
	// extension.
	File string `json:"file,omitempty"`
}

// PluginSyncParams lists all plugins. The browser removes plugins that are not in
// the list.
type PluginSyncParams struct {
	// HostScriptID identifies the code of the host, which plugin.fetch returns. HostScriptID is
	// empty if the server has no host.
	HostScriptID string       `json:"host,omitempty"`
	Plugins      []PluginInfo `json:"plugins,omitempty"`
}

// InjectMode is the way in which a browser adds adapters to pages.
type InjectMode string

const (
	// InjectUserScripts registers code that the server sends as user scripts of Chrome.
	InjectUserScripts InjectMode = "userScripts"
	// InjectFiles registers files in the folder of the unpacked extension.
	InjectFiles InjectMode = "files"
	// InjectNone means that the browser permits neither user scripts nor files of the
	// unpacked extension. The side panel explains which browser setting to turn on.
	InjectNone InjectMode = "none"
)

// PluginSyncResult lists the code that the browser needs.
type PluginSyncResult struct {
	Mode InjectMode `json:"mode"`
	// MissingHotReloads names the plugins whose code the server must send by
	// plugin.code, for documents in which an older adapter runs.
	MissingHotReloads []string `json:"missing,omitempty"`
}

// PluginCodeParams has the code of one adapter.
type PluginCodeParams struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
	// ScriptID is the ScriptID of the PluginInfo to which the code belongs.
	ScriptID string `json:"script"`
	Code     string `json:"code"`
	// HotReloadCode is the adapter's code without the host's code, for documents in
	// which an older adapter runs.
	HotReloadCode *HotCode `json:"hot,omitempty"`
}

// PluginFetchParams identifies the code of a plugin or of the host.
type PluginFetchParams struct {
	// Name is the plugin's name. Name is empty for the host.
	Name string `json:"name,omitempty"`
	// ScriptID is the ScriptID of the plugin's PluginInfo, or
	// PluginSyncParams.HostScriptID for the host.
	ScriptID string `json:"script"`
}

// PluginFetchResult has the parts of a plugin's script, or the host.
type PluginFetchResult struct {
	// Code is a JavaScript expression. The Code of a plugin is a function with the
	// adapter's code. The Code of the host is a function that receives whether the host
	// starts late, and returns the function that starts an adapter.
	Code string `json:"code"`
	// Options is the JSON text of the host's options (extension/src/host/options.ts).
	// Options is empty for the host.
	Options string `json:"options,omitempty"`
	// PreScript is a JavaScript function with the pre-script's code. PreScript is empty
	// if the plugin has no pre-script.
	PreScript string `json:"preScript,omitempty"`
}

// HotCode replaces a running adapter by a new build.
type HotCode struct {
	// Adapter is a JavaScript function with the adapter's code. The parameters of the
	// function are globalThis, window and self.
	Adapter string `json:"adapter"`
	// WaitMs is how long the hot reload waits for the running calls of a document to
	// end, in milliseconds.
	WaitMs int `json:"waitMs"`
}

// PluginCodeResult is empty. PluginCodeResult confirms that the adapter is registered.
type PluginCodeResult struct{}

// PluginSettings are the settings of a plugin that its adapters in documents receive.
type PluginSettings struct {
	// Values is a JSON object that maps each setting to a string, number or boolean.
	// Settings without a value are absent.
	Values json.RawMessage `json:"values,omitempty"`
	// URLs is a JSON object that maps each setting of type url to an object of URLs by
	// instance. From each setting in URLs, a document gets the URL that has the
	// document's host.
	URLs json.RawMessage `json:"urls,omitempty"`
}

// PluginSettingsParams has the settings of one plugin.
type PluginSettingsParams struct {
	Name     string         `json:"name"`
	Settings PluginSettings `json:"settings"`
}

// PluginSettingsResult is empty. PluginSettingsResult confirms that the documents have
// the settings.
type PluginSettingsResult struct{}

// LogLevel is the severity of a log entry, with the names of MCP.
type LogLevel string

const (
	LogDebug   LogLevel = "debug"
	LogInfo    LogLevel = "info"
	LogWarning LogLevel = "warning"
	LogError   LogLevel = "error"
)

// LogEntry is one log entry of an adapter.
type LogEntry struct {
	Level   LogLevel `json:"level"`
	Message string   `json:"message"`
	// Data is a JSON array of at most MaxLogArgs arguments that follow the message.
	Data json.RawMessage `json:"data,omitempty"`
	// AtMs is the time of the entry on the page's clock, in milliseconds since 1970.
	AtMs float64 `json:"atMs"`
	// Stack is the browser's stack trace of an error that a tool threw, at most
	// MaxStackChars long.
	Stack string `json:"stack,omitempty"`
	// StackOrigin is the stack trace of an error that was created in the line before the
	// adapter's first line. The server uses StackOrigin to find the adapter's lines in
	// Stack.
	StackOrigin string `json:"stackOrigin,omitempty"`
}

// PluginLogParams has log entries of one adapter, oldest first.
type PluginLogParams struct {
	TabID   int        `json:"tabId"`
	Plugin  string     `json:"plugin"`
	Entries []LogEntry `json:"entries,omitempty"`
	// Dropped is the number of earlier log entries that were not sent, because the
	// adapter logged too many.
	Dropped int `json:"dropped,omitempty"`
}
