package dispatch

import "opentabs/wire"

// Status is where a call stands in its life.
type Status uint8

// The statuses of a call. Succeeded, Failed and Cancelled never change.
const (
	New Status = iota
	Running
	Suspended
	Resuming
	Succeeded
	Failed
	Cancelled
)

var statusNames = [...]string{"new", "running", "suspended", "resuming", "succeeded", "failed", "cancelled"}

// String returns the status in lower case.
func (s Status) String() string { return statusNames[s] }

// Terminal reports whether the call has ended.
func (s Status) Terminal() bool { return s >= Succeeded }

// next lists the statuses that may follow each status. A gate may end a call
// that never ran, and so may a client that leaves while the call waits.
var next = [...][]Status{
	New:       {Running, Suspended, Succeeded, Failed, Cancelled},
	Running:   {Succeeded, Failed, Cancelled},
	Suspended: {Resuming, Failed, Cancelled},
	Resuming:  {Running, Succeeded, Failed, Cancelled},
	Succeeded: nil,
	Failed:    nil,
	Cancelled: nil,
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
	case New, Suspended:
		return wire.StatusPending
	case Running, Resuming:
		return wire.StatusRunning
	case Succeeded:
		return wire.StatusDone
	case Failed:
		return wire.StatusFailed
	default:
		return wire.StatusCancelled
	}
}
