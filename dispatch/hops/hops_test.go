package hops_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch/hops"
	"opentabs/wire"
)

func newTrace() *hops.Trace { return hops.FromContext(hops.NewContext(context.Background())) }

func recordAllCheckpoints(t *hops.Trace, waitTimes ...time.Duration) {
	for m, waitTime := range waitTimes {
		time.Sleep(waitTime)
		t.Record(hops.Checkpoint(m))
	}
}

func TestTraceSplitsCallIntoHops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := time.Microsecond
		trace := newTrace()
		recordAllCheckpoints(trace, 1*us, 2*us, 3*us, 1*us, 1*us, 2*us, 5*us, 1000*us, 6*us, 7*us, 8*us)
		trace.SetBrowser(&wire.BrowserHops{
			WorkerInUs: 10, DocumentUs: 500, WorkerOutUs: 20,
			Page: wire.PageHops{BridgeInUs: 1, HostInUs: 2, SchemaUs: 3, HandlerUs: 4, ResultUs: 11},
		})
		want := []hops.Hop{
			{Stage: "guard", StartUs: 0, Us: 1},
			{Stage: "parse", StartUs: 1, Us: 2},
			{Stage: "check", StartUs: 3, Us: 3},
			{Stage: "gates", StartUs: 6, Us: 1},
			{Stage: "queue", StartUs: 7, Us: 1},
			{Stage: "target", StartUs: 8, Us: 2},
			{Stage: "hub", StartUs: 10, Us: 5},
			{Stage: "websocket", StartUs: 15, Us: 235},
			{Stage: "worker", StartUs: 250, Us: 10},
			{Stage: "port", StartUs: 260, Us: 239.5},
			{Stage: "bridge", StartUs: 499.5, Us: 1},
			{Stage: "host", StartUs: 500.5, Us: 2},
			{Stage: "schema", StartUs: 502.5, Us: 3},
			{Stage: "handler", StartUs: 505.5, Us: 4},
			{Stage: "result", StartUs: 509.5, Us: 11},
			{Stage: "port", StartUs: 520.5, Us: 239.5},
			{Stage: "worker", StartUs: 760, Us: 20},
			{Stage: "websocket", StartUs: 780, Us: 235},
			{Stage: "hub", StartUs: 1015, Us: 6},
			{Stage: "dispatch", StartUs: 1021, Us: 7},
			{Stage: "reply", StartUs: 1028, Us: 8},
		}
		checkHops(t, trace.Hops(), want)
	})
}

func TestFalsePageTimesStayWithinCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := newTrace()
		recordAllCheckpoints(trace, 0, 0, 0, 0, 0, 0, 0, time.Millisecond)
		trace.SetBrowser(&wire.BrowserHops{
			WorkerInUs: -5, DocumentUs: -7, WorkerOutUs: 1 << 60,
			Page: wire.PageHops{BridgeInUs: -1 << 62, SchemaUs: 1 << 62, HandlerUs: 1 << 62},
		})
		sum := 0.0
		for _, hop := range trace.Hops() {
			if hop.Us < 0 || hop.StartUs < 0 || hop.StartUs+hop.Us > 1001 {
				t.Errorf("the hop %+v is outside of the call's time, want a hop between 0 and 1001 us", hop)
			}
			sum += hop.Us
		}
		if sum > 1001 {
			t.Errorf("all hops together take %v us, want at most the 1000 us of the call", sum)
		}
	})
}

func TestHopsWithoutPageTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		us := time.Microsecond
		trace := newTrace()
		recordAllCheckpoints(trace, us, us)
		time.Sleep(us)
		trace.Record(hops.CheckpointReplied)
		checkHops(t, trace.Hops(), []hops.Hop{
			{Stage: "guard", StartUs: 0, Us: 1}, {Stage: "parse", StartUs: 1, Us: 1}, {Stage: "reply", StartUs: 2, Us: 1},
		})
		recordAllCheckpoints(trace, us, us, us, us, us, us, us, us)
		got := trace.Hops()
		if browserHop := got[len(got)-1]; browserHop.Stage != "browser" || browserHop.Us != 1 {
			t.Errorf("last hop = %+v, want 1 us in the browser", browserHop)
		}
	})
}

func checkHops(t *testing.T, got, want []hops.Hop) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("the trace has %d hops: %+v\nwant %d hops", len(got), got, len(want))
	}
	for i, hop := range got {
		if hop.Stage != want[i].Stage || !isAlmostEqual(hop.StartUs, want[i].StartUs) || !isAlmostEqual(hop.Us, want[i].Us) {
			t.Errorf("hop %d of the trace = %+v, want %+v", i, hop, want[i])
		}
	}
}

// isAlmostEqual tolerates a difference of 0.01 µs, because a Trace stores a checkpoint at time 0 as 1 ns.
func isAlmostEqual(a, b float64) bool { return a-b < 0.01 && b-a < 0.01 }

func TestUntracedCallRecordsNothing(t *testing.T) {
	ctx := context.WithValue(context.Background(), t, "another value")
	allocations := testing.AllocsPerRun(100, func() {
		trace := hops.FromContext(ctx)
		trace.Record(hops.CheckpointParsed)
		trace.RecordAt(hops.CheckpointAnswered, time.Time{})
		trace.SetBrowser(nil)
	})
	if allocations != 0 {
		t.Errorf("a call without a trace needs %v allocations, want 0", allocations)
	}
	if hops.FromContext(hops.NewContext(ctx)) == nil {
		t.Error("FromContext returned no trace for a traced context, want the trace")
	}
}
