package dispatch

import (
	"time"

	"opentabs/wire"
)

// Error is the error of a failed call. The text of an Error is for the agent: what
// happened, how long the call ran, the time of the last report, and the next step.
type Error struct {
	Code wire.ErrorCode
	// Message is the whole text for the agent.
	Message string
	// Cause is what happened, without the code, the run time and the advice of Message.
	Cause string
	// PageText is untrusted text of the page in Message; "" if Message contains no such
	// text. PageText is at the end of Message and not in Cause.
	PageText string
	// Untrusted are the pages that PageText quotes.
	Untrusted []wire.UntrustedPage
	// UserText is the error text for the user; "" if Message is for agents and users.
	UserText string
	CallID   string
	// ToolError is set if the tool's handler threw a ToolError.
	ToolError *wire.ToolErrorInfo
	// Retryable reports whether a repetition of the call may succeed later.
	Retryable bool
	// MayHaveActed is false if the handler of the tool certainly did not run.
	MayHaveActed bool
	// RunTime is how long the call ran, 0 if it never began.
	RunTime time.Duration
	// ReportCount counts the reports of the tool. SinceLastReport is the time from the
	// last report to the end, and has no meaning if ReportCount is 0.
	ReportCount     int
	SinceLastReport time.Duration
	// StopOutcome is the page's answer to the stop; empty if the page received no stop
	// or has not answered yet.
	StopOutcome StopOutcome
}

// Error returns the text for the agent.
func (e *Error) Error() string { return e.Message }
