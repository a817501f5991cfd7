package dispatch

import (
	"testing"

	"opentabs/wire"
)

func TestStatusMachine(t *testing.T) {
	statusTexts := []status{
		statusNew, statusRunning, statusSuspended, statusResuming,
		statusSucceeded, statusFailed, statusCancelled, statusTimedOut,
	}
	// Each row is a status, and each column marked with x is a possible next status.
	want := []string{
		".xx.xxxx", // possible successors of the status "new"
		"..x.xxxx", // possible successors of the status "running"
		"...xxxxx", // possible successors of the status "suspended"
		".xx.xxxx", // possible successors of the status "resuming"
		"........", // possible successors of the status "succeeded"
		"........", // possible successors of the status "failed"
		"........", // possible successors of the status "cancelled"
		"........", // possible successors of the status "timed out"
	}
	surfaces := []wire.CallStatus{
		wire.StatusPending, wire.StatusRunning, wire.StatusPending, wire.StatusRunning,
		wire.StatusDone, wire.StatusFailed, wire.StatusCancelled, wire.StatusTimedOut,
	}
	for i, from := range statusTexts {
		for j, to := range statusTexts {
			if got := from.canBecome(to); got != (want[i][j] == 'x') {
				t.Errorf("a change from %s to %s is allowed: %t", from, to, got)
			}
		}
		if from.isTerminal() != (i >= 4) || from.shownStatus() != surfaces[i] {
			t.Errorf("state %s is terminal: %t; its shown status is %s", from, from.isTerminal(), from.shownStatus())
		}
	}
}

func TestErrorCodesOfTimedOutCalls(t *testing.T) {
	for code, want := range map[wire.ErrorCode]status{
		wire.ErrIdleTimeout: statusTimedOut, wire.ErrDeadlineExceeded: statusTimedOut, wire.ErrApprovalTimeout: statusTimedOut,
		wire.ErrToolError: statusFailed, wire.ErrPageUnresponsive: statusFailed, wire.ErrShutdown: statusFailed,
	} {
		if got := failureStatusOf(&wire.CallError{Code: code}); got != want {
			t.Errorf("a call that ends with %s is %s, want %s", code, got, want)
		}
	}
}
