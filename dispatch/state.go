package dispatch

import (
	"encoding/json"
	"slices"
	"time"

	"opentabs/dispatch/clock"
	"opentabs/wire"
)

// status is the internal status of a call; shownStatus returns the status for users.
type status uint8

// Statuses of a call. The last four statuses are final: after statusSucceeded, statusFailed,
// statusCancelled or statusTimedOut, the status of a call never changes.
const (
	statusNew status = iota
	statusRunning
	statusSuspended
	statusResuming
	statusSucceeded
	statusFailed
	statusCancelled
	statusTimedOut
)

var statusNames = [...]string{"new", "running", "suspended", "resuming", "succeeded", "failed", "cancelled", "timed out"}

func (s status) String() string { return statusNames[s] }

// isTerminal reports whether the status is final, which means that the call has ended.
func (s status) isTerminal() bool { return s >= statusSucceeded }

// nextStatuses lists the possible successors of each status. A call can end without
// running, for example because a gate blocks the call or the client disconnects. A running
// tool can suspend its call, and a gate can suspend a call that is resuming. A final status
// has no successors.
var nextStatuses = [statusTimedOut + 1][]status{
	statusNew:       {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusRunning:   {statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusSuspended: {statusResuming, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusResuming:  {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
}

func (s status) canBecome(t status) bool {
	return slices.Contains(nextStatuses[s], t)
}

// shownStatuses maps each internal status to the status that surfaces show.
var shownStatuses = [...]wire.CallStatus{
	statusNew: wire.StatusPending, statusSuspended: wire.StatusPending, statusRunning: wire.StatusRunning, statusResuming: wire.StatusRunning,
	statusSucceeded: wire.StatusDone, statusFailed: wire.StatusFailed, statusCancelled: wire.StatusCancelled, statusTimedOut: wire.StatusTimedOut,
}

func (s status) shownStatus() wire.CallStatus { return shownStatuses[s] }

// failureStatusOf returns the status of a call that ends with an error: timed out or failed.
func failureStatusOf(err *wire.CallError) status {
	if err.Code.IsTimeout() {
		return statusTimedOut
	}
	return statusFailed
}

// state is the state machine of one call: its status, its times and its outcome.
// liveCall.mu guards all fields of state.
type state struct {
	status       status
	beganAt      time.Time
	endedAt      time.Time
	finalRunTime time.Duration // the time from beganAt to endedAt, without the time in which the call was suspended
	output       json.RawMessage
	err          *wire.CallError
	reason       string // the reason that the canceller gave, or empty
	// note contains the sentences that Options.FailureNote returned for the error err.
	note failureNote
	// isStopSent is true if the page received a request to stop the tool. stopOutcome is
	// the page's answer to the request.
	isStopSent  bool
	stopOutcome StopOutcome
}

// ending is the outcome of a call: its final status and its result or error.
type ending struct {
	status status
	output json.RawMessage
	err    *wire.CallError
	// mustStopPage is true if the page must receive a request to stop the tool, provided
	// that the call has begun.
	mustStopPage bool
	reason       string // the canceller's reason, or empty if none was given
}

// changeStatus changes the status, or returns false if nextStatuses forbids the change.
func (s *state) changeStatus(t status) bool {
	if !s.status.canBecome(t) {
		return false
	}
	s.status = t
	return true
}

// begin changes the status to running and records the time, or returns false if the call
// has ended.
func (s *state) begin() bool {
	if !s.changeStatus(statusRunning) {
		return false
	}
	s.beganAt = time.Now()
	return true
}

// end records the outcome of the call, or returns false if the call had already ended. The
// caller has already stopped the Clock of the call.
func (s *state) end(e ending, note failureNote, c *clock.Clock) bool {
	if !s.status.canBecome(e.status) {
		return false
	}
	s.finalRunTime = s.runTime(c)
	s.isStopSent = e.mustStopPage && s.hasBegun()
	s.status, s.endedAt, s.output, s.err, s.reason, s.note = e.status, time.Now(), e.output, e.err, e.reason, note
	return true
}

// hasBegun reports whether the call has started to run in a page.
func (s *state) hasBegun() bool { return !s.beganAt.IsZero() }

// isInPage reports whether the call has begun to run in a page and has not ended.
func (s *state) isInPage() bool { return s.hasBegun() && !s.status.isTerminal() }

// runTime returns how long the call has run, without the time in which it was suspended.
func (s *state) runTime(c *clock.Clock) time.Duration {
	switch {
	case s.beganAt.IsZero():
		return 0
	case s.endedAt.IsZero():
		return c.Elapsed()
	default:
		return s.finalRunTime
	}
}
