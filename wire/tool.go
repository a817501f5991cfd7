package wire

import "encoding/json"

// ToolDispatchParams runs one tool or prompt in one document.
type ToolDispatchParams struct {
	// DispatchID is the ID of the call. All log lines about a call contain its
	// DispatchID, on the server and in the browser.
	DispatchID string `json:"dispatchId"`
	Plugin     string `json:"plugin"`
	Tool       string `json:"tool"`
	// TabID is 0 for a browser tool that needs no tab.
	TabID int `json:"tabId"`
	// DocumentID is the document in which the server wants to run the tool. If the
	// tab has another document, the browser answers with the error "navigated".
	// DocumentID is empty for a browser tool that needs no document.
	DocumentID string `json:"documentId"`
	// MaxResultBytes is the maximum length of the result, in bytes of UTF-8.
	MaxResultBytes int `json:"maxResultBytes"`
	// IsResent is true if an earlier link may have delivered the same tool.dispatch. If
	// IsResent is true, the browser starts the tool only if the ID is new, and never
	// answers with NotStarted.
	IsResent bool `json:"again,omitempty"`
	// Prompt is true if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Trace is true if the answer must contain the Hops of the call.
	Trace bool `json:"trace,omitempty"`
	// Decision is the user's decision before the tool ran, as JSON (context.decision).
	// Decision is absent if the call needed no decision.
	Decision json.RawMessage `json:"decision,omitempty"`
	// Args are the arguments of the tool, a JSON object.
	Args json.RawMessage `json:"args"`
}

// ToolDispatchResult is the result of a tool or prompt. Exactly one of Output and
// Parts is set; both are absent if the tool returned undefined.
type ToolDispatchResult struct {
	// Output is the result, in the JSON text that the page's JSON.stringify wrote.
	Output json.RawMessage `json:"output,omitempty"`
	// Parts is the number of tool.part notifications that preceded the answer.
	Parts int `json:"parts,omitempty"`
	// Hops are the times of a traced call in the browser. Hops are absent for a call that
	// is not traced, and for a browser tool.
	Hops *BrowserHops `json:"hops,omitempty"`
}

// ToolPartParams is one part of a large result.
type ToolPartParams struct {
	DispatchID string `json:"dispatchId"`
	// Seq is the index of the part in the result, from 0.
	Seq int `json:"seq"`
	// Text is a slice of the result's JSON text. Joined in order, the slices of all
	// parts are the whole text.
	Text string `json:"text"`
}

// CancelOutcome is what a cancelled tool did.
type CancelOutcome string

const (
	// CancelAborted means that the handler stopped because of the cancellation.
	CancelAborted CancelOutcome = "aborted"
	// CancelFinished means that the handler had already returned or thrown.
	CancelFinished CancelOutcome = "finished"
	// CancelIgnored means that the handler still ran after CancelTimeoutMs, or that
	// the page did not answer.
	CancelIgnored CancelOutcome = "ignored"
)

// ToolCancelParams cancels a running tool.
type ToolCancelParams struct {
	DispatchID string `json:"dispatchId"`
	// Reason is the sentence that the tool gets as the reason of its AbortSignal.
	Reason string `json:"reason"`
}

// ToolCancelResult reports the outcome of a cancellation.
type ToolCancelResult struct {
	Outcome CancelOutcome `json:"outcome"`
}

// Report is one progress report of a running tool. All fields of a Report are optional.
// The server validates the fields of a Report, because a page can send anything.
type Report struct {
	Progress *float64 `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	// Percent is from 0 to 100. Percent is an alternative to Progress with a Total of
	// 100.
	Percent *float64 `json:"percent,omitempty"`
	// Loaded is an absolute count that is displayed beside the progress.
	Loaded  *float64 `json:"loaded,omitempty"`
	Message string   `json:"message,omitempty"`
	Status  string   `json:"status,omitempty"`
	// Audience is "user" or "internal". A missing or unknown Audience means "internal".
	Audience string `json:"audience,omitempty"`
	// HasInvalidNumber is true if a field had an infinite number, NaN or a value of a wrong
	// type. An invalid report lacks the invalid number, because JSON can't represent
	// infinity and NaN.
	HasInvalidNumber bool `json:"invalid,omitempty"`
	// Activity is a change of content that is displayed beside the progress.
	Activity *Activity `json:"activity,omitempty"`
	// EndAudience is the audience of the call's result if the call succeeds.
	// EndAudience is "internal" unless a report sets EndAudience.
	EndAudience string `json:"endAudience,omitempty"`
}

// Activity changes the content that a running tool displays beside its progress. A call
// has one content for each Type of activity. Exactly one of Content and Patch is set.
type Activity struct {
	// Type is the format of the content: "text", "code", "table", "json", or a type
	// that the plugin defines.
	Type string `json:"type"`
	// Content is the new content, any JSON value of at most MaxActivityBytes.
	Content json.RawMessage `json:"content,omitempty"`
	// Patch is a JSON Patch of the content (RFC 6902), a JSON array, and applies
	// completely or not at all.
	Patch json.RawMessage `json:"patch,omitempty"`
}

// ToolResyncParams requests an activity again, because a patch did not apply or reports
// were lost. The page answers a tool.resync with new reports: the last content of the
// activity and all later patches.
type ToolResyncParams struct {
	DispatchID string `json:"dispatchId"`
	// ActivityType is the Type of the activity. If ActivityType is empty, all
	// activities are requested.
	ActivityType string `json:"activityType"`
}

// ToolAskParams is a request of a running tool. Exactly one of Call, User and
// Withdrawn is set.
//
// The browser sends an unanswered tool.ask again on each new link. The server handles
// each tool.ask once, even if the browser repeats the tool.ask.
type ToolAskParams struct {
	DispatchID string `json:"dispatchId"`
	// Ask is the number of the tool.ask in its call, from 1.
	Ask  int      `json:"ask"`
	Call *AskCall `json:"call,omitempty"`
	User *AskUser `json:"user,omitempty"`
	// Withdrawn is true if the tool no longer waits for the answer.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// AskCall requests a nested call.
type AskCall struct {
	// Tool is the name of a tool of the calling plugin, or plugin__tool for a tool of
	// another plugin.
	Tool string `json:"tool"`
	// TabID is the tab for the nested call. If TabID is absent, the server chooses a
	// tab and prefers the tab of the calling tool.
	TabID int `json:"tabId,omitempty"`
	// Args are the arguments of the nested call, a JSON object.
	Args json.RawMessage `json:"args"`
}

// AskUser requests an action of the user, such as to log in to the site.
type AskUser struct {
	// Reason is a sentence that describes what the user should do.
	Reason string `json:"reason"`
	// Title is a short heading. Title is absent if the tool gave no heading.
	Title string `json:"title,omitempty"`
}

// ToolAnswerParams is the answer to a tool.ask. At most one of Output and Error is
// set; both are absent if the result is undefined.
type ToolAnswerParams struct {
	DispatchID string          `json:"dispatchId"`
	Ask        int             `json:"ask"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      *CallError      `json:"error,omitempty"`
}

// ToolAnswerResult confirms that an answer has reached the page.
type ToolAnswerResult struct {
	// WasExpected is false if no tool in the page waits for the answer.
	WasExpected bool `json:"taken"`
}

// ToolProgressParams has reports of a running tool, oldest first.
type ToolProgressParams struct {
	DispatchID string `json:"dispatchId"`
	// Seq is the number of reports that the browser sent before the reports in Reports.
	// The browser repeats reports that a lost link may not have delivered, and the
	// server uses Seq to ignore repeated reports. If Seq is absent, the reports follow
	// the previous reports.
	Seq     *int     `json:"seq,omitempty"`
	Reports []Report `json:"reports,omitempty"`
	// SkippedReports is the number of reports that were dropped before the reports in
	// Reports, because the page's buffer was full.
	SkippedReports int `json:"skipped,omitempty"`
}

// CallResumedParams lists the calls that still run in pages.
type CallResumedParams struct {
	DispatchIDs []string `json:"dispatchIds,omitempty"`
}

// CallCancelParams identifies the call to cancel.
type CallCancelParams struct {
	CallID string `json:"callId"`
}

// CallCancelResult reports whether a call was cancelled.
type CallCancelResult struct {
	// Cancelled is false if the call has ended or does not exist.
	Cancelled bool `json:"cancelled"`
}
