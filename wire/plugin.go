package wire

import "encoding/json"

// World is the JavaScript environment in which an adapter runs.
type World string

const (
	// WorldMain is the environment of the page's own scripts, which share their globals with
	// the adapter.
	WorldMain World = "main"
	// WorldIsolated is an environment that shares only the DOM with the page.
	WorldIsolated World = "isolated"
)

// PluginInfo describes one plugin to a browser.
type PluginInfo struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// The field Hash is the hexadecimal SHA-256 sum of the adapter's code.
	Hash  string `json:"hash"`
	World World  `json:"world"`
	// Matches contains Chrome match patterns of the pages in which the plugin runs. Excludes contains
	// patterns of the pages in which the plugin does not run.
	Matches  []string `json:"matches,omitempty"`
	Excludes []string `json:"excludes,omitempty"`
	// ScriptID identifies the complete script that runs the adapter. ScriptID changes if
	// the adapter, the host code, the pre-script or the settings change. ScriptID
	// contains only letters, digits, hyphens and underscores.
	ScriptID string `json:"script"`
	// AllFrames is true if the script also runs in child frames of a page. Chrome runs a
	// script in child frames if the plugin has a pre-script or RunsInFrames is true.
	AllFrames bool `json:"allFrames,omitempty"`
	// RunsInFrames is true if the adapter also runs in child frames that have the origin of
	// the page.
	RunsInFrames bool `json:"frames,omitempty"`
	// StartsEarly is true if the adapter must start before the scripts of the page.
	StartsEarly bool `json:"early,omitempty"`
	// PreScript is true if the plugin has a pre-script.
	PreScript bool `json:"preScript,omitempty"`
	// FixedScriptPartsID identifies the plugin's world and pre-script, which a hot reload can't change. A new adapter can
	// replace a running adapter without a page reload only if both adapters have the same FixedScriptPartsID.
	FixedScriptPartsID string `json:"base,omitempty"`
	// InDevelopment is true if the plugin's author runs "opentabs plugin dev" for the plugin.
	InDevelopment bool `json:"dev,omitempty"`
	// File is the adapter's path in the folder of the unpacked extension, for a browser in
	// which user scripts are off. The field File is empty if the server finds no folder of
	// an unpacked extension.
	File string `json:"file,omitempty"`
}

// PluginSyncParams lists all plugins. The browser unregisters each plugin that Plugins
// does not list.
type PluginSyncParams struct {
	// HostScriptID identifies the code of the host, which the browser requests with
	// plugin.fetch. HostScriptID is empty if the server has no host code.
	HostScriptID string       `json:"host,omitempty"`
	Plugins      []PluginInfo `json:"plugins,omitempty"`
}

// InjectMode is how a browser adds adapters to pages: as user scripts, as files, or not at
// all.
type InjectMode string

const (
	// InjectUserScripts registers the code from the server with Chrome's userScripts API.
	InjectUserScripts InjectMode = "userScripts"
	// InjectFiles registers script files from the folder of the unpacked extension.
	InjectFiles InjectMode = "files"
	// InjectNone means that plugins are installed, but the browser permits neither user
	// scripts nor files of the unpacked extension. The side panel explains which browser
	// setting the user must turn on.
	InjectNone InjectMode = "none"
)

// PluginSyncResult reports how the browser adds adapters to pages.
type PluginSyncResult struct {
	Mode InjectMode `json:"mode"`
}

// PluginFetchParams requests the code of one plugin or of the host.
type PluginFetchParams struct {
	// Name is the plugin's name, or empty for the host.
	Name string `json:"name,omitempty"`
	// ScriptID is the plugin's PluginInfo.ScriptID, or PluginSyncParams.HostScriptID for the
	// host.
	ScriptID string `json:"script"`
}

// PluginFetchResult contains the parts of a plugin's script, or the code of the host.
type PluginFetchResult struct {
	// Code is a JavaScript function expression. For a plugin, Code contains the adapter's
	// code. For the host, Code is a function with one boolean parameter: whether the host
	// starts late. The host's function returns another function, which starts an adapter.
	Code string `json:"code"`
	// Options is the JSON text of the options with which the host starts the adapter
	// (extension/src/host/options.ts). When the host itself is requested, Options is empty.
	Options string `json:"options,omitempty"`
	// PreScript is a JavaScript function with the pre-script's code, or empty if the plugin
	// has no pre-script.
	PreScript string `json:"preScript,omitempty"`
}

// PluginSettings are a plugin's settings as the server sends them to its running adapters.
type PluginSettings struct {
	// Values is a JSON object that maps each setting to a string, number or boolean. Values
	// omits settings that have no value.
	Values json.RawMessage `json:"values,omitempty"`
	// URLs is a JSON object that maps each setting of type url to an object of URLs by
	// instance. A document receives, for each setting of type url, only the URL with the
	// document's host.
	URLs json.RawMessage `json:"urls,omitempty"`
}

// PluginSettingsParams sends the settings of one plugin to the browser.
type PluginSettingsParams struct {
	Name     string         `json:"name"`
	Settings PluginSettings `json:"settings"`
}

// PluginSettingsResult is an empty object that confirms that the documents received the
// settings.
type PluginSettingsResult struct{}

// LogLevel is the severity of a log entry, named as in MCP.
type LogLevel string

const (
	LogDebug   LogLevel = "debug"
	LogInfo    LogLevel = "info"
	LogWarning LogLevel = "warning"
	LogError   LogLevel = "error"
)

// LogEntry is one message that an adapter logged.
type LogEntry struct {
	Level   LogLevel `json:"level"`
	Message string   `json:"message"`
	// Data is a JSON array of the arguments after the message in the log call, at most MaxLogArgs.
	Data json.RawMessage `json:"data,omitempty"`
	// AtMs is the time of the log entry by the page's clock, in milliseconds since 1970.
	AtMs float64 `json:"atMs"`
	// Stack is the browser's stack trace of an error that a tool threw, truncated to
	// MaxStackChars.
	Stack string `json:"stack,omitempty"`
	// StackOrigin is the stack trace of an error that was created one line above the adapter's
	// code in the script. The server uses StackOrigin to find the adapter's lines in Stack.
	StackOrigin string `json:"stackOrigin,omitempty"`
}

// PluginLogParams contains log entries of one adapter, oldest first.
type PluginLogParams struct {
	TabID   int        `json:"tabId"`
	Plugin  string     `json:"plugin"`
	Entries []LogEntry `json:"entries,omitempty"`
	// The field Dropped is the number of earlier log entries that the browser discarded
	// because the adapter logged too many.
	Dropped int `json:"dropped,omitempty"`
}
