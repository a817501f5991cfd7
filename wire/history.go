package wire

// MaxHistoryCalls is the maximum number of calls in one answer to calls.history.
const MaxHistoryCalls = 200

// CallsHistoryParams requests ended calls from the recorder, newest first. The recorder
// also has the calls of earlier runs of the server.
type CallsHistoryParams struct {
	// Before is the Next of the previous answer, to get older calls. If Before is absent,
	// the answer begins with the newest call.
	Before string `json:"before,omitempty"`
	// Limit is the maximum number of calls in the answer, from 1 to MaxHistoryCalls.
	Limit int `json:"limit"`
	// Filter selects calls. If Filter is absent, the answer contains all calls.
	Filter *CallsFilter `json:"filter,omitempty"`
}

// CallsFilter selects recorded calls by several fields. An empty field matches every
// call.
type CallsFilter struct {
	// Tool is the full name of a tool, or the name of a plugin for all its tools.
	Tool string `json:"tool,omitempty"`
	// Client is the name of the client that made the calls.
	Client string `json:"client,omitempty"`
	// Text is part of the tool's name, the client, the site, the error or the arguments.
	// Upper and lower case are equal.
	Text string `json:"text,omitempty"`
	// Failed is true to select only calls that failed, timed out or were cancelled.
	Failed bool `json:"failed,omitempty"`
}

// CallsHistoryResult is one page of recorded calls.
type CallsHistoryResult struct {
	// Calls contains at most Limit calls. A page may have fewer calls, or no calls,
	// although older calls exist.
	Calls []RecordedCall `json:"calls,omitempty"`
	// Next is the Before of the next page. Next is absent if no older call exists.
	Next string `json:"next,omitempty"`
}

// RecordedCall is an ended call in the recorder.
type RecordedCall struct {
	// Call is the call at its end, without activities. Call.Args contains no secrets, and
	// is absent if arguments are not recorded or are too long.
	Call CallView `json:"call"`
	// EndedMs is the time at which the call ended, in milliseconds since 1970.
	EndedMs float64 `json:"endedMs"`
	// ArgsIncomplete is true if the recorded arguments omit secrets or long values.
	ArgsIncomplete bool `json:"argsIncomplete,omitempty"`
	// ApprovedBy is the surface on which the user approved the call. ApprovedScope is the
	// scope of this approval.
	ApprovedBy    string `json:"approvedBy,omitempty"`
	ApprovedScope Scope  `json:"approvedScope,omitempty"`
}

// CallRepeatParams requests a new call with the tool and arguments of a recorded call.
type CallRepeatParams struct {
	// CallID is the ID of the recorded call.
	CallID string `json:"callId"`
}

// CallRepeatResult is empty. CallRepeatResult confirms that the server made the new call,
// which may still need an approval.
type CallRepeatResult struct{}

// CallUndoParams undoes a call: the server calls the tool that undoes it, as a new call of
// the side panel.
type CallUndoParams struct {
	// CallID is a call that is done.
	CallID string `json:"callId"`
}

// CallUndoResult confirms that the new call was made; it may still need an approval.
type CallUndoResult struct {
	// CallID is the new call.
	CallID string `json:"callId"`
}
