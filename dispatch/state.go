package dispatch

import (
	"encoding/json"
	"slices"
	"time"

	"opentabs/dispatch/clock"
	"opentabs/wire"
)

// The type status is the internal status of a call; shownStatus returns the status for
// users.
type status uint8

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

func (s status) isTerminal() bool { return s >= statusSucceeded }

// nextStatuses lists the possible successors of each status. A call can end without running, for example because a gate
// blocks the call or the client disconnects. A running tool can suspend its call, and a gate can suspend a call that is
// resuming.
var nextStatuses = [statusTimedOut + 1][]status{
	statusNew:       {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusRunning:   {statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusSuspended: {statusResuming, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusResuming:  {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
}

func (s status) canBecome(t status) bool {
	return slices.Contains(nextStatuses[s], t)
}

var shownStatuses = [...]wire.CallStatus{
	statusNew: wire.StatusPending, statusSuspended: wire.StatusPending, statusRunning: wire.StatusRunning, statusResuming: wire.StatusRunning,
	statusSucceeded: wire.StatusDone, statusFailed: wire.StatusFailed, statusCancelled: wire.StatusCancelled, statusTimedOut: wire.StatusTimedOut,
}

func (s status) shownStatus() wire.CallStatus { return shownStatuses[s] }

func failureStatusOf(err *wire.CallError) status {
	if err.Code.IsTimeout() {
		return statusTimedOut
	}
	return statusFailed
}

// The type state is the state machine of one call: its status, its times and its outcome.
// liveCall.mu guards all fields of state.
type state struct {
	status       status
	beganAt      time.Time
	endedAt      time.Time
	finalRunTime time.Duration // finalRunTime is the time from beganAt to endedAt, without suspensions
	output       json.RawMessage
	err          *wire.CallError
	reason       string
	note         failureNote
	isStopSent   bool
	stopOutcome  StopOutcome
}

// The type ending is the outcome of a call: its final status and its result or error.
type ending struct {
	status       status
	output       json.RawMessage
	err          *wire.CallError
	mustStopPage bool
	reason       string
}

func (s *state) changeStatus(t status) bool {
	if !s.status.canBecome(t) {
		return false
	}
	s.status = t
	return true
}

func (s *state) begin() bool {
	if !s.changeStatus(statusRunning) {
		return false
	}
	s.beganAt = time.Now()
	return true
}

// The caller has already stopped the Clock of the call.
func (s *state) setEnding(e ending, note failureNote, c *clock.Clock) bool {
	if !s.status.canBecome(e.status) {
		return false
	}
	s.finalRunTime = s.runTime(c)
	s.isStopSent = e.mustStopPage && s.hasBegun()
	s.status, s.endedAt, s.output, s.err, s.reason, s.note = e.status, time.Now(), e.output, e.err, e.reason, note
	return true
}

func (s *state) hasBegun() bool { return !s.beganAt.IsZero() }

func (s *state) isInPage() bool { return s.hasBegun() && !s.status.isTerminal() }

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
