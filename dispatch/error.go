package dispatch

import (
	"time"

	"opentabs/wire"
)

// Error is the error of a failed call. The text of an Error is for the agent: what
// happened, how long the call ran, when the tool last reported, and what to do next.
type Error struct {
	Code wire.ErrorCode
	// Message is the complete error text for the agent.
	Message string
	// Cause is the part of Message that describes what happened, without the error code, the
	// run time and the advice.
	Cause string
	// PageText is untrusted text from a web page that Message ends with, or empty. Cause never contains PageText.
	PageText string
	// The field UntrustedPages contains the web pages that PageText quotes.
	UntrustedPages []wire.UntrustedPage
	// UserText is the error text for the user, or empty if Message suits both agents and users.
	UserText string
	CallID   string
	// ToolError describes the ToolError that the tool's handler threw, or is nil.
	ToolError *wire.ToolErrorInfo
	// The field Retryable is true if a repetition of the call may succeed later.
	Retryable bool
	// MayHaveActed is false only if the tool's handler certainly did not run.
	MayHaveActed bool
	// RunTime is how long the call ran, or 0 if the call never began.
	RunTime time.Duration
	// ReportCount is the number of progress reports. SinceLastReport is the time from the last
	// report to the end of the call, and is meaningless if ReportCount is 0.
	ReportCount     int
	SinceLastReport time.Duration
	// StopOutcome is whether the tool stopped, as the page reported. StopOutcome is empty if
	// the page received no request to stop the tool, or has not answered yet.
	StopOutcome StopOutcome
}

// Error returns Message, which is the error text for the agent.
func (e *Error) Error() string { return e.Message }
