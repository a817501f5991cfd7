package wire

// MaxHistoryCalls is the maximum number of calls in one answer to calls.history.
const MaxHistoryCalls = 200

// CallsHistoryParams requests ended calls, newest first. The server records calls in a file, so the history includes
// calls from before the server's last restart.
type CallsHistoryParams struct {
	// Before is CallsHistoryResult.Next of the previous page; absent to request the newest calls.
	Before string `json:"before,omitempty"`
	// Limit is the maximum number of calls per page, from 1 to MaxHistoryCalls.
	Limit int `json:"limit"`
	// Filter selects recorded calls.
	Filter *CallsFilter `json:"filter,omitempty"`
}

// CallsFilter selects the recorded calls that match all of its fields.
type CallsFilter struct {
	// Tool is the full name of a tool (plugin__tool), or the name of a plugin to select all of
	// the plugin's tools.
	Tool   string `json:"tool,omitempty"`
	Client string `json:"client,omitempty"`
	// Text is a search text that must occur in the tool's name, the client, the site, the error or the arguments, in
	// any case.
	Text string `json:"text,omitempty"`
	// Failed is true to select only calls that failed, timed out or were cancelled.
	Failed bool `json:"failed,omitempty"`
}

// CallsHistoryResult is one page of recorded calls.
type CallsHistoryResult struct {
	// Calls can have fewer elements than CallsHistoryParams.Limit, or none, although older calls match the filter.
	Calls []RecordedCall `json:"calls,omitempty"`
	// Next is the CallsHistoryParams.Before of the next page; absent if no older call exists.
	Next string `json:"next,omitempty"`
}

// RecordedCall is an ended call that the server has recorded in a file.
type RecordedCall struct {
	// Call is the final state of the call, without activities. Call.Args contains no secrets,
	// and is absent if the arguments are too long or if the recording of arguments is off.
	Call CallView `json:"call"`
	// EndedMs is the time at which the call ended, in milliseconds since 1970.
	EndedMs float64 `json:"endedMs"`
	// ArgsIncomplete is true if the recorded arguments omit secrets or long values.
	ArgsIncomplete bool   `json:"argsIncomplete,omitempty"`
	ApprovedBy     string `json:"approvedBy,omitempty"`
	ApprovedScope  Scope  `json:"approvedScope,omitempty"`
}

// CallRepeatParams requests a new call with the tool and arguments of a recorded call.
type CallRepeatParams struct {
	CallID string `json:"callId"`
}

// CallRepeatResult is an empty object that confirms that the server made the new call. If the
// new call needs the user's approval, the server may not have run the call yet.
type CallRepeatResult struct{}

// CallUndoParams requests that the server undo a call. The server calls the tool that the
// plugin's author declared for undoing.
type CallUndoParams struct {
	// CallID names a call with the status "done"; no other call can be undone.
	CallID string `json:"callId"`
}

// CallUndoResult confirms that the server made the undoing call. If the undoing call needs the
// user's approval, the server may not have run the call yet.
type CallUndoResult struct {
	CallID string `json:"callId"`
}
