package wire

// MaxHistoryCalls is the maximum number of calls in one answer to calls.history.
const MaxHistoryCalls = 200

// CallsHistoryParams requests ended calls, newest first. The server records calls in a file, so the history includes
// calls from before the server's last restart.
type CallsHistoryParams struct {
	// The field Before is CallsHistoryResult.Next of the previous page. If Before is
	// absent, the browser requests the first page, which begins with the newest call.
	Before string `json:"before,omitempty"`
	// Limit is the maximum number of calls per page, from 1 to MaxHistoryCalls.
	Limit int `json:"limit"`
	// Filter selects recorded calls. Without a Filter, the browser requests all recorded
	// calls.
	Filter *CallsFilter `json:"filter,omitempty"`
}

// CallsFilter selects the recorded calls that match all of its fields. An empty field of
// the filter matches every call.
type CallsFilter struct {
	// Tool is the full name of a tool (plugin__tool), or the name of a plugin to select all of
	// the plugin's tools.
	Tool string `json:"tool,omitempty"`
	// Client is the name of the client that made the calls.
	Client string `json:"client,omitempty"`
	// Text is a search text that must occur in the tool's name, the client, the site, the
	// error or the arguments. The search for Text ignores case.
	Text string `json:"text,omitempty"`
	// The field OnlyFailed is true to select only calls that failed, timed out or were
	// cancelled.
	OnlyFailed bool `json:"failed,omitempty"`
}

// CallsHistoryResult is one page of recorded calls.
type CallsHistoryResult struct {
	// Calls contains at most CallsHistoryParams.Limit recorded calls. The server may return
	// fewer calls than CallsHistoryParams.Limit, or none, although older calls match the
	// filter.
	Calls []RecordedCall `json:"calls,omitempty"`
	// The field Next is the cursor that requests the next page, as
	// CallsHistoryParams.Before. The field Next is absent if no older call exists.
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
	ArgsIncomplete bool `json:"argsIncomplete,omitempty"`
	// ApprovedBy is the surface on which the user approved the call. ApprovedScope is the
	// scope of the user's approval, such as one session.
	ApprovedBy    string `json:"approvedBy,omitempty"`
	ApprovedScope Scope  `json:"approvedScope,omitempty"`
}

// CallRepeatParams requests a new call with the tool and arguments of a recorded call.
type CallRepeatParams struct {
	// CallID is the ID of the recorded call to repeat.
	CallID string `json:"callId"`
}

// CallRepeatResult is an empty object that confirms that the server made the new call. If the
// new call needs the user's approval, the server may not have run the call yet.
type CallRepeatResult struct{}

// CallUndoParams requests that the server undo a call. The server calls the tool that the
// plugin's author declared for undoing.
type CallUndoParams struct {
	// CallID is the ID of the call to undo. Only a call with the status "done" can be undone.
	CallID string `json:"callId"`
}

// CallUndoResult confirms that the server made the undoing call. If the undoing call needs the
// user's approval, the server may not have run the call yet.
type CallUndoResult struct {
	// CallID is the ID of the undoing call.
	CallID string `json:"callId"`
}
