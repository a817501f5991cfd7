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
	// Client is the name of the client's token, or what the client calls itself if it
	// has none; ClientVia says which. ClientClaims is what a client with a token calls
	// itself.
	Client       string `json:"client,omitempty"`
	ClientVia    Via    `json:"client_via,omitempty"`
	ClientClaims string `json:"client_claims,omitempty"`
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
	// StatusWord is the tool's own word for what it does, as in "indexing", from the
	// last report with a word or a message; UserStatusWord is that of the last such
	// report for people.
	StatusWord     string `json:"status_word,omitempty"`
	UserStatusWord string `json:"user_status_word,omitempty"`
	// EndAudience says for whom the result is, if the call succeeds; empty means
	// internal. That a call ended, and how, is for everybody.
	EndAudience string `json:"end_audience,omitempty"`
	// Result is the beginning of the result of a call that succeeded, at most 400
	// bytes: text, or JSON. Surfaces show it if EndAudience is "user".
	Result string `json:"result,omitempty"`
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

// ShownResult is the result as a surface for people shows it: if it is meant for
// them, or all is shown; else "".
func (v *View) ShownResult(all bool) string {
	if all || v.EndAudience == AudienceUser {
		return v.Result
	}
	return ""
}

// maxResultText is how much of a result surfaces get, and maxResultRead the longest
// one whose escapes are resolved, in bytes.
const (
	maxResultText = 400
	maxResultRead = 64 << 10
)

// beginningOf is the beginning of a result: of a text the text, of anything else
// the JSON. A cut ends with "…".
func beginningOf(output json.RawMessage) string {
	text := string(output[:min(len(output), maxResultText+utf8.UTFMax)])
	whole := len(text) == len(output)
	if len(output) > 0 && output[0] == '"' && len(output) <= maxResultRead {
		var s string
		if json.Unmarshal(output, &s) == nil {
			text, whole = s, true
		}
	}
	if whole && len(text) <= maxResultText {
		return text
	}
	return cutText([]byte(text), maxResultText) + "…"
}

// setClient shows who made the call.
func (v *View) setClient(c Client) {
	v.Client, v.ClientVia = c.Name, c.Via
	if c.Via == ViaToken {
		v.Client, v.ClientClaims = c.Token, c.Name
	}
}

// Who returns the client whose call it is.
func (v View) Who() Client {
	c := Client{Session: v.Session, Via: v.ClientVia, Name: v.Client}
	if v.ClientVia == ViaToken {
		c.Token, c.Name = v.Client, v.ClientClaims
	}
	return c
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

// ForUser reports whether surfaces for the user show the event by themselves: what
// its tool meant for them, what waits for a person, and every end. The audience of
// an end decides whether its result is shown ([View.ShownResult]).
func (e *Event) ForUser() bool {
	switch e.Kind {
	case EventProgress, EventActivity:
		return e.Audience == AudienceUser
	case EventSuspended, EventResumed, EventEnded:
		return true
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

// What the type of an event says: whether it replaces what is known of its
// activity, or patches it.
const (
	activitySnapshot = "ActivitySnapshot"
	activityDelta    = "ActivityDelta"
)

// ProgressActivity is the activity type of a call's own progress. Each event but
// those of other activities is a snapshot of it.
const ProgressActivity = "tool-call-progress"

// encodedEvent is an event as JSON: as an activity that a frontend can draw by its
// type, and with all that surfaces of opentabs use.
type encodedEvent struct {
	*Event
	Type         string `json:"type"`
	ActivityType string `json:"activity_type"`
	// Replace says that the content replaces what was known.
	Replace bool `json:"replace,omitempty"`
	// Content is the call's snapshot; that of another activity is in Activity.
	Content *Snapshot `json:"content,omitempty"`
}

func encodeEvent(e *Event) []byte {
	encoded := encodedEvent{Type: activitySnapshot, ActivityType: ProgressActivity, Replace: true, Content: &e.Call.Snapshot, Event: e}
	if a := e.Activity; a != nil {
		encoded.ActivityType, encoded.Content = a.Type, nil
		if a.Patch != nil {
			encoded.Type, encoded.Replace = activityDelta, false
		}
	}
	text, err := json.Marshal(encoded)
	if err != nil { // its parts were read from JSON
		panic("dispatch: " + err.Error())
	}
	return text
}
