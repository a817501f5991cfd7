package dispatch

import (
	"time"

	"opentabs/wire"
)

// Error is why a call failed. Its text is for the person or agent that made
// the call: what happened, how long it ran, when it last reported, what to do.
type Error struct {
	Code wire.ErrorCode
	// Message is the whole text.
	Message string
	// ForUser is what a user reads in place of Message; empty if that is fit for
	// both.
	ForUser string
	// CallID is empty if the call never began.
	CallID string
	// Tool is set if the tool's handler threw a ToolError.
	Tool *wire.ToolErrorInfo
	// Retryable says whether the same call may work when made again.
	Retryable bool
	// Ran is the time since Running began, 0 if it never did.
	Ran time.Duration
	// Reports counts the reports that came, SinceReport is the time from the
	// last one to the ending; it means nothing if Reports is 0.
	Reports     int
	SinceReport time.Duration
	// Stopped is how the page answered the stop; empty if it was not told or
	// has not answered yet.
	Stopped Stopped
}

// Error returns the text for the agent.
func (e *Error) Error() string { return e.Message }
