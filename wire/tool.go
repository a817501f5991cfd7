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
	// Prompt says that Tool names a prompt of the adapter, not a tool.
	Prompt bool `json:"prompt,omitempty"`
	// Decision is what a person decided before the tool ran, for a tool that
	// wants to know (context.decision): JSON, absent if nobody was asked.
	Decision json.RawMessage `json:"decision,omitempty"`
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
	// Activity is a change of what the tool shows beside its progress.
	Activity *Activity `json:"activity,omitempty"`
	// EndAudience says for whom the end of the call is if it succeeds; "internal"
	// unless a report said otherwise.
	EndAudience string `json:"endAudience,omitempty"`
}

// Activity is free-form state that a running tool shows beside its progress, one
// for each type. Exactly one of Content and Patch is set.
type Activity struct {
	// Type says how a surface draws the content: "text", "code", "table", "json",
	// or the plugin's own.
	Type string `json:"type"`
	// Content replaces what was there: any JSON value, at most MaxActivityBytes.
	Content json.RawMessage `json:"content,omitempty"`
	// Patch changes what was there: an array of operations (RFC 6902), applied
	// whole or not at all.
	Patch json.RawMessage `json:"patch,omitempty"`
}

// ToolResyncParams asks the page to send an activity anew, because a patch of
// it did not apply or reports were lost: its last content and the patches since,
// as new reports.
type ToolResyncParams struct {
	DispatchID string `json:"dispatchId"`
	// ActivityType is empty for all activities of the call.
	ActivityType string `json:"activityType"`
}

// ToolAskParams is what a running tool asks the server for. Exactly one of Call,
// User and Withdrawn is set. The browser sends it again on every new connection
// until it has the answer; the server takes none twice.
type ToolAskParams struct {
	DispatchID string `json:"dispatchId"`
	// Ask counts the asks of one call from 1.
	Ask  int      `json:"ask"`
	Call *AskCall `json:"call,omitempty"`
	User *AskUser `json:"user,omitempty"`
	// Withdrawn says that the tool does not wait for this ask any more.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// AskCall is a tool that a running tool wants to call.
type AskCall struct {
	// Tool is the name of a tool of the same plugin, or <plugin>__<tool>.
	Tool string `json:"tool"`
	// TabID is the tab it should run in; absent leaves the choice to the server,
	// which prefers the caller's own.
	TabID int `json:"tabId,omitempty"`
	// Args is a JSON object.
	Args json.RawMessage `json:"args"`
}

// AskUser is what a running tool waits for a person for.
type AskUser struct {
	// Reason is a sentence: what the person should do.
	Reason string `json:"reason"`
	// Title is a few words; absent if the tool gave none.
	Title string `json:"title,omitempty"`
}

// ToolAnswerParams answers an ask. At most one of Output and Error is set;
// neither means undefined.
type ToolAnswerParams struct {
	DispatchID string          `json:"dispatchId"`
	Ask        int             `json:"ask"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      *CallError      `json:"error,omitempty"`
}

// ToolAnswerResult confirms an answer once it is in the page's bridge.
type ToolAnswerResult struct {
	// Taken is false if nothing waits for it (any more).
	Taken bool `json:"taken"`
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
