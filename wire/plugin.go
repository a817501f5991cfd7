package wire

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
	// File is the adapter's path inside the unpacked extension's folder, for a
	// browser without user scripts; empty if the server does not know the
	// folder.
	File string `json:"file,omitempty"`
}

// PluginSyncParams lists every plugin the browser should have; others are
// removed.
type PluginSyncParams struct {
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
	// Missing names the plugins whose code the browser wants by plugin.code.
	Missing []string `json:"missing,omitempty"`
}

// PluginCodeParams brings one adapter's code.
type PluginCodeParams struct {
	Name string `json:"name"`
	Hash string `json:"hash"`
	Code string `json:"code"`
}

// PluginCodeResult is empty: the adapter is registered.
type PluginCodeResult struct{}
