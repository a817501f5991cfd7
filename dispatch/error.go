package dispatch

import (
	"time"

	"opentabs/wire"
)

// Error is the error of a failed call. The text of Error is for the agent: what
// happened, how long the call ran, when it last reported, what to do next.
type Error struct {
	Code wire.ErrorCode
	// Message is the whole text.
	Message string
	// ForUser is the text for a user; empty if Message is fit for agents and users.
	ForUser string
	// CallID is the ID of the call.
	CallID string
	// Tool is set if the tool's handler threw a ToolError.
	Tool *wire.ToolErrorInfo
	// Retryable reports whether the same call may succeed later.
	Retryable bool
	// Ran is how long the call ran, 0 if it never began.
	Ran time.Duration
	// Reports counts the reports. SinceReport is the time from the last report to the
	// end; it is meaningless if Reports is 0.
	Reports     int
	SinceReport time.Duration
	// Stopped is the page's answer to the stop; empty if it received none or has not
	// answered yet.
	Stopped Stopped
}

// Error returns the text for the agent.
func (e *Error) Error() string { return e.Message }
