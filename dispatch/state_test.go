package dispatch_test

import (
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestStatusMachine(t *testing.T) {
	all := []dispatch.Status{
		dispatch.StatusNew, dispatch.StatusRunning, dispatch.StatusSuspended, dispatch.StatusResuming,
		dispatch.StatusSucceeded, dispatch.StatusFailed, dispatch.StatusCancelled,
	}
	// Each row is a state before, each column a state after, in the order of all.
	want := []string{
		".xx.xxx", // new
		"..x.xxx", // running
		"...xxxx", // suspended
		".xx.xxx", // resuming
		".......", // succeeded
		".......", // failed
		".......", // cancelled
	}
	shown := []wire.CallStatus{
		wire.StatusPending, wire.StatusRunning, wire.StatusPending, wire.StatusRunning,
		wire.StatusDone, wire.StatusFailed, wire.StatusCancelled,
	}
	for i, from := range all {
		for j, to := range all {
			if got := from.CanBecome(to); got != (want[i][j] == 'x') {
				t.Errorf("%s to %s: %t", from, to, got)
			}
		}
		if from.Terminal() != (i >= 4) || from.Snapshot() != shown[i] {
			t.Errorf("%s: terminal %t, shown as %s", from, from.Terminal(), from.Snapshot())
		}
	}
}
