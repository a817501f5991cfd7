package wire

import "encoding/json"

// World is where an adapter runs.
type World string

const (
	// WorldMain shares the page's JavaScript realm.
	WorldMain World = "main"
	// WorldIsolated shares only the page's DOM.
	WorldIsolated World = "isolated"
)

// PluginInfo is one plugin as a browser needs it.
type PluginInfo struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	// Hash is the SHA-256 of the adapter's code, in hex.
	Hash  string `json:"hash"`
	World World  `json:"world"`
	// Matches and Excludes are Chrome match patterns.
	Matches  []string `json:"matches,omitempty"`
	Excludes []string `json:"excludes,omitempty"`
	// Script names the whole script that runs the adapter: it changes with the
	// adapter, the host, the pre-script and the settings. Letters, digits, - and _.
	Script string `json:"script"`
	// AllFrames says that the script runs in the frames of a page too: the plugin
	// has a pre-script, or Frames is set.
	AllFrames bool `json:"allFrames,omitempty"`
	// Frames says that the adapter may run in frames of the page's own origin, not
	// in the top document alone.
	Frames bool `json:"frames,omitempty"`
	// Early says that the adapter has to start before the page's first script.
	Early bool `json:"early,omitempty"`
	// PreScript says that the plugin has a pre-script.
	PreScript bool `json:"preScript,omitempty"`
	// Base names what a new adapter can't change in a document: the world and the
	// pre-script. Where an older adapter runs on the same base, the new one takes
	// its place without a reload.
	Base string `json:"base,omitempty"`
	// Dev says that the plugin is being developed.
	Dev bool `json:"dev,omitempty"`
	// File is the adapter's path inside the unpacked extension's folder, for a
	// browser without user scripts; empty if the server does not know the
	// folder.
	File string `json:"file,omitempty"`
}

// PluginSyncParams lists every plugin the browser should have; others are
// removed.
type PluginSyncParams struct {
	// Host names the code of the host, which plugin.fetch returns; empty if the
	// server has none.
	Host    string       `json:"host,omitempty"`
	Plugins []PluginInfo `json:"plugins,omitempty"`
}

// InjectMode is how a browser gets adapters into pages.
type InjectMode string

const (
	// InjectUserScripts registers code that came over the WebSocket.
	InjectUserScripts InjectMode = "userScripts"
	// InjectFiles registers files of the unpacked extension's folder.
	InjectFiles InjectMode = "files"
	// InjectNone can do neither; the side panel says what to switch on.
	InjectNone InjectMode = "none"
)

// PluginSyncResult says what the browser lacks.
type PluginSyncResult struct {
	Mode InjectMode `json:"mode"`
	// Missing names the plugins whose code the browser wants by plugin.code, for
	// documents in which an older adapter is live.
	Missing []string `json:"missing,omitempty"`
}

// PluginCodeParams brings one adapter's code.
type PluginCodeParams struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
	// Script is that of the PluginInfo which the code is for.
	Script string `json:"script"`
	Code   string `json:"code"`
	// Hot is the adapter alone, for documents in which an older one is live.
	Hot *HotCode `json:"hot,omitempty"`
}

// PluginFetchParams ask for the code of a plugin.
type PluginFetchParams struct {
	// Name is the plugin; empty for the host.
	Name string `json:"name,omitempty"`
	// Script is that of the PluginInfo, or the host's name in PluginSyncParams.
	Script string `json:"script"`
}

// PluginFetchResult is the parts of a plugin's script.
type PluginFetchResult struct {
	// Code is a JavaScript expression: a function with the adapter's code, or the
	// host, a function that takes whether it comes late and returns its start.
	Code string `json:"code"`
	// Options is JSON text that the host reads (extension/src/host/options.ts);
	// empty for the host.
	Options string `json:"options,omitempty"`
	// PreScript is a function with the pre-script's code; empty if there is none.
	PreScript string `json:"preScript,omitempty"`
}

// HotCode puts a new adapter into documents in which an older one is live.
type HotCode struct {
	// Adapter is the JavaScript text of a function: the adapter's code, with its
	// globalThis, window and self as parameters.
	Adapter string `json:"adapter"`
	// WaitMs is how long the calls that run in a document may take to end before
	// the adapter there is replaced, in milliseconds.
	WaitMs int `json:"waitMs"`
}

// PluginCodeResult is empty: the adapter is registered.
type PluginCodeResult struct{}

// PluginSettings are the settings of a plugin as its documents get them.
type PluginSettings struct {
	// Values are a JSON object: text, number or true/false by key. Settings that
	// are not set are absent.
	Values json.RawMessage `json:"values,omitempty"`
	// URLs are the settings of type url, a JSON object: by key an object of URLs
	// by instance. A document gets the one whose host is its own.
	URLs json.RawMessage `json:"urls,omitempty"`
}

// PluginSettingsParams brings the settings of one plugin.
type PluginSettingsParams struct {
	Name     string         `json:"name"`
	Settings PluginSettings `json:"settings"`
}

// PluginSettingsResult is empty: the documents are told.
type PluginSettingsResult struct{}

// LogLevel is how much a log entry matters, in the words of MCP.
type LogLevel string

const (
	LogDebug   LogLevel = "debug"
	LogInfo    LogLevel = "info"
	LogWarning LogLevel = "warning"
	LogError   LogLevel = "error"
)

// LogEntry is one entry that an adapter has logged.
type LogEntry struct {
	Level   LogLevel `json:"level"`
	Message string   `json:"message"`
	// Data is a JSON array: the arguments beside the message, at most MaxLogData.
	Data json.RawMessage `json:"data,omitempty"`
	// AtMs is when it was logged, in milliseconds since 1970, by the page's clock.
	AtMs float64 `json:"atMs"`
}

// PluginLogParams brings entries in the order they were logged.
type PluginLogParams struct {
	TabID   int        `json:"tabId"`
	Plugin  string     `json:"plugin"`
	Entries []LogEntry `json:"entries,omitempty"`
	// Dropped counts entries that were logged before these and not sent, because
	// they were too many.
	Dropped int `json:"dropped,omitempty"`
}
