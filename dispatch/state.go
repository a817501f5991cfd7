package dispatch

import (
	"encoding/json"
	"slices"
	"time"

	"opentabs/dispatch/clock"
	"opentabs/wire"
)

// The type status is the internal status of a call; publicStatus returns the status for
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

// allowedTransitions lists the possible successors of each status. A call can end without running, for example because a gate
// blocks the call or the client disconnects. A running tool can suspend its call, and a gate can suspend a call that is
// resuming.
var allowedTransitions = [statusTimedOut + 1][]status{
	statusNew:       {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusRunning:   {statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusSuspended: {statusResuming, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusResuming:  {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
}

func (s status) canChangeTo(t status) bool {
	return slices.Contains(allowedTransitions[s], t)
}

var publicStatuses = [...]wire.CallStatus{
	statusNew: wire.StatusPending, statusSuspended: wire.StatusPending, statusRunning: wire.StatusRunning, statusResuming: wire.StatusRunning,
	statusSucceeded: wire.StatusDone, statusFailed: wire.StatusFailed, statusCancelled: wire.StatusCancelled, statusTimedOut: wire.StatusTimedOut,
}

func (s status) publicStatus() wire.CallStatus { return publicStatuses[s] }

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
	startedAt    time.Time
	endedAt      time.Time
	finalRunTime time.Duration // finalRunTime is the time from startedAt to endedAt, without suspensions
	output       json.RawMessage
	err          *wire.CallError
	reason       string
	note         failureNote
	isStopSent   bool
	stopOutcome  StopOutcome
}

// The type callOutcome is the outcome of a call: its final status and its result or error.
type callOutcome struct {
	status       status
	output       json.RawMessage
	err          *wire.CallError
	mustStopPage bool
	reason       string
}

func (s *state) changeStatus(t status) bool {
	if !s.status.canChangeTo(t) {
		return false
	}
	s.status = t
	return true
}

func (s *state) begin() bool {
	if !s.changeStatus(statusRunning) {
		return false
	}
	s.startedAt = time.Now()
	return true
}

// The caller has already stopped the Clock of the call.
func (s *state) setEnding(e callOutcome, note failureNote, c *clock.Clock) bool {
	if !s.status.canChangeTo(e.status) {
		return false
	}
	s.finalRunTime = s.runTime(c)
	s.isStopSent = e.mustStopPage && s.hasStarted()
	s.status, s.endedAt, s.output, s.err, s.reason, s.note = e.status, time.Now(), e.output, e.err, e.reason, note
	return true
}

func (s *state) hasStarted() bool { return !s.startedAt.IsZero() }

func (s *state) hasActiveRun() bool { return s.hasStarted() && !s.status.isTerminal() }

func (s *state) runTime(c *clock.Clock) time.Duration {
	switch {
	case s.startedAt.IsZero():
		return 0
	case s.endedAt.IsZero():
		return c.Elapsed()
	default:
		return s.finalRunTime
	}
}
