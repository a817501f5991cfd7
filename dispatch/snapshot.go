package dispatch

import (
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"opentabs/wire"
)

// SnapshotSchema is the schema name in every [Snapshot].
const SnapshotSchema = "tool-call-progress.v1"

// Snapshot is the progress of a call at one moment (tool-call-progress.v1). The JSON of
// a Snapshot omits optional fields without a value.
type Snapshot struct {
	Schema   string `json:"schema"`
	NodeID   string `json:"node_id"`
	CallID   string `json:"call_id"`
	ToolName string `json:"tool_name"`
	Progression
	ParentNodeID string `json:"parent_node_id,omitempty"`
	ParentCallID string `json:"parent_call_id,omitempty"`
}

// Progression is the status and the progress of a call.
type Progression struct {
	Status wire.CallStatus `json:"status"`
	// Progress is from 0 to 1; absent while unknown.
	Progress *float64 `json:"progress,omitempty"`
	Loaded   *float64 `json:"loaded,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// View is a call as lists show it: its snapshot and further facts.
type View struct {
	Snapshot
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
	Requester
	Browser string `json:"browser,omitempty"`
	TabID   int    `json:"tab_id,omitempty"`
	// Created is the time when the call arrived, Ended the time when it ended.
	Created time.Time  `json:"created"`
	Ended   *time.Time `json:"ended,omitempty"`
	// RunMs is how long the call has run in a page, in milliseconds.
	RunMs float64 `json:"run_ms"`
	// ReportCount counts all reports of the tool. InvalidCount counts reports whose
	// numbers were dropped.
	ReportCount  int `json:"reports"`
	InvalidCount int `json:"invalid_reports,omitempty"`
	// Prompt is set if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Depth counts the parent calls of this call.
	Depth int `json:"depth,omitempty"`
	// Caller is the tool that made the call; absent for a call of a client.
	Caller *Caller `json:"caller,omitempty"`
	// UserProgress (0 to 1) and UserMessage come from the last reports for the user.
	UserProgress *float64 `json:"user_progress,omitempty"`
	UserMessage  string   `json:"user_message,omitempty"`
	// StatusWord is the tool's word for its activity, such as "indexing", from the last
	// report with a word or a message. UserStatusWord comes from the reports for the
	// user only.
	StatusWord     string `json:"status_word,omitempty"`
	UserStatusWord string `json:"user_status_word,omitempty"`
	// EndAudience is the audience of the result; empty means internal. The end of a call
	// and its error are for every audience.
	EndAudience string `json:"end_audience,omitempty"`
	// Result is the beginning of a successful result, at most 400 bytes: text, or JSON.
	// Surfaces show Result if EndAudience is "user".
	Result string `json:"result,omitempty"`
	// Waiting is set while the call waits for the user.
	Waiting *WaitingTicket `json:"waiting,omitempty"`
	// Activities, omitted in lists and events, are in the order of their first reports.
	Activities []ActivityView `json:"activities,omitempty"`
	// Timeline is the steps of the call, oldest first, at most 64. Seq is the number of
	// the last event before the view: a reader that skips the events up to Seq gets no
	// change twice. Call Follow before Find, because events have no numbers without a
	// follower. Only Find sets Timeline and Seq.
	Timeline []Moment `json:"timeline,omitempty"`
	Seq      uint64   `json:"seq,omitempty"`
	// ErrorCode and Error are the reason of a failed call.
	ErrorCode wire.ErrorCode `json:"error_code,omitempty"`
	Error     string         `json:"error,omitempty"`
	// CancelReason is the given reason of a cancelled call, if any.
	CancelReason string `json:"cancel_reason,omitempty"`
	// StopOutcome is the page's answer to the stop.
	StopOutcome StopOutcome `json:"stopped,omitempty"`
}

// ShownResult returns the result for a surface of the user: empty if its audience is
// internal, unless showAll is set.
func (v *View) ShownResult(showAll bool) string {
	if showAll || v.EndAudience == AudienceUser {
		return v.Result
	}
	return ""
}

// maxResultText is the length of the part of a result that surfaces get.
// maxDecodedResult is the length of the longest text result whose escapes are decoded.
// maxResultText and maxDecodedResult are in bytes.
const (
	maxResultText    = 400
	maxDecodedResult = 64 << 10
)

// beginningOf returns the beginning of a result: the text of a string, else the JSON.
// A truncated result ends with "…".
func beginningOf(output json.RawMessage) string {
	text := string(output[:min(len(output), maxResultText+utf8.UTFMax)])
	isWhole := len(text) == len(output)
	if len(output) > 0 && output[0] == '"' && len(output) <= maxDecodedResult {
		var s string
		if json.Unmarshal(output, &s) == nil {
			text, isWhole = s, true
		}
	}
	if isWhole && len(text) <= maxResultText {
		return text
	}
	return cutText([]byte(text), maxResultText) + "…"
}

// EventKind is the kind of an [Event].
type EventKind string

// These constants are the kinds of events. A call has one created event, any number of
// progress and activity events, one ended event, and after that at most one stopped
// event. A running event is the start of the tool, or its continuation after a wait for
// the user. A resumed event follows each suspended event that gets a decision.
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

// Event is one change of one call.
type Event struct {
	// Seq increases by one over all events of a dispatcher.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Kind EventKind `json:"kind"`
	Call View      `json:"call"`
	// Report is the report of a progress event.
	Report *wire.Report `json:"report,omitempty"`
	// Activity is the change of an activity event.
	Activity *wire.Activity `json:"activity,omitempty"`
	// Resolution is the user's decision, in a resumed event.
	Resolution *Resolution `json:"resolution,omitempty"`
	// Audience is the audience of a progress, activity or ended event; empty means
	// internal.
	Audience string `json:"audience,omitempty"`

	text *eventText // set for events that a follower receives
}

// IsForUser reports whether surfaces show the event to the user by default: reports
// for the user, suspensions, and every end. The audience of an end decides whether its
// result is shown ([View.ShownResult]).
func (e *Event) IsForUser() bool {
	switch e.Kind {
	case EventProgress, EventActivity:
		return e.Audience == AudienceUser
	case EventSuspended, EventResumed, EventEnded:
		return true
	default:
		return false
	}
}

// JSON returns the event as JSON, encoded once for all followers. The caller must not
// change the JSON.
func (e *Event) JSON() []byte {
	if e.text == nil {
		return encodeEvent(e)
	}
	e.text.once.Do(func() { e.text.json = encodeEvent(e) })
	return e.text.json
}

// eventText is the JSON of an event, encoded on first use.
type eventText struct {
	once sync.Once
	json []byte
}

// An activitySnapshot replaces the activity; an activityDelta patches the activity.
const (
	activitySnapshot = "ActivitySnapshot"
	activityDelta    = "ActivityDelta"
)

// progressActivity is the activity type of the progress of a call. An event without an
// activity of the tool is a snapshot of the progress.
const progressActivity = "tool-call-progress"

// encodedEvent is the JSON of an event: an activity that a frontend can draw by its
// type, and all fields for the surfaces of opentabs.
type encodedEvent struct {
	*Event
	Type         string `json:"type"`
	ActivityType string `json:"activity_type"`
	// Replace is set if the content replaces the earlier content.
	Replace bool `json:"replace,omitempty"`
	// Content is the snapshot of the call; absent if Activity is set.
	Content *Snapshot `json:"content,omitempty"`
}

func encodeEvent(e *Event) []byte {
	encoded := encodedEvent{Type: activitySnapshot, ActivityType: progressActivity, Replace: true, Content: &e.Call.Snapshot, Event: e}
	if a := e.Activity; a != nil {
		encoded.ActivityType, encoded.Content = a.Type, nil
		if a.Patch != nil {
			encoded.Type, encoded.Replace = activityDelta, false
		}
	}
	text, err := json.Marshal(encoded)
	if err != nil { // impossible: all parts of an event come from JSON
		panic("dispatch: " + err.Error())
	}
	return text
}
