package wire

import "encoding/json"

// ToolDispatchParams asks the browser to run one tool or prompt in one document.
type ToolDispatchParams struct {
	// DispatchID is the ID of the call. Each log line about a call contains the call's
	// DispatchID, both on the server and in the browser.
	DispatchID string `json:"dispatchId"`
	Plugin     string `json:"plugin"`
	Tool       string `json:"tool"`
	// TabID is 0 for a browser tool that needs no tab.
	TabID int `json:"tabId"`
	// DocumentID is the document in which the tool must run, or empty for a browser tool that needs no document. If the
	// tab has navigated from DocumentID to another document, the browser answers with the error "navigated".
	DocumentID string `json:"documentId"`
	// MaxResultBytes is the maximum length of the result, in bytes of UTF-8.
	MaxResultBytes int `json:"maxResultBytes"`
	// IsResent is true if an earlier link may have delivered the same tool.dispatch. If
	// IsResent is true, the browser starts the tool only if DispatchID is new. The error of a
	// resent tool.dispatch never has NotStarted set, because the tool may have started before.
	IsResent bool `json:"again,omitempty"`
	// The field Prompt is true if Tool is the name of a prompt.
	Prompt bool `json:"prompt,omitempty"`
	// The field Trace is true to request the times that the call spends in the parts of the
	// browser. The answer to a traced call contains the times as ToolDispatchResult.Hops or
	// RPCError.Hops.
	Trace bool `json:"trace,omitempty"`
	// Decision is the user's decision about the call, as JSON. The tool reads the decision as
	// context.decision. The field Decision is absent if the call needed no decision.
	Decision json.RawMessage `json:"decision,omitempty"`
	// Args is a JSON object of the tool's arguments.
	Args json.RawMessage `json:"args"`
}

// ToolDispatchResult is the result of a tool or prompt, in Output or in several parts. If the tool returned undefined,
// Output and Parts are absent.
type ToolDispatchResult struct {
	// Output is the tool's result as JSON text, as the page's JSON.stringify returned it.
	Output json.RawMessage `json:"output,omitempty"`
	// Parts is the number of tool.part notifications that the browser sent before the answer.
	Parts int `json:"parts,omitempty"`
	// The field Hops contains the times that the call spent in the parts of the browser. Hops
	// are absent for a browser tool and for a call without tracing.
	Hops *BrowserHops `json:"hops,omitempty"`
}

// ToolPartParams is one part of a tool result that is too large for one frame.
type ToolPartParams struct {
	DispatchID string `json:"dispatchId"`
	// Seq is the index of the part in the result, from 0.
	Seq int `json:"seq"`
	// Text is one section of the JSON text of the tool's result. The complete JSON text of the
	// result consists of the texts of all parts, joined in order.
	Text string `json:"text"`
}

// CancelOutcome is how a tool reacted to its cancellation.
type CancelOutcome string

const (
	// CancelAborted means that the tool's handler stopped because of the cancellation.
	CancelAborted CancelOutcome = "aborted"
	// CancelFinished means that the tool's handler had already returned or thrown.
	CancelFinished CancelOutcome = "finished"
	// CancelIgnored means that the tool's handler still ran after CancelTimeoutMs, or that the
	// page did not answer.
	CancelIgnored CancelOutcome = "ignored"
)

// ToolCancelParams asks the browser to cancel a running tool.
type ToolCancelParams struct {
	DispatchID string `json:"dispatchId"`
	// Reason is a sentence that becomes the reason of the tool's AbortSignal.
	Reason string `json:"reason"`
}

// ToolCancelResult reports how the tool reacted to the cancellation.
type ToolCancelResult struct {
	Outcome CancelOutcome `json:"outcome"`
}

// Report is one progress report of a running tool. All fields of a Report are optional, and
// the server validates them because a page can send anything.
type Report struct {
	Progress *float64 `json:"progress,omitempty"`
	Total    *float64 `json:"total,omitempty"`
	// The field Percent is a number from 0 to 100, an alternative to Progress with a
	// Total of 100.
	Percent *float64 `json:"percent,omitempty"`
	// The field Loaded is an absolute count, such as a number of bytes, that is displayed
	// beside the progress.
	Loaded  *float64 `json:"loaded,omitempty"`
	Message string   `json:"message,omitempty"`
	Status  string   `json:"status,omitempty"`
	// Audience is "user" or "internal". Any value of Audience other than "user" means
	// "internal".
	Audience string `json:"audience,omitempty"`
	// HasInvalidNumber is true if a field of the report was infinite, NaN or of a wrong type.
	// The report omits a number that is infinite or NaN, because JSON can't represent these
	// values.
	HasInvalidNumber bool `json:"invalid,omitempty"`
	// Activity changes content that is displayed beside the progress, such as a table.
	Activity *Activity `json:"activity,omitempty"`
	// EndAudience is the audience of a successful call's result. If no progress report
	// sets EndAudience, the audience is "internal".
	EndAudience string `json:"endAudience,omitempty"`
}

// Activity changes content that a running tool displays beside its progress, such as a table.
// A call has at most one activity of each Type. An Activity has either a Content or a Patch.
type Activity struct {
	// Type is the format of the activity's content: "text", "code", "table", "json", or a type
	// that the plugin defines.
	Type string `json:"type"`
	// Content is the new content of the activity, any JSON value of at most MaxActivityBytes.
	Content json.RawMessage `json:"content,omitempty"`
	// Patch is a JSON Patch (RFC 6902) of the activity's content. If one operation of the
	// patch fails, the content does not change.
	Patch json.RawMessage `json:"patch,omitempty"`
}

// ToolResyncParams requests the full content of an activity after a patch could not be applied
// or reports were lost. In response to tool.resync, the page sends progress reports with the
// last full content of the activity and all later patches.
type ToolResyncParams struct {
	DispatchID string `json:"dispatchId"`
	// ActivityType is the Activity.Type of the requested activity. An empty ActivityType
	// requests all activities of the call.
	ActivityType string `json:"activityType"`
}

// ToolAskParams is a request from a running tool, such as a nested call. A ToolAskParams sets exactly one of the fields
// Call, User and Withdrawn.
//
// The browser sends an unanswered tool.ask again on each new link. The server handles each tool.ask once, even if the
// browser sends the same tool.ask again.
type ToolAskParams struct {
	DispatchID string `json:"dispatchId"`
	// The field Ask is the number of the tool.ask notification within its call, from 1.
	Ask  int      `json:"ask"`
	Call *AskCall `json:"call,omitempty"`
	User *AskUser `json:"user,omitempty"`
	// The field Withdrawn is true if the tool no longer waits for the answer to its
	// tool.ask.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// AskCall is a running tool's request to call another tool.
type AskCall struct {
	// Tool is the bare name of a tool of the calling plugin, or plugin__tool for a tool of
	// another plugin.
	Tool string `json:"tool"`
	// TabID is the tab for the nested call. If TabID is absent, the server chooses a tab,
	// preferably the tab of the calling tool.
	TabID int `json:"tabId,omitempty"`
	// Args is a JSON object of the nested call's arguments.
	Args json.RawMessage `json:"args"`
}

// AskUser is a running tool's request that the user do something, such as log in to the
// site.
type AskUser struct {
	// Reason is a sentence that describes what the user should do.
	Reason string `json:"reason"`
	// Title is a short heading of the request. The field Title is absent if the tool set
	// no title.
	Title string `json:"title,omitempty"`
}

// ToolAnswerParams is the answer to a tool.ask: either an Output or an Error. If the nested call returned undefined,
// Output and Error are absent.
type ToolAnswerParams struct {
	DispatchID string          `json:"dispatchId"`
	Ask        int             `json:"ask"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      *CallError      `json:"error,omitempty"`
}

// ToolAnswerResult confirms that the answer to a tool.ask has reached the page.
type ToolAnswerResult struct {
	// WasExpected is false if no tool in the page waits for the answer to its tool.ask
	// notification.
	WasExpected bool `json:"taken"`
}

// ToolProgressParams contains progress reports of a running tool, oldest first.
type ToolProgressParams struct {
	DispatchID string `json:"dispatchId"`
	// Seq is the number of reports of the call that the browser sent before Reports. The
	// browser resends reports that a lost link may not have delivered, and the server uses Seq
	// to ignore duplicates. If Seq is absent, no report is missing between the previous
	// reports and Reports.
	Seq     *int     `json:"seq,omitempty"`
	Reports []Report `json:"reports,omitempty"`
	// SkippedReports is the number of reports that the page dropped, because its buffer was
	// full, before the reports in Reports.
	SkippedReports int `json:"skipped,omitempty"`
}

// CallResumedParams lists the calls that still run in pages after a reconnection.
type CallResumedParams struct {
	DispatchIDs []string `json:"dispatchIds,omitempty"`
}

// CallCancelParams asks the server to cancel a call.
type CallCancelParams struct {
	CallID string `json:"callId"`
}

// CallCancelResult reports whether a call was cancelled.
type CallCancelResult struct {
	// The field Cancelled is false if the call has ended or does not exist.
	Cancelled bool `json:"cancelled"`
}
