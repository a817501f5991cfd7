package httpapi

import (
	"cmp"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Health is the response of /healthz, which any program on this machine can request.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// Proof proves that the server has the token. The field Proof is empty if the request
	// has no challenge.
	Proof string `json:"proof,omitempty"`
}

// Status is the response of /status, and describes the server, its browsers, plugins and
// MCP clients.
type Status struct {
	Version  string    `json:"version"`
	Protocol int       `json:"protocol"`
	PID      int       `json:"pid"`
	Address  string    `json:"address"`
	Started  time.Time `json:"started"`
	// UptimeMs is the time since the start of the server, in milliseconds.
	UptimeMs int64     `json:"uptime_ms"`
	Home     Home      `json:"home"`
	Limits   Limits    `json:"limits"`
	Memory   Memory    `json:"memory"`
	Calls    CallCount `json:"calls"`
	Browsers []Browser `json:"browsers"`
	// RefusedExtension is the last extension whose connection the server refused.
	// RefusedExtension is nil if a browser has connected after the refusal.
	RefusedExtension *RefusedExtension `json:"refused_extension,omitempty"`
	// The field UnpairedBrowsers contains the browsers without a pairing that have tried to
	// connect within the last seconds.
	UnpairedBrowsers []UnpairedBrowser `json:"unpaired_browsers,omitempty"`
	Plugins          []Plugin          `json:"plugins"`
	// The field Failed contains the plugins that were added and could not be loaded.
	Failed []FailedPlugin `json:"failed"`
	// The field Permissions describes the parts of permissions.json that could not be
	// read.
	Permissions []string    `json:"permission_problems,omitempty"`
	Clients     []MCPClient `json:"clients"`
}

// Home has the folders in which the server stores its configuration and its state.
type Home struct {
	Config string `json:"config"`
	State  string `json:"state"`
}

// Limits are the limits for the duration, number and result size of calls.
type Limits struct {
	IdleTimeoutMs      int64 `json:"idle_ms"`
	HardTimeoutMs      int64 `json:"hard_ms"`
	ProgressIntervalMs int64 `json:"progress_interval_ms"`
	MaxResultBytes     int   `json:"max_result_bytes"`
	MaxRunning         int   `json:"max_running"`
	MaxWaiting         int   `json:"max_waiting"`
}

// Memory is the memory usage of the server process.
type Memory struct {
	// HeapBytes is the size of all objects on the Go heap, including garbage that is not
	// collected yet. SystemBytes is the memory that the process has obtained from the
	// operating system.
	HeapBytes   uint64 `json:"heap_bytes"`
	SystemBytes uint64 `json:"system_bytes"`
	Goroutines  int    `json:"goroutines"`
}

// CallCount counts the calls that have not ended, by status.
type CallCount struct {
	Running int `json:"running"`
	Queued  int `json:"queued"`
	// WaitingForApproval counts the calls that wait until the user approves or denies them.
	// WaitingForYou counts the calls that wait for another action of the user, such as a
	// login.
	WaitingForApproval int `json:"waiting_for_approval"`
	WaitingForYou      int `json:"waiting_for_you"`
}

// Browser is one connected Chrome profile with its tabs.
type Browser struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"extension_version"`
	// PairingKeyID identifies the pairing key with which the browser connected (see
	// wire.KeyID). PairingKeyID is empty if the browser authenticated with the key of the
	// installation.
	PairingKeyID string `json:"pairing_key_id,omitempty"`
	// The field Connected is false during the grace period after a lost link, because the
	// browser can reconnect during this period.
	Connected bool `json:"connected"`
	// The field Since is the time at which the browser connected, or at which the link
	// was lost.
	Since time.Time `json:"since"`
	// The field Running is the number of running calls in the browser.
	Running int `json:"running"`
	// InjectMode is the Chrome API with which the browser injects adapters into pages.
	// InjectMode is empty until the browser has reported its mode.
	InjectMode wire.InjectMode `json:"inject,omitempty"`
	Tabs       []wire.TabInfo  `json:"tabs"`
	// HeldTabs are the tabs that MCP clients control with browser tools.
	HeldTabs []HeldTab `json:"held_tabs,omitempty"`
}

// UnpairedBrowser is a browser that is not paired.
type UnpairedBrowser struct {
	// KeyID is the wire.KeyID of the browser's pairing code.
	KeyID string `json:"key_id"`
	// LastAttemptAt is when the browser last tried to connect.
	LastAttemptAt time.Time `json:"tried_at"`
}

// RefusedExtension is an extension whose connection the server refused.
type RefusedExtension struct {
	// Text is a sentence for the user about why the server refused the connection.
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// HeldTab is a tab that an MCP client controls with browser tools. Other clients cannot
// act in the tab before the time in the field EndsAt.
type HeldTab struct {
	TabID int `json:"tab_id"`
	// Site is the site on which the client acted last.
	Site   string    `json:"site"`
	Client string    `json:"client"`
	EndsAt time.Time `json:"until"`
	// IsTakenBack is true if the user has taken control of the tab with a click or a key
	// press. After the user has taken control, the client no longer controls the tab.
	IsTakenBack bool `json:"taken,omitempty"`
}

// Plugin is the state of one loaded plugin.
type Plugin struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Version     string `json:"version"`
	// Source is how the plugin was installed: "folder", "npm" or "global". Package is the
	// npm name of the plugin's package.
	Source  string   `json:"source"`
	Package string   `json:"package"`
	Dir     string   `json:"dir"`
	Hash    string   `json:"hash"`
	Matches []string `json:"matches"`
	// The field Tools contains the full names of the plugin's tools, such as
	// "wiki__search".
	Tools []string `json:"tools"`
	// The field Reviewed is true if the user has reviewed the plugin's current content.
	// Without a review, Permission is off.
	Reviewed   bool            `json:"reviewed"`
	Permission wire.Permission `json:"permission"`
	// HasChanged is true if the user has reviewed earlier content of the plugin, but not
	// the current content.
	HasChanged bool `json:"changed,omitempty"`
	// MissingSettings are the required settings that are not set. The plugin's tools do
	// not run until all required settings are set.
	MissingSettings []string `json:"needs,omitempty"`
	// The field Calls contains the other plugins whose tools this plugin is allowed to
	// call. StartsAfterPageScripts is true if the adapter starts after scripts of the page have run.
	// HasLateStartAccess is true if an adapter that starts late is allowed to read secret
	// settings and call other plugins.
	Calls                  []string `json:"calls,omitempty"`
	StartsAfterPageScripts bool     `json:"late,omitempty"`
	HasLateStartAccess     bool     `json:"late_access,omitempty"`
	// Recommendation is an agent's opinion about the plugin's current content, which
	// changes no permission.
	Recommendation *Recommendation `json:"recommended,omitempty"`
	// Fault describes why the adapter with the plugin's current content failed to start in a
	// page. The field Fault is nil if the adapter has not failed to start.
	Fault *Fault `json:"fault,omitempty"`
	// State reports whether the plugin's tools can run in a tab. State is `closed` if the
	// user does not permit the plugin to run.
	State dispatch.PluginState `json:"state"`
}

// Fault describes why an adapter failed to start in a page.
type Fault struct {
	// Text describes the fault for the user in one sentence without a period. Problem, Site,
	// Browser and At are the facts that Text mentions.
	Text    string    `json:"text"`
	Problem string    `json:"problem"`
	Site    string    `json:"site,omitempty"`
	Browser string    `json:"browser,omitempty"`
	At      time.Time `json:"at"`
}

// FailedPlugin is an installed plugin that could not be loaded. Name is empty if the
// manifest could not be read.
type FailedPlugin struct {
	Name  string `json:"name,omitempty"`
	Path  string `json:"path"`
	Error string `json:"error"`
}

// MCPClient is one connected MCP client.
type MCPClient struct {
	// Client is the name under which the client's token is registered, and Credential is
	// how the client authenticated. Name and Version are what the client sent in its
	// initialize request.
	Client     string    `json:"client,omitempty"`
	Credential string    `json:"via,omitempty"`
	Name       string    `json:"name"`
	Version    string    `json:"version,omitempty"`
	Transport  string    `json:"transport"`
	Since      time.Time `json:"since"`
	// Tools is "all" if the client lists every tool, or "gateway" if it lists only the
	// gateway tools. The field Tools is empty until the client has sent its name.
	Tools string `json:"tools,omitempty"`
	// Timeout is how long the client waits for the result of a call. The field Timeout is
	// nil if opentabs has not determined the client's timeout.
	Timeout *ClientTimeout `json:"timeout,omitempty"`
}

// ClientTimeout is how long an MCP client waits for the result of a call.
type ClientTimeout struct {
	// LimitMs is the time after which the client gives up on a call, in milliseconds.
	// ProgressRestarts is true if each progress notification restarts the client's
	// timeout.
	LimitMs          int64 `json:"limit_ms"`
	ProgressRestarts bool  `json:"progress_restarts,omitempty"`
	// Source is TimeoutSourceTable, TimeoutSourceLearned or TimeoutSourceUser.
	Source string `json:"source"`
}

// TimeoutSourceTable, TimeoutSourceLearned and TimeoutSourceUser describe where the timeout of a client
// comes from.
const (
	TimeoutSourceTable   = "table"   // the timeout is in the built-in table of known clients
	TimeoutSourceLearned = "learned" // opentabs measured the timeout when the client gave up a call
	TimeoutSourceUser    = "set"     // the user set the timeout
)

// DisplayName returns a name for the user, made from the client's credential and the name
// that the client sent in its initialize request.
func (c MCPClient) DisplayName() string {
	identity := dispatch.Client{Credential: dispatch.CredentialKind(c.Credential), Token: c.Client}
	identity.Name = strings.TrimSpace(c.Name + " " + c.Version)
	return cmp.Or(identity.String(), "a client that has not sent its name")
}
