package wire

// MaxHistoryCalls is the maximum number of calls in one answer to calls.history.
const MaxHistoryCalls = 200

// CallsHistoryParams requests calls that have ended, newest first, from the recorder. The
// calls of a former server are included.
type CallsHistoryParams struct {
	// Before is the Next of the previous answer, for older calls. Without Before, the
	// answer begins with the newest call.
	Before string `json:"before,omitempty"`
	// Limit is the maximum number of calls, from 1 to MaxHistoryCalls.
	Limit int `json:"limit"`
	// Filter selects calls. Without Filter, all calls are selected.
	Filter *CallsFilter `json:"filter,omitempty"`
}

// CallsFilter selects recorded calls. An empty field selects all calls.
type CallsFilter struct {
	// Tool is the full name of a tool or the name of a plugin.
	Tool string `json:"tool,omitempty"`
	// Client is the name of a client.
	Client string `json:"client,omitempty"`
	// Text is a part of the tool's name, the client, the site, the error or the
	// arguments, in any case of letters.
	Text string `json:"text,omitempty"`
	// Failed selects the calls that failed or were cancelled.
	Failed bool `json:"failed,omitempty"`
}

// CallsHistoryResult is one page of recorded calls.
type CallsHistoryResult struct {
	// Calls are at most Limit calls. A page may have fewer calls, or none, although older
	// calls exist.
	Calls []RecordedCall `json:"calls,omitempty"`
	// Next is the Before of the next page; absent after the oldest call.
	Next string `json:"next,omitempty"`
}

// RecordedCall is a call that has ended, from the recorder.
type RecordedCall struct {
	// Call is the call at its end, without its activities. Its Args are without secrets, and
	// absent if arguments are not recorded or too long.
	Call CallView `json:"call"`
	// EndedMs is when the call ended, in milliseconds since 1970.
	EndedMs float64 `json:"endedMs"`
	// ArgsIncomplete is true if the recorded arguments lack secrets or long values of the
	// real arguments.
	ArgsIncomplete bool `json:"argsIncomplete,omitempty"`
	// ApprovedBy is the surface on which the user approved the call. ApprovedScope is the
	// scope of the approval.
	ApprovedBy    string `json:"approvedBy,omitempty"`
	ApprovedScope Scope  `json:"approvedScope,omitempty"`
}

// CallRepeatParams makes a call again, as a new call of the side panel.
type CallRepeatParams struct {
	// CallID is a recorded call.
	CallID string `json:"callId"`
}

// CallRepeatResult is empty. CallRepeatResult confirms that the new call was made; it may
// still need an approval.
type CallRepeatResult struct{}
