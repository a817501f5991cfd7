package daemon

import (
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/metrics"
	"opentabs/wire"
	"opentabs/wsbridge"
)

func TestGauges(t *testing.T) {
	newCall := func(callStatus wire.CallStatus, waitingTicket *dispatch.WaitingTicket) dispatch.View {
		v := dispatch.View{Waiting: waitingTicket}
		v.Status = callStatus
		return v
	}
	calls := []dispatch.View{
		newCall(wire.StatusRunning, nil), newCall(wire.StatusRunning, nil), newCall(wire.StatusRunning, &dispatch.WaitingTicket{}),
		newCall(wire.StatusPending, nil), newCall(wire.StatusPending, &dispatch.WaitingTicket{}), newCall(wire.StatusDone, nil),
	}
	browsers := []wsbridge.BrowserInfo{{Connected: true}, {Connected: false}}
	want := metrics.Gauges{RunningCalls: 2, QueuedCalls: 1, WaitingCalls: 2, Browsers: 1}
	if got := countGauges(calls, browsers); got != want {
		t.Errorf("gauges of the metrics = %+v, want %+v", got, want)
	}
}
