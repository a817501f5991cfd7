package dispatch

import (
	"encoding/json"
	"sync"
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
	// Prompt says that Tool names a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Depth is how many calls are above this one.
	Depth int `json:"depth,omitempty"`
	// Caller is the tool that made the call; absent for a call of a client.
	Caller *Caller `json:"caller,omitempty"`
	// UserProgress (0 to 1) and UserMessage are those of the last reports that are
	// meant for people.
	UserProgress *float64 `json:"user_progress,omitempty"`
	UserMessage  string   `json:"user_message,omitempty"`
	// EndAudience says for whom the end is, if the call succeeds; empty means
	// internal. A failure is for everybody.
	EndAudience string `json:"end_audience,omitempty"`
	// Waiting is set while the call waits for a person.
	Waiting *Waiting `json:"waiting,omitempty"`
	// Activities are what the tool shows, in the order of their first report.
	// Lists and events leave them out.
	Activities []ActivityView `json:"activities,omitempty"`
	// Timeline is the call's way so far, oldest first, at most 64 moments; and Seq
	// is the last event there was when the view was made, so that who leaves out
	// the events up to it gets nothing twice. Follow first, then look: events are
	// not numbered while nobody follows. Only Find sets them.
	Timeline []Moment `json:"timeline,omitempty"`
	Seq      uint64   `json:"seq,omitempty"`
	// ErrorCode and Error say why the call failed.
	ErrorCode wire.ErrorCode `json:"error_code,omitempty"`
	Error     string         `json:"error,omitempty"`
	// CancelReason is why the call was cancelled, if whoever did said so.
	CancelReason string `json:"cancel_reason,omitempty"`
	// Stopped is how the page answered when it was told to stop.
	Stopped Stopped `json:"stopped,omitempty"`
}

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of events. A call makes one created, any number of progress and
// activity, one ended, and at most one stopped event, which comes after ended.
// Running comes when the tool begins, and when it goes on after it has waited
// for a person. Each suspended is followed by resumed, unless nobody decides.
const (
	EventCreated   EventKind = "created"
	EventSuspended EventKind = "suspended"
	EventResumed   EventKind = "resumed"
	EventRunning   EventKind = "running"
	EventProgress  EventKind = "progress"
	EventActivity  EventKind = "activity"
	EventEnded     EventKind = "ended"
	EventStopped   EventKind = "stopped"
)

// AudienceUser is the audience of what people should see. Everything else is
// internal.
const AudienceUser = "user"

// Event is one change of one call.
type Event struct {
	// Seq increases by one over all events of a dispatcher.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind EventKind `json:"kind"`
	Call View      `json:"call"`
	// Report is what the page said, for a progress event.
	Report *wire.Report `json:"report,omitempty"`
	// Activity is what changed, for an activity event.
	Activity *wire.Activity `json:"activity,omitempty"`
	// Resolution is what a person decided, for a resumed event.
	Resolution *Resolution `json:"resolution,omitempty"`
	// Audience is for whom a progress, activity or ended event is; empty means
	// internal.
	Audience string `json:"audience,omitempty"`

	text *eventText // set for an event of a follower
}

// ForPeople reports whether surfaces for people show the event by themselves:
// what its tool meant for them, what waits for a person, and every failure.
func (e *Event) ForPeople() bool {
	switch e.Kind {
	case EventProgress, EventActivity:
		return e.Audience == AudienceUser
	case EventSuspended, EventResumed:
		return true
	case EventEnded:
		return e.Audience == AudienceUser || e.Call.Status != wire.StatusDone
	default:
		return false
	}
}

// JSON returns the event as JSON. It is encoded once for all followers; the
// caller may not change it.
func (e *Event) JSON() []byte {
	if e.text == nil {
		return encodeEvent(e)
	}
	e.text.once.Do(func() { e.text.json = encodeEvent(e) })
	return e.text.json
}

// eventText is an event's JSON, once somebody wants it.
type eventText struct {
	once sync.Once
	json []byte
}

func encodeEvent(e *Event) []byte {
	text, err := json.Marshal(e)
	if err != nil { // its parts were read from JSON
		panic("dispatch: " + err.Error())
	}
	return text
}
