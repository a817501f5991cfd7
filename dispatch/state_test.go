package dispatch

import (
	"testing"

	"opentabs/wire"
)

func TestStatusMachine(t *testing.T) {
	all := []status{
		statusNew, statusRunning, statusSuspended, statusResuming,
		statusSucceeded, statusFailed, statusCancelled,
	}
	// Each row is a status, and each x in a row is a possible next status.
	want := []string{
		".xx.xxx", // new
		"..x.xxx", // running
		"...xxxx", // suspended
		".xx.xxx", // resuming
		".......", // succeeded
		".......", // failed
		".......", // cancelled
	}
	surfaces := []wire.CallStatus{
		wire.StatusPending, wire.StatusRunning, wire.StatusPending, wire.StatusRunning,
		wire.StatusDone, wire.StatusFailed, wire.StatusCancelled,
	}
	for i, from := range all {
		for j, to := range all {
			if got := from.canBecome(to); got != (want[i][j] == 'x') {
				t.Errorf("a change from %s to %s is allowed: %t", from, to, got)
			}
		}
		if from.isTerminal() != (i >= 4) || from.shownStatus() != surfaces[i] {
			t.Errorf("state %s is terminal: %t; its shown status is %s", from, from.isTerminal(), from.shownStatus())
		}
	}
}
