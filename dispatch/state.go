package dispatch

import (
	"encoding/json"
	"time"

	"opentabs/dispatch/clock"
	"opentabs/wire"
)

// status is the state of a call.
type status uint8

// These constants are the statuses of a call. The last four statuses are final: a call
// in one of these statuses never changes.
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

// isTerminal reports whether the call has ended.
func (s status) isTerminal() bool { return s >= statusSucceeded }

// nextStatuses lists the possible successors of each status. A gate, or a client that
// disconnects, may end a call that never ran. A running tool may suspend its call, and
// a gate may suspend a call that is resuming.
var nextStatuses = [...][]status{
	statusNew:       {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusRunning:   {statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusSuspended: {statusResuming, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusResuming:  {statusRunning, statusSuspended, statusSucceeded, statusFailed, statusCancelled, statusTimedOut},
	statusSucceeded: nil,
	statusFailed:    nil,
	statusCancelled: nil,
	statusTimedOut:  nil,
}

func (s status) canBecome(t status) bool {
	for _, n := range nextStatuses[s] {
		if n == t {
			return true
		}
	}
	return false
}

// shownStatuses has each status as surfaces show it.
var shownStatuses = [...]wire.CallStatus{
	statusNew: wire.StatusPending, statusSuspended: wire.StatusPending, statusRunning: wire.StatusRunning, statusResuming: wire.StatusRunning,
	statusSucceeded: wire.StatusDone, statusFailed: wire.StatusFailed, statusCancelled: wire.StatusCancelled, statusTimedOut: wire.StatusTimedOut,
}

func (s status) shownStatus() wire.CallStatus { return shownStatuses[s] }

// failureStatusOf returns the status of a call that ends with an error.
func failureStatusOf(err *wire.CallError) status {
	if err.Code.IsTimeout() {
		return statusTimedOut
	}
	return statusFailed
}

// state is the state machine of one call: its status, its times and its ending. state
// has no lock: liveCall.mu guards it.
type state struct {
	status       status
	beganAt      time.Time
	endedAt      time.Time
	finalRunTime time.Duration // the time from beganAt to endedAt without suspensions
	output       json.RawMessage
	err          *wire.CallError
	reason       string // the reason of a cancellation
	// note is Options.FailureNote for err.
	note failureNote
	// stopSent is set if the page got a stop; stopOutcome is the page's answer.
	stopSent    bool
	stopOutcome StopOutcome
}

// ending is how a call ends.
type ending struct {
	status status
	output json.RawMessage
	err    *wire.CallError
	// stopPage asks the page to stop if the call has begun.
	stopPage bool
	reason   string // the reason of a cancellation; empty if none was given
}

// changeStatus changes the status, and returns false if the change is not possible.
func (s *state) changeStatus(t status) bool {
	if !s.status.canBecome(t) {
		return false
	}
	s.status = t
	return true
}

// begin changes the status to running and records the time.
func (s *state) begin() bool {
	if !s.changeStatus(statusRunning) {
		return false
	}
	s.beganAt = time.Now()
	return true
}

// end records the ending and returns false if the call had ended before. The caller has
// stopped the clock.
func (s *state) end(e ending, note failureNote, c *clock.Clock) bool {
	if !s.status.canBecome(e.status) {
		return false
	}
	s.finalRunTime = s.runTime(c)
	s.stopSent = e.stopPage && s.hasBegun()
	s.status, s.endedAt, s.output, s.err, s.reason, s.note = e.status, time.Now(), e.output, e.err, e.reason, note
	return true
}

// hasBegun reports whether the call has reached a page.
func (s *state) hasBegun() bool { return !s.beganAt.IsZero() }

// isInPage reports whether the call has begun and not ended.
func (s *state) isInPage() bool { return s.hasBegun() && !s.status.isTerminal() }

// runTime returns how long the call has run, without suspensions.
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
