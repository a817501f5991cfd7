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

// Snapshot is the progress of a call at one moment, in the format tool-call-progress.v1.
// The JSON of a Snapshot omits optional fields without a value.
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
	// Status is the status that users see. Agents receive the status that
	// [wire.CallStatus.ProgressStatus] returns, in which a call that timed out is failed.
	Status wire.CallStatus `json:"status"`
	// Progress is a fraction from 0 to 1, absent while unknown.
	Progress *float64 `json:"progress,omitempty"`
	Loaded   *float64 `json:"loaded,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	Message  string   `json:"message,omitempty"`
}

// View describes a call at one moment: its progress, client, target, times and result.
type View struct {
	Snapshot
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
	Requester
	// Browser is the ID of the browser in which the call runs. BrowserName is the browser's
	// name at the start of the call.
	Browser     string `json:"browser,omitempty"`
	BrowserName string `json:"browser_name,omitempty"`
	TabID       int    `json:"tab_id,omitempty"`
	// The field Created is when the call arrived. The field Ended is when the call ended,
	// or nil before its end.
	Created time.Time  `json:"created"`
	Ended   *time.Time `json:"ended,omitempty"`
	// RunMs is how long the call has run in a page so far, in milliseconds.
	RunMs float64 `json:"run_ms"`
	// ReportCount is the number of progress reports of the tool. InvalidCount is the number of
	// reports with invalid numbers, which were dropped.
	ReportCount  int `json:"reports"`
	InvalidCount int `json:"invalid_reports,omitempty"`
	// The field Prompt is true if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// NestingDepth is the number of parent calls of a nested call, or 0 for a call that a client
	// made.
	NestingDepth int `json:"depth,omitempty"`
	// Caller is the tool that made the call, absent for a call of a client.
	Caller *Caller `json:"caller,omitempty"`
	// UserProgress (from 0 to 1) and UserMessage are from the last progress reports for the
	// user.
	UserProgress *float64 `json:"user_progress,omitempty"`
	UserMessage  string   `json:"user_message,omitempty"`
	// StatusWord is the tool's word for what it is doing, such as "indexing". A progress
	// report that has a message but no status word clears StatusWord. UserStatusWord is the
	// last word in the tool's reports for the user.
	StatusWord     string `json:"status_word,omitempty"`
	UserStatusWord string `json:"user_status_word,omitempty"`
	// EndAudience is the audience of the call's result. An empty EndAudience means internal.
	// The end of a call and its error are shown to every audience.
	EndAudience string `json:"end_audience,omitempty"`
	// Result is the beginning of a successful call's result, at most 400 bytes of text or
	// JSON. Surfaces show Result to the user only if EndAudience is "user".
	Result string `json:"result,omitempty"`
	// The field Waiting describes what the call waits for, and is nil while the call does
	// not wait for the user.
	Waiting *WaitingTicket `json:"waiting,omitempty"`
	// Decision is the user's last decision about the call, or nil if the user has not decided.
	Decision *Resolution `json:"decision,omitempty"`
	// URL is the URL of the page in which the call runs. ArgsStart is the beginning of the
	// call's arguments, in the form that requests for approval show. Agents can read the JSON
	// of a View, so URL and ArgsStart are omitted from the JSON; only the side panel receives
	// them.
	URL       string `json:"-"`
	ArgsStart string `json:"-"`
	// The field Activities contains the contents that the tool shows beside its progress,
	// in the order of their first reports. Lists of calls and events omit Activities.
	Activities []activity.View `json:"activities,omitempty"`
	// Timeline lists at most 64 steps of the call, oldest first. Trace is the time that the
	// call spent in each stage, or nil if the call is not traced. Timeline and Trace are set
	// only in a View that Find returns or that an AfterHook receives. Seq, which only Find
	// sets, is the number of the last event that the View includes. A reader that has this
	// View skips the events up to number Seq, because the View already includes their
	// changes. A reader must call Subscribe before Find, because events are numbered only while
	// there is a subscriber.
	Timeline []TimelineEntry `json:"timeline,omitempty"`
	Trace    *hops.View      `json:"trace,omitempty"`
	Seq      uint64          `json:"seq,omitempty"`
	// ErrorCode and Error are the code and the message of a failed call's error. NextStep is
	// advice for the user, absent if Error already contains advice.
	ErrorCode wire.ErrorCode `json:"error_code,omitempty"`
	Error     string         `json:"error,omitempty"`
	NextStep  string         `json:"next_step,omitempty"`
	// CancelReason is why the call was cancelled, if the canceller gave a reason.
	CancelReason string `json:"cancel_reason,omitempty"`
	// StopOutcome is whether the tool stopped, as the page reported after a request to stop
	// it.
	StopOutcome wire.CancelOutcome `json:"stopped,omitempty"`
}

// ShownResult returns the result that a surface shows to the user. If the audience of the
// result is internal, ShownResult returns an empty string unless showAll is true.
func (v *View) ShownResult(showAll bool) string {
	if showAll || v.EndAudience == progress.AudienceUser {
		return v.Result
	}
	return ""
}

// TruncateText truncates UTF-8 text to at most limit bytes without splitting a character.
func TruncateText(text []byte, maxLength int) string {
	if len(text) <= maxLength {
		return string(text)
	}
	for maxLength > 0 && !utf8.RuneStart(text[maxLength]) {
		maxLength--
	}
	return string(text[:maxLength])
}
