package wire

import "encoding/json"

// ToolDispatchParams runs one tool in one document.
type ToolDispatchParams struct {
	// DispatchID is the call's id; it stands in every log line on both sides.
	DispatchID string `json:"dispatchId"`
	Plugin     string `json:"plugin"`
	Tool       string `json:"tool"`
	TabID      int    `json:"tabId"`
	// DocumentID is the document the server chose; the browser answers
	// "navigated" if the tab shows another one.
	DocumentID string `json:"documentId"`
	// MaxResultBytes is the largest result text the page may send, in bytes of
	// UTF-8.
	MaxResultBytes int `json:"maxResultBytes"`
	// Again says that the frame was sent before on a link that was lost, so that
	// it may have arrived: the browser runs it only if it does not know the id,
	// and does not say notStarted.
	Again bool `json:"again,omitempty"`
	// Args are the tool's arguments, a JSON object.
	Args json.RawMessage `json:"args"`
}

// ToolDispatchResult is what the tool returned. Exactly one of Output and
// Parts is set, but for a tool that returned undefined, where neither is.
type ToolDispatchResult struct {
	// Output is the tool's result as the page's JSON.stringify wrote it.
	Output json.RawMessage `json:"output,omitempty"`
	// Parts is how many tool.part notifications went ahead of this answer.
	Parts int `json:"parts,omitempty"`
}

// ToolPartParams is one part of a large result.
type ToolPartParams struct {
	DispatchID string `json:"dispatchId"`
	// Seq counts the parts of one result from 0.
	Seq int `json:"seq"`
	// Text is a piece of the result's JSON text; the pieces in order are the
	// whole text.
	Text string `json:"text"`
}

// CancelOutcome is how a page answered tool.cancel.
type CancelOutcome string

const (
	// CancelAborted says that the handler settled because of the cancel.
	CancelAborted CancelOutcome = "aborted"
	// CancelFinished says that the handler had settled before.
	CancelFinished CancelOutcome = "finished"
	// CancelIgnored says that the handler was still running CancelAnswerMs
	// after it was told to stop, or that nobody answered for it.
	CancelIgnored CancelOutcome = "ignored"
)

// ToolCancelParams stops a running tool.
type ToolCancelParams struct {
	DispatchID string `json:"dispatchId"`
	// Reason is the sentence that the page's AbortSignal carries.
	Reason string `json:"reason"`
}

// ToolCancelResult tells how the stop went.
type ToolCancelResult struct {
	Outcome CancelOutcome `json:"outcome"`
}

// Report is one report of a running tool, as the page made it. Every field may
// be absent; the server applies the rules (design section 6).
type Report struct {
	Progress *float64 `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	// Percent is from 0 to 100, short for progress with a total of 100.
	Percent *float64 `json:"percent,omitempty"`
	// Loaded is an absolute count beside progress.
	Loaded  *float64 `json:"loaded,omitempty"`
	Message string   `json:"message,omitempty"`
	Status  string   `json:"status,omitempty"`
	// Audience is "internal" (also when absent), "user", or a later value.
	Audience string `json:"audience,omitempty"`
	// Invalid says that a number was not finite or not a number at all, which
	// JSON cannot carry; the field itself is absent.
	Invalid bool `json:"invalid,omitempty"`
}

// ToolProgressParams brings reports in the order they were made.
type ToolProgressParams struct {
	DispatchID string `json:"dispatchId"`
	// Seq is how many reports of this call were sent before these. Those that
	// may have been lost with a link are sent again, and the server takes none
	// twice. Absent means right after the last ones.
	Seq     *int     `json:"seq,omitempty"`
	Reports []Report `json:"reports,omitempty"`
	// Skipped counts reports that the page made before these and did not send,
	// because a flood had filled its buffer.
	Skipped int `json:"skipped,omitempty"`
}

// CallResumedParams names calls that still run in pages.
type CallResumedParams struct {
	DispatchIDs []string `json:"dispatchIds,omitempty"`
}

// CallCancelParams asks the server to cancel a call.
type CallCancelParams struct {
	CallID string `json:"callId"`
}

// CallCancelResult tells whether there was a call to cancel.
type CallCancelResult struct {
	// Cancelled is false if the call had ended or is not known.
	Cancelled bool `json:"cancelled"`
}
