package wire

// ErrorCode is a stable, machine-readable reason why a call failed.
type ErrorCode string

const (
	ErrIdleTimeout      ErrorCode = "idle_timeout"
	ErrDeadlineExceeded ErrorCode = "deadline_exceeded"
	ErrCancelled        ErrorCode = "cancelled"
	ErrTabClosed        ErrorCode = "tab_closed"
	ErrNavigated        ErrorCode = "navigated"
	// ErrPageCrashed says that the process of the page was lost.
	ErrPageCrashed ErrorCode = "page_crashed"
	// ErrPageUnresponsive says that a script occupies the page, so that it does not
	// answer.
	ErrPageUnresponsive ErrorCode = "page_unresponsive"
	// ErrTabDiscarded says that the browser unloaded the page to save memory.
	ErrTabDiscarded ErrorCode = "tab_discarded"
	// ErrTabFrozen says that the browser has suspended the page: nothing runs in
	// it until the user shows the tab.
	ErrTabFrozen   ErrorCode = "tab_frozen"
	ErrBrowserLost ErrorCode = "browser_lost"
	ErrLinkLost    ErrorCode = "link_lost"
	ErrDenied      ErrorCode = "denied"
	ErrNotReviewed ErrorCode = "not_reviewed"
	ErrRateLimited ErrorCode = "rate_limited"
	// ErrNeedsSettings says that the plugin lacks a setting which it requires.
	ErrNeedsSettings ErrorCode = "needs_settings"
	// ErrPluginBroken says that the plugin can't be loaded, or that its adapter did
	// not start in the page.
	ErrPluginBroken ErrorCode = "plugin_broken"
	// ErrApprovalTimeout says that no person decided in time.
	ErrApprovalTimeout  ErrorCode = "approval_timeout"
	ErrInvalidArguments ErrorCode = "invalid_arguments"
	ErrResultTooLarge   ErrorCode = "result_too_large"
	// ErrInvalidResult says that the tool returned what JSON cannot carry.
	ErrInvalidResult ErrorCode = "invalid_result"
	// ErrToolError says that the tool's handler threw; CallError.Tool has the
	// tool's own code if it gave one.
	ErrToolError ErrorCode = "tool_error"
	// ErrUnknownTool says that the adapter in the page has no such tool.
	ErrUnknownTool ErrorCode = "unknown_tool"
	// ErrUnknownPrompt says that the adapter in the page has no such prompt.
	ErrUnknownPrompt ErrorCode = "unknown_prompt"
	// ErrNestedTooDeep says that tools call each other too deep, too often, or in
	// a loop.
	ErrNestedTooDeep ErrorCode = "nested_too_deep"
	// ErrNoBrowser says that no browser is connected.
	ErrNoBrowser ErrorCode = "no_browser"
	// ErrNoTab says that no open tab matches the plugin.
	ErrNoTab ErrorCode = "no_tab"
	// ErrAmbiguousTarget says that tabs of several browsers match and none was
	// named.
	ErrAmbiguousTarget ErrorCode = "ambiguous_target"
	// ErrNotReady says that the adapter's isReady() was not true, most often
	// because the person is not logged in.
	ErrNotReady ErrorCode = "not_ready"
	// ErrUnsafePage says that a script of the page has replaced built-ins of the
	// language and locked them, so that it could read and change the call.
	ErrUnsafePage ErrorCode = "unsafe_page"
	// ErrPluginUpdated says that a new version of the plugin took the place of the
	// one that the call ran in.
	ErrPluginUpdated ErrorCode = "plugin_updated"
	// ErrShutdown says that the server is stopping.
	ErrShutdown ErrorCode = "shutdown"
	// ErrInternal is a fault of opentabs itself.
	ErrInternal ErrorCode = "internal"
)

// ToolErrorInfo is what a tool's handler said when it threw a ToolError.
type ToolErrorInfo struct {
	// Code is the tool's own code.
	Code     string `json:"code"`
	Category string `json:"category,omitempty"`
	// Retryable says whether the same call may work later.
	Retryable bool `json:"retryable"`
	// RetryAfterMs is in milliseconds; absent if the tool gave none.
	RetryAfterMs *float64 `json:"retryAfterMs,omitempty"`
}

// CallError is why a call failed, as a browser tells it; it travels as the
// data of a JSON-RPC error.
type CallError struct {
	Code    ErrorCode      `json:"code"`
	Message string         `json:"message"`
	Tool    *ToolErrorInfo `json:"tool,omitempty"`
	// NotStarted says that the tool did not begin, so that the call may safely
	// be tried in another document.
	NotStarted bool `json:"notStarted,omitempty"`
}

// JSON-RPC 2.0 error codes that are used here (jsonrpc.org/specification,
// section 5.1); CodeCallFailed is ours, from the range kept for servers.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCallFailed     = -32000
	CodeVersion        = -32001
)

// RPCError is the error member of a frame.
type RPCError struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *CallError `json:"data,omitempty"`
}

// ErrorCodes returns every code, in the order of this file.
func ErrorCodes() []ErrorCode {
	return []ErrorCode{
		ErrIdleTimeout, ErrDeadlineExceeded, ErrCancelled, ErrTabClosed, ErrNavigated,
		ErrPageCrashed, ErrPageUnresponsive, ErrTabDiscarded, ErrTabFrozen, ErrBrowserLost, ErrLinkLost,
		ErrDenied, ErrNotReviewed, ErrRateLimited, ErrNeedsSettings, ErrPluginBroken, ErrApprovalTimeout, ErrInvalidArguments, ErrResultTooLarge, ErrInvalidResult, ErrToolError,
		ErrUnknownTool, ErrUnknownPrompt, ErrNestedTooDeep, ErrNoBrowser, ErrNoTab, ErrAmbiguousTarget, ErrNotReady, ErrUnsafePage, ErrPluginUpdated, ErrShutdown, ErrInternal,
	}
}
