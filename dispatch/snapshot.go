package dispatch

import (
	"time"

	"opentabs/wire"
)

// SnapshotSchema is the schema name in every [Snapshot].
const SnapshotSchema = "tool-call-progress.v1"

// Snapshot is a call's progress at one moment (tool-call-progress.v1). Absent
// optional fields are omitted from its JSON.
type Snapshot struct {
	Schema   string          `json:"schema"`
	NodeID   string          `json:"node_id"`
	CallID   string          `json:"call_id"`
	ToolName string          `json:"tool_name"`
	Status   wire.CallStatus `json:"status"`
	// Progress is from 0 to 1; absent while it is not known.
	Progress     *float64 `json:"progress,omitempty"`
	Loaded       *float64 `json:"loaded,omitempty"`
	Total        *float64 `json:"total,omitempty"`
	Message      string   `json:"message,omitempty"`
	ParentNodeID string   `json:"parent_node_id,omitempty"`
	ParentCallID string   `json:"parent_call_id,omitempty"`
}

// View is a call as lists show it: its snapshot and what else is known.
type View struct {
	Snapshot
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
	Client string `json:"client,omitempty"`
	// Session names the MCP session that made the call; it is not its id, which
	// works as a password.
	Session string `json:"session,omitempty"`
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	// Created is when the call came in, Ended when it ended.
	Created time.Time  `json:"created"`
	Ended   *time.Time `json:"ended,omitempty"`
	// RunMs is the time since Running began, in milliseconds; it stands still
	// once the call has ended.
	RunMs float64 `json:"run_ms"`
	// Reports counts the reports that came, Invalid those whose numbers were
	// dropped.
	Reports int `json:"reports"`
	Invalid int `json:"invalid_reports,omitempty"`
	// ErrorCode and Error say why the call failed.
	ErrorCode wire.ErrorCode `json:"error_code,omitempty"`
	Error     string         `json:"error,omitempty"`
	// Stopped is how the page answered when it was told to stop.
	Stopped Stopped `json:"stopped,omitempty"`
}

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of events. A call makes one created, at most one running, any
// number of progress, one ended, and at most one stopped event, in this order;
// stopped comes after ended.
const (
	EventCreated  EventKind = "created"
	EventRunning  EventKind = "running"
	EventProgress EventKind = "progress"
	EventEnded    EventKind = "ended"
	EventStopped  EventKind = "stopped"
)

// Event is one change of one call.
type Event struct {
	// Seq increases by one over all events of a dispatcher.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind EventKind `json:"kind"`
	Call View      `json:"call"`
	// Report is what the page said, for a progress event.
	Report *wire.Report `json:"report,omitempty"`
}
