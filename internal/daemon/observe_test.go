package daemon

import (
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/metrics"
	"opentabs/wire"
	"opentabs/wsbridge"
)

func TestGaugesCountCalls(t *testing.T) {
	newCallView := func(callStatus wire.CallStatus, waitingTicket *dispatch.WaitingTicket) dispatch.View {
		v := dispatch.View{Waiting: waitingTicket}
		v.Status = callStatus
		return v
	}
	calls := []dispatch.View{
		newCallView(wire.StatusRunning, nil), newCallView(wire.StatusRunning, nil), newCallView(wire.StatusRunning, &dispatch.WaitingTicket{}),
		newCallView(wire.StatusPending, nil), newCallView(wire.StatusPending, &dispatch.WaitingTicket{}), newCallView(wire.StatusDone, nil),
	}
	browsers := []wsbridge.BrowserInfo{{Connected: true}, {Connected: false}}
	want := metrics.Gauges{RunningCalls: 2, QueuedCalls: 1, WaitingCalls: 2, Browsers: 1}
	if got := countGauges(calls, browsers); got != want {
		t.Errorf("gauges of the metrics = %+v, want %+v", got, want)
	}
}
