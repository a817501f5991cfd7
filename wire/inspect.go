package wire

// CallInspectParams requests how the time of a call was spent, and why the call failed.
type CallInspectParams struct {
	// CallID identifies a call in the server's memory or in the file of recorded calls.
	CallID string `json:"callId"`
}

// CallInspectResult contains the details of an ended call. The side panel loads the details of
// a call when the user expands the call.
type CallInspectResult struct {
	// The field Phases contains the successive parts of the call's duration, such as
	// waiting and running.
	Phases []CallPhase `json:"phases,omitempty"`
	// HasTrace is true if opentabs measured the time in each process that handled the
	// call. If HasTrace is false, Phases contains only the waiting time and the running
	// time.
	HasTrace bool `json:"traced,omitempty"`
	// TraceID is the ID of the call's OpenTelemetry trace. TraceID is absent if the call has
	// no trace.
	TraceID string `json:"traceId,omitempty"`
	// Failure contains what the plugin's author needs to find the cause of a failed call.
	// The field Failure is absent for a browser tool and for a call that did not fail.
	Failure *CallFailure `json:"failure,omitempty"`
	// The field Undo describes the attempt to undo the call. The field Undo is absent if
	// no client or user tried to undo the call.
	Undo *CallUndo `json:"undo,omitempty"`
}

// CallUndo describes a call that undoes an earlier call.
type CallUndo struct {
	State UndoState `json:"state"`
	// The field By is the ID of the undoing call.
	By string `json:"by"`
}

// UndoState is the state of an attempt to undo a call.
type UndoState string

// These constants are the states of an attempt to undo a call.
const (
	// UndoStarted means that the undoing call has not ended.
	UndoStarted UndoState = "started"
	// UndoDone means that the call has been undone.
	UndoDone UndoState = "undone"
	// UndoUnknown means that the result of the undoing call did not arrive, so it is unknown
	// whether the call has been undone.
	UndoUnknown UndoState = "unknown"
)

// CallPhase is one part of a call's duration, such as waiting or running.
type CallPhase struct {
	Name string `json:"name"`
	// StartMs is when the phase began, in milliseconds after the call arrived.
	StartMs float64 `json:"startMs"`
	Ms      float64 `json:"ms"`
}

// CallFailure is what the plugin's author needs to find the cause of a failed call.
type CallFailure struct {
	// Stack lists the stack frames in the author's code, innermost first, such as
	// "exportMessages (src/tools/export.ts:31:11)".
	Stack []string `json:"stack,omitempty"`
	// The field Hints contains sentences of advice for the plugin's author about common
	// mistakes.
	Hints []string `json:"hints,omitempty"`
	// The field Log contains the plugin's last log entries in the call's tab while the call
	// ran, oldest first.
	Log []CallLogEntry `json:"log,omitempty"`
}

// CallLogEntry is one entry of a plugin's log in the details of a call.
type CallLogEntry struct {
	// AtMs is when the server received the log entry, in milliseconds since 1970.
	AtMs    float64  `json:"atMs"`
	Level   LogLevel `json:"level"`
	Message string   `json:"message"`
}
