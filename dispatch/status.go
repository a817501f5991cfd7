package dispatch

import "opentabs/wire"

// Status is where a call stands in its life.
type Status uint8

// The statuses of a call. The last three never change.
const (
	StatusNew Status = iota
	StatusRunning
	StatusSuspended
	StatusResuming
	StatusSucceeded
	StatusFailed
	StatusCancelled
)

var statusNames = [...]string{"new", "running", "suspended", "resuming", "succeeded", "failed", "cancelled"}

// String returns the status in lower case.
func (s Status) String() string { return statusNames[s] }

// Terminal reports whether the call has ended.
func (s Status) Terminal() bool { return s >= StatusSucceeded }

// next lists the statuses that may follow each status. A gate may end a call
// that never ran, and so may a client that leaves while the call waits. A tool
// that runs may suspend its call, and may end it without waiting; a gate may
// suspend a call again.
var next = [...][]Status{
	StatusNew:       {StatusRunning, StatusSuspended, StatusSucceeded, StatusFailed, StatusCancelled},
	StatusRunning:   {StatusSuspended, StatusSucceeded, StatusFailed, StatusCancelled},
	StatusSuspended: {StatusResuming, StatusSucceeded, StatusFailed, StatusCancelled},
	StatusResuming:  {StatusRunning, StatusSuspended, StatusSucceeded, StatusFailed, StatusCancelled},
	StatusSucceeded: nil,
	StatusFailed:    nil,
	StatusCancelled: nil,
}

// CanBecome reports whether a call may go from s to t.
func (s Status) CanBecome(t Status) bool {
	for _, n := range next[s] {
		if n == t {
			return true
		}
	}
	return false
}

// Snapshot returns the status as surfaces show it.
func (s Status) Snapshot() wire.CallStatus {
	switch s {
	case StatusNew, StatusSuspended:
		return wire.StatusPending
	case StatusRunning, StatusResuming:
		return wire.StatusRunning
	case StatusSucceeded:
		return wire.StatusDone
	case StatusFailed:
		return wire.StatusFailed
	default:
		return wire.StatusCancelled
	}
}
