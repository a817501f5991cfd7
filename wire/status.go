package wire

// CallStatus is the status of a call as users see it. All statuses except StatusTimedOut
// also exist in the format tool-call-progress.v1.
type CallStatus string

const (
	// StatusPending means that the call is queued or waits for the user. Only message
	// frames and tool-call-progress.v1 use StatusPending: other formats use "queued",
	// "waiting for approval" or "waiting for you".
	StatusPending   CallStatus = "pending"
	StatusRunning   CallStatus = "running"
	StatusDone      CallStatus = "done"
	StatusFailed    CallStatus = "failed"
	StatusCancelled CallStatus = "cancelled"
	// StatusTimedOut means that the call reached its idle limit, its hard limit or its
	// approval limit.
	StatusTimedOut CallStatus = "timed out"
)

// ProgressStatus returns the status for tool-call-progress.v1, in which a call that timed out
// is failed, and a call that is queued or waits for the user is pending.
func (s CallStatus) ProgressStatus() CallStatus {
	switch {
	case s == StatusTimedOut:
		return StatusFailed
	case s == StatusRunning || s.HasEnded():
		return s
	}
	return StatusPending
}

// HasEnded reports whether the call has ended.
func (s CallStatus) HasEnded() bool { return s == StatusDone || s == StatusCancelled || s.IsFailure() }

// IsFailure reports whether the call ended without a result and was not cancelled.
func (s CallStatus) IsFailure() bool { return s == StatusFailed || s == StatusTimedOut }
