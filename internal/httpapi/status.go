package httpapi

import (
	"cmp"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Health is the response of /healthz, which any program on this machine can read.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// Proof is the response to the challenge in the request; empty for a request
	// without a challenge.
	Proof string `json:"proof,omitempty"`
}

// Status is the response of /status.
type Status struct {
	Version  string    `json:"version"`
	Protocol int       `json:"protocol"`
	PID      int       `json:"pid"`
	Address  string    `json:"address"`
	Started  time.Time `json:"started"`
	// UptimeMs is the time since the server's start, in milliseconds.
	UptimeMs int64     `json:"uptime_ms"`
	Home     Home      `json:"home"`
	Limits   Limits    `json:"limits"`
	Memory   Memory    `json:"memory"`
	Calls    CallCount `json:"calls"`
	Browsers []Browser `json:"browsers"`
	// RefusedExtension is the last extension whose connection the server refused; nil if
	// a browser has connected since.
	RefusedExtension *RefusedExtension `json:"refused_extension,omitempty"`
	// Unpaired are the browsers without a pairing that have tried to connect within the
	// last seconds.
	Unpaired []UnpairedBrowser `json:"unpaired_browsers,omitempty"`
	Plugins  []Plugin          `json:"plugins"`
	// Failed are the plugins that were added and could not be loaded.
	Failed []FailedPlugin `json:"failed"`
	// Permissions are the parts of the permissions file that could not be read.
	Permissions []string    `json:"permission_problems,omitempty"`
	Clients     []MCPClient `json:"clients"`
}

// Home is where the server keeps its files.
type Home struct {
	Config string `json:"config"`
	State  string `json:"state"`
}

// Limits are the time and size limits of calls.
type Limits struct {
	IdleMs             int64 `json:"idle_ms"`
	HardMs             int64 `json:"hard_ms"`
	ProgressIntervalMs int64 `json:"progress_interval_ms"`
	MaxResultBytes     int   `json:"max_result_bytes"`
	MaxRunning         int   `json:"max_running"`
	MaxWaiting         int   `json:"max_waiting"`
}

// Memory is the memory use of the server process.
type Memory struct {
	// HeapBytes is the size of the objects on the heap, including garbage that is not
	// collected yet. SystemBytes is the memory obtained from the operating system.
	HeapBytes   uint64 `json:"heap_bytes"`
	SystemBytes uint64 `json:"system_bytes"`
	Goroutines  int    `json:"goroutines"`
}

// CallCount counts the calls that have not ended.
type CallCount struct {
	Running int `json:"running"`
	// Pending counts all calls that are queued or wait for the user.
	Pending int `json:"pending"`
	// WaitingForApproval counts the calls of Pending that wait until the user allows or
	// denies them, and WaitingForYou those that wait for an action of the user.
	WaitingForApproval int `json:"waiting_for_approval"`
	WaitingForYou      int `json:"waiting_for_you"`
}

// Browser is one connected browser.
type Browser struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"extension_version"`
	// PairingKeyID is the wire.KeyID of the pairing key with which the browser connected;
	// empty if the browser used the key of the installation.
	PairingKeyID string `json:"pairing_key_id,omitempty"`
	// Connected is false while the link is lost and the browser may still reconnect.
	Connected bool `json:"connected"`
	// Since is when the browser connected, or when the link was lost.
	Since time.Time `json:"since"`
	// Running is the number of running calls in the browser.
	Running int `json:"running"`
	// InjectMode is how the browser injects adapters into pages; empty until the browser
	// has reported its injection mode.
	InjectMode wire.InjectMode `json:"inject,omitempty"`
	Tabs       []wire.TabInfo  `json:"tabs"`
	// HeldTabs are the tabs that clients hold for browser tools.
	HeldTabs []HeldTab `json:"held_tabs,omitempty"`
}

// UnpairedBrowser is a browser that is not paired.
type UnpairedBrowser struct {
	// KeyID is the wire.KeyID of the browser's pairing code.
	KeyID string `json:"key_id"`
	// TriedAt is when the browser last tried to connect.
	TriedAt time.Time `json:"tried_at"`
}

// RefusedExtension is an extension whose connection the server refused.
type RefusedExtension struct {
	// Text is a sentence for the user with the reason of the refusal.
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// HeldTab is a tab in which a client has acted with browser tools. Until then, acts of
// other clients in the tab fail.
type HeldTab struct {
	TabID int `json:"tab_id"`
	// Site is the site of the last act.
	Site   string    `json:"site"`
	Client string    `json:"client"`
	Until  time.Time `json:"until"`
	// IsTaken is true if the user took the tab back with a click or a key, so that the
	// client no longer controls the tab.
	IsTaken bool `json:"taken,omitempty"`
}

// Plugin is one loaded plugin.
type Plugin struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Version     string `json:"version"`
	// Source is how the plugin was installed in Dir: "folder", "npm" or "global".
	// Package is the npm name of the plugin.
	Source  string   `json:"source"`
	Package string   `json:"package"`
	Dir     string   `json:"dir"`
	Hash    string   `json:"hash"`
	Matches []string `json:"matches"`
	// Tools are the tools' full names.
	Tools []string `json:"tools"`
	// Reviewed is true if the user has reviewed the current content; otherwise
	// Permission is off.
	Reviewed   bool            `json:"reviewed"`
	Permission wire.Permission `json:"permission"`
	// HasChanged is true if the user has reviewed earlier content, but not the current
	// content.
	HasChanged bool `json:"changed,omitempty"`
	// MissingSettings are the required settings that are not set. The plugin's tools do
	// not run before all required settings are set.
	MissingSettings []string `json:"needs,omitempty"`
	// Calls are the other plugins whose tools this plugin may call. StartsLate is true if
	// scripts of the page run before the adapter. HasLateAccess is true if the user allows
	// a late plugin to have its secret settings and to call other plugins.
	Calls         []string `json:"calls,omitempty"`
	StartsLate    bool     `json:"late,omitempty"`
	HasLateAccess bool     `json:"late_access,omitempty"`
	// Recommendation is an agent's recommendation about the current content. Recommendation
	// changes nothing.
	Recommendation *Recommendation `json:"recommended,omitempty"`
	// Fault is why the plugin's current content did not start in a page; nil if no
	// start failed.
	Fault *Fault `json:"fault,omitempty"`
	// State is whether the plugin's tools can run in a tab; closed for a plugin that is
	// not permitted to run.
	State dispatch.PluginState `json:"state"`
}

// Fault describes why an adapter did not start in a page.
type Fault struct {
	// Text is a sentence for the user, without a period. The fields Problem, Site,
	// Browser and At contain the facts of Text.
	Text    string    `json:"text"`
	Problem string    `json:"problem"`
	Site    string    `json:"site,omitempty"`
	Browser string    `json:"browser,omitempty"`
	At      time.Time `json:"at"`
}

// FailedPlugin is a plugin that could not be loaded.
type FailedPlugin struct {
	Name  string `json:"name,omitempty"`
	Path  string `json:"path"`
	Error string `json:"error"`
}

// MCPClient is one connected MCP client.
type MCPClient struct {
	// Client is the name of the client's token, Credential the kind of its credential. Name
	// and Version are what the client sent in initialize.
	Client     string    `json:"client,omitempty"`
	Credential string    `json:"via,omitempty"`
	Name       string    `json:"name"`
	Version    string    `json:"version,omitempty"`
	Transport  string    `json:"transport"`
	Since      time.Time `json:"since"`
	// Tools is which tools the client lists: "all" or "gateway". Tools is empty before
	// the client has sent its name.
	Tools string `json:"tools,omitempty"`
	// Timeout is how long the client waits for the answer to a call; nil if that is
	// unknown.
	Timeout *ClientTimeout `json:"timeout,omitempty"`
}

// ClientTimeout is how long an MCP client waits for the answer to a call.
type ClientTimeout struct {
	// LimitMs is the time after which the client gives up a call, in milliseconds.
	// ProgressRestarts is true if each progress notification restarts the timeout of the
	// client.
	LimitMs          int64 `json:"limit_ms"`
	ProgressRestarts bool  `json:"progress_restarts,omitempty"`
	// Source is TimeoutTable, TimeoutLearned or TimeoutSet.
	Source string `json:"source"`
}

// These constants are the sources of a client's timeout.
const (
	TimeoutTable   = "table"   // the timeout is in the table of known clients
	TimeoutLearned = "learned" // opentabs learned the timeout when the client gave up a call
	TimeoutSet     = "set"     // the user set the timeout
)

// DisplayName names the client by its credential and by the client name in initialize.
func (c MCPClient) DisplayName() string {
	identity := dispatch.Client{Credential: dispatch.CredentialKind(c.Credential), Token: c.Client}
	identity.Name = strings.TrimSpace(c.Name + " " + c.Version)
	return cmp.Or(identity.String(), "a client that has not sent its name")
}
