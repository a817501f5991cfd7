package dispatch

import (
	"testing"

	"opentabs/wire"
)

func TestStatusTransitions(t *testing.T) {
	allStatuses := []status{
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
	wantStatuses := []wire.CallStatus{
		wire.StatusPending, wire.StatusRunning, wire.StatusPending, wire.StatusRunning,
		wire.StatusDone, wire.StatusFailed, wire.StatusCancelled, wire.StatusTimedOut,
	}
	for i, oldStatus := range allStatuses {
		for j, to := range allStatuses {
			if got := oldStatus.canChangeTo(to); got != (want[i][j] == 'x') {
				t.Errorf("canChangeTo from %s to %s = %t, want %t", oldStatus, to, got, !got)
			}
		}
		if oldStatus.isTerminal() != (i >= 4) || oldStatus.publicStatus() != wantStatuses[i] {
			t.Errorf("status %s: terminal %t and shown status %s; want %t and %s", oldStatus, oldStatus.isTerminal(), oldStatus.publicStatus(), i >= 4, wantStatuses[i])
		}
	}
}

func TestErrorCodesOfTimedOutCalls(t *testing.T) {
	for code, want := range map[wire.ErrorCode]status{
		wire.ErrIdleTimeout: statusTimedOut, wire.ErrDeadlineExceeded: statusTimedOut, wire.ErrApprovalTimeout: statusTimedOut,
		wire.ErrToolError: statusFailed, wire.ErrPageUnresponsive: statusFailed, wire.ErrShutdown: statusFailed,
	} {
		if got := failureStatusOf(&wire.CallError{Code: code}); got != want {
			t.Errorf("status of a call that ends with the error %s = %s, want %s", code, got, want)
		}
	}
}
