package events

import (
	"time"
	"unicode/utf8"

	"opentabs/dispatch/activity"
	"opentabs/dispatch/hops"
	"opentabs/dispatch/progress"
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
	// Status is the status for users. Agents and the content of events get the result of
	// [wire.CallStatus.ForProgress].
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
	// Browser is the ID of the browser in which the call runs. BrowserName is the
	// browser's name at the start of the call.
	Browser     string `json:"browser,omitempty"`
	BrowserName string `json:"browser_name,omitempty"`
	TabID       int    `json:"tab_id,omitempty"`
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
	// Decision is the user's last decision about the call; nil if the user has not
	// decided.
	Decision *Resolution `json:"decision,omitempty"`
	// URL is the page in which the call runs. ArgsStart is the beginning of the call's
	// arguments, in the form that requests for approval show. Only the side panel
	// receives URL and ArgsStart, because agents may read the JSON of a View.
	URL       string `json:"-"`
	ArgsStart string `json:"-"`
	// Activities, omitted in lists and events, are in the order of their first reports.
	Activities []activity.View `json:"activities,omitempty"`
	// Timeline lists at most 64 steps of the call, oldest first. Seq is the number of the
	// last event before the View was made: a reader that skips events up to Seq receives
	// no change twice. A reader calls Follow before Find, because events have numbers
	// only if they have a follower. Trace is the time that the call spent at each
	// station, or nil if the call is not traced. Only Find and the after hooks set
	// Timeline and Trace, and only Find sets Seq.
	Timeline []Moment   `json:"timeline,omitempty"`
	Trace    *hops.View `json:"trace,omitempty"`
	Seq      uint64     `json:"seq,omitempty"`
	// ErrorCode and Error are the code and the message of a failed call. NextStep is the
	// advice for the user; NextStep is omitted if Error contains the advice.
	ErrorCode wire.ErrorCode `json:"error_code,omitempty"`
	Error     string         `json:"error,omitempty"`
	NextStep  string         `json:"next_step,omitempty"`
	// CancelReason is the given reason of a cancelled call, if any.
	CancelReason string `json:"cancel_reason,omitempty"`
	// StopOutcome is the page's answer to the stop.
	StopOutcome wire.CancelOutcome `json:"stopped,omitempty"`
}

// ShownResult returns the result for a surface of the user: empty if its audience is
// internal, unless showAll is set.
func (v *View) ShownResult(showAll bool) string {
	if showAll || v.EndAudience == progress.AudienceUser {
		return v.Result
	}
	return ""
}

// CutText returns the beginning of a text: at most limit bytes, whole characters.
func CutText(text []byte, limit int) string {
	if len(text) <= limit {
		return string(text)
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return string(text[:limit])
}
