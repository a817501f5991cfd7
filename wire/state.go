package wire

// StateWatchParams switches state.sync on or off for this connection.
type StateWatchParams struct {
	On bool `json:"on"`
}

// CallStatus is a call's status as surfaces show it (tool-call-progress.v1).
type CallStatus string

const (
	StatusPending   CallStatus = "pending"
	StatusRunning   CallStatus = "running"
	StatusDone      CallStatus = "done"
	StatusFailed    CallStatus = "failed"
	StatusCancelled CallStatus = "cancelled"
)

// CallView is one call as the side panel shows it.
type CallView struct {
	CallID string     `json:"callId"`
	Plugin string     `json:"plugin"`
	Tool   string     `json:"tool"`
	Status CallStatus `json:"status"`
	// Progress is from 0 to 1; absent while it is not known.
	Progress *float64 `json:"progress,omitempty"`
	Message  string   `json:"message,omitempty"`
	// Client is the MCP client's name.
	Client string `json:"client,omitempty"`
	// TabID is the tab the call runs in; absent before one is chosen.
	TabID int `json:"tabId,omitempty"`
	// RunMs is how long the call has run, or ran, in milliseconds.
	RunMs float64 `json:"runMs"`
	// Error is why the call failed, for a person.
	Error string `json:"error,omitempty"`
}

// StateSyncParams is what the side panel shows; each replaces the last.
type StateSyncParams struct {
	ServerVersion string       `json:"serverVersion"`
	Plugins       []PluginInfo `json:"plugins,omitempty"`
	// Calls are the running calls, oldest first, then the last ones that
	// ended, newest first.
	Calls []CallView `json:"calls,omitempty"`
	// Running counts all running and waiting calls, also those beyond Calls.
	Running int `json:"running"`
}
