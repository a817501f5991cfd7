package wire

import "encoding/json"

// ErrorCode is a stable, machine-readable reason why a call failed.
type ErrorCode string

const (
	// ErrIdleTimeout means that the tool sent no progress report within the idle limit.
	ErrIdleTimeout ErrorCode = "idle_timeout"
	// ErrDeadlineExceeded means that the call reached the hard limit of its total running
	// time.
	ErrDeadlineExceeded ErrorCode = "deadline_exceeded"
	// ErrCancelled means that the client or the user cancelled the call.
	ErrCancelled ErrorCode = "cancelled"
	// ErrTabClosed means that the tab of the call was closed.
	ErrTabClosed ErrorCode = "tab_closed"
	// ErrNavigated means that the tab of the call navigated to another document.
	ErrNavigated ErrorCode = "navigated"
	// ErrPageCrashed means that the renderer process of the page crashed or was killed.
	ErrPageCrashed ErrorCode = "page_crashed"
	// ErrPageUnresponsive means that the page does not respond, because a script keeps the
	// page busy.
	ErrPageUnresponsive ErrorCode = "page_unresponsive"
	// ErrTabDiscarded means that the browser unloaded the page to save memory.
	ErrTabDiscarded ErrorCode = "tab_discarded"
	// ErrTabFrozen means that the browser suspended the page. No script runs in a frozen page
	// until the user switches to the tab.
	ErrTabFrozen ErrorCode = "tab_frozen"
	// ErrBrowserLost means that the browser restarted or is not connected.
	ErrBrowserLost ErrorCode = "browser_lost"
	// ErrLinkLost means that the browser did not reconnect within the grace period,
	// or lost the call.
	ErrLinkLost ErrorCode = "link_lost"
	// ErrDenied means that the user denied the call, or that a permission forbids the call.
	ErrDenied ErrorCode = "denied"
	// ErrNotReviewed means that the user has not reviewed the plugin.
	ErrNotReviewed ErrorCode = "not_reviewed"
	// ErrRateLimited means that the call exceeds a rate limit of opentabs.
	ErrRateLimited ErrorCode = "rate_limited"
	// ErrNeedsSettings means that the plugin lacks a setting that it requires.
	ErrNeedsSettings ErrorCode = "needs_settings"
	// ErrPluginBroken means that the plugin can't be loaded, or its adapter did not
	// start in the page.
	ErrPluginBroken ErrorCode = "plugin_broken"
	// ErrApprovalTimeout means that the user did not approve or deny the call in time.
	ErrApprovalTimeout ErrorCode = "approval_timeout"
	// ErrInvalidArguments means that the arguments do not match the tool's input
	// schema.
	ErrInvalidArguments ErrorCode = "invalid_arguments"
	// ErrResultTooLarge means that the result exceeds the size limit.
	ErrResultTooLarge ErrorCode = "result_too_large"
	// ErrInvalidResult means that the tool returned a value that JSON can't
	// represent.
	ErrInvalidResult ErrorCode = "invalid_result"
	// ErrToolError means that the tool's handler threw an error. If the error has a code,
	// CallError.Tool contains the code.
	ErrToolError ErrorCode = "tool_error"
	// ErrUnknownTool means that the adapter in the page has no tool with the requested name.
	ErrUnknownTool ErrorCode = "unknown_tool"
	// ErrUnknownPrompt means that the adapter in the page has no prompt with the requested
	// name.
	ErrUnknownPrompt ErrorCode = "unknown_prompt"
	// ErrNestedTooDeep means that nested calls are too deep, too many, or form a
	// cycle.
	ErrNestedTooDeep ErrorCode = "nested_too_deep"
	// ErrNoBrowser means that no browser is connected.
	ErrNoBrowser ErrorCode = "no_browser"
	// ErrNoTab means that no open tab matches the plugin.
	ErrNoTab ErrorCode = "no_tab"
	// ErrAmbiguousTarget means that tabs of several browsers match the plugin, and the call
	// selects none.
	ErrAmbiguousTarget ErrorCode = "ambiguous_target"
	// ErrTabInUse means that another MCP client uses the tab.
	ErrTabInUse ErrorCode = "tab_in_use"
	// ErrTabTaken means that the user has clicked or typed in the tab since the client
	// last read the page.
	ErrTabTaken ErrorCode = "tab_taken"
	// ErrNotReady means that the adapter's isReady() did not return true, most often
	// because the user is not logged in to the site.
	ErrNotReady ErrorCode = "not_ready"
	// ErrUnsafePage means that a script of the page replaced and locked JavaScript
	// built-ins. A page with replaced built-ins could read and change the call.
	ErrUnsafePage ErrorCode = "unsafe_page"
	// ErrPluginUpdated means that a new version of the plugin replaced the version that
	// ran the call.
	ErrPluginUpdated ErrorCode = "plugin_updated"
	// ErrShutdown means that the server is stopping.
	ErrShutdown ErrorCode = "shutdown"
	// ErrInternal means that opentabs has a bug.
	ErrInternal ErrorCode = "internal"
)

// IsTimeout reports whether the call reached one of its time limits.
func (c ErrorCode) IsTimeout() bool {
	return c == ErrIdleTimeout || c == ErrDeadlineExceeded || c == ErrApprovalTimeout
}

// ToolErrorInfo describes an error that a tool's handler threw as a ToolError.
type ToolErrorInfo struct {
	// Code is the error code that the tool chose.
	Code     string `json:"code"`
	Category string `json:"category,omitempty"`
	// The field Retryable is true if a repetition of the call may succeed later.
	Retryable bool `json:"retryable"`
	// RetryAfterMs is how long to wait before a retry, in milliseconds. RetryAfterMs is
	// absent if the tool specified no delay.
	RetryAfterMs *float64 `json:"retryAfterMs,omitempty"`
}

// CallError describes why a call failed. CallError is the data of a JSON-RPC error.
type CallError struct {
	Code ErrorCode `json:"code"`
	// Message describes for the agent why the call failed.
	Message string `json:"message"`
	// UserText is the whole text for the user: what happened and what to do. If Message suits
	// users too, UserText is empty, and surfaces show Message with the next step that Code
	// implies.
	UserText string         `json:"userText,omitempty"`
	Tool     *ToolErrorInfo `json:"tool,omitempty"`
	// NotStarted is true if the tool did not begin, so the call can safely run in
	// another document.
	NotStarted bool `json:"notStarted,omitempty"`
	// PageText is untrusted text from a web page in the error of a browser tool. Message never
	// contains PageText, because an agent must not treat text from a page as instructions.
	PageText string `json:"pageText,omitempty"`
	// The field UntrustedPages contains the pages that PageText quotes. The server sets
	// UntrustedPages; the browser never does.
	UntrustedPages []UntrustedPage `json:"untrusted,omitempty"`
}

// UntrustedPage is a page whose text is quoted in the result or the error of a browser
// tool.
type UntrustedPage struct {
	Origin string `json:"origin"`
	TabID  int    `json:"tab"`
}

// EncodeUntrustedPages encodes pages as JSON: one page as an object, several pages as an
// array. For an empty list of pages, EncodeUntrustedPages returns nil.
func EncodeUntrustedPages(pages []UntrustedPage) json.RawMessage {
	var encoded []byte
	switch len(pages) {
	case 0:
		return nil
	case 1:
		encoded, _ = json.Marshal(pages[0])
	default:
		encoded, _ = json.Marshal(pages)
	}
	return encoded
}

// These constants are JSON-RPC 2.0 error codes (jsonrpc.org/specification, section 5.1).
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCallFailed     = -32000
	CodeVersion        = -32001
)

// RPCError is the member "error" of a JSON-RPC answer.
type RPCError struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *CallError `json:"data,omitempty"`
	// The field Hops contains the times that the failed call spent in the parts of the
	// browser. Hops are absent if the page did not run the call, if the call is not
	// traced, or if the failed request was not a call.
	Hops *BrowserHops `json:"hops,omitempty"`
}

// ErrorCodes returns all error codes in the order of their declaration.
func ErrorCodes() []ErrorCode {
	return []ErrorCode{
		ErrIdleTimeout, ErrDeadlineExceeded, ErrCancelled, ErrTabClosed, ErrNavigated,
		ErrPageCrashed, ErrPageUnresponsive, ErrTabDiscarded, ErrTabFrozen, ErrBrowserLost, ErrLinkLost,
		ErrDenied, ErrNotReviewed, ErrRateLimited, ErrNeedsSettings, ErrPluginBroken, ErrApprovalTimeout,
		ErrInvalidArguments, ErrResultTooLarge, ErrInvalidResult, ErrToolError,
		ErrUnknownTool, ErrUnknownPrompt, ErrNestedTooDeep, ErrNoBrowser, ErrNoTab, ErrAmbiguousTarget, ErrTabInUse, ErrTabTaken,
		ErrNotReady, ErrUnsafePage, ErrPluginUpdated, ErrShutdown, ErrInternal,
	}
}
