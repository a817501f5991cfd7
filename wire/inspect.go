package wire

// CallInspectParams requests where the time of a call went, and why the call failed.
type CallInspectParams struct {
	// CallID is a call in the server's memory or a recorded call.
	CallID string `json:"callId"`
}

// CallInspectResult is what the side panel loads when the user opens the parts of a call
// that has ended.
type CallInspectResult struct {
	// Phases are the parts of the time of the call, in order.
	Phases []CallPhase `json:"phases,omitempty"`
	// HasTrace is true if the times at all stations are known. Without a trace, only the
	// waits and the run are known.
	HasTrace bool `json:"traced,omitempty"`
	// TraceID is the ID of the call's trace in OpenTelemetry; absent if there is none.
	TraceID string `json:"traceId,omitempty"`
	// Failure is what the author of the plugin needs; absent for a call that did not fail,
	// and for a browser tool.
	Failure *CallFailure `json:"failure,omitempty"`
	// Undo is absent for a call that no other call undoes, has undone or may have undone.
	Undo *CallUndo `json:"undo,omitempty"`
}

// CallUndo is another call that undoes a call.
type CallUndo struct {
	State UndoState `json:"state"`
	// By is the ID of the other call.
	By string `json:"by"`
}

// UndoState is how far another call has undone a call.
type UndoState string

// These are the states of an undo.
const (
	// UndoStarted: the other call has not ended.
	UndoStarted UndoState = "started"
	// UndoDone: the other call has undone the call.
	UndoDone UndoState = "undone"
	// UndoUnknown: the result of the other call did not arrive, so it may have acted.
	UndoUnknown UndoState = "unknown"
)

// CallPhase is a part of the time of a call, in milliseconds.
type CallPhase struct {
	Name string `json:"name"`
	// StartMs is the time since the call arrived.
	StartMs float64 `json:"startMs"`
	Ms      float64 `json:"ms"`
}

// CallFailure is what the log of a plugin has about a failed call.
type CallFailure struct {
	// Stack is the frames of the author's code, the innermost first, such as
	// "exportMessages (src/tools/export.ts:31:11)".
	Stack []string `json:"stack,omitempty"`
	// Hints is advice about usual mistakes of authors.
	Hints []string `json:"hints,omitempty"`
	// Log is the last entries of the plugin in the tab while the call ran, oldest first.
	Log []CallLogEntry `json:"log,omitempty"`
}

// CallLogEntry is one entry of a plugin's log.
type CallLogEntry struct {
	// AtMs is when the server received the entry, in milliseconds since 1970.
	AtMs    float64  `json:"atMs"`
	Level   LogLevel `json:"level"`
	Message string   `json:"message"`
}
