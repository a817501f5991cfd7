package dispatch_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

func TestSurfacesDecideAtTheSameTime(t *testing.T) {
	const raceCount = 50
	var runCount atomic.Int32
	d := dispatch.New(&dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
		runCount.Add(1)
		sink.Finish(nil, nil)
		return nil
	}}, dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "permission"}}})
	t.Cleanup(d.Shutdown)
	for raceIndex := range raceCount {
		tickets, formClosedSignal := make(chan dispatch.WaitingTicket, 1), make(chan struct{})
		callErrors := make(chan error, 1)
		go func() {
			_, err := d.Call(context.Background(), dispatch.Call{Tool: exportTool, OnTicket: func(ctx context.Context, w dispatch.WaitingTicket) {
				tickets <- w
				<-ctx.Done()
				close(formClosedSignal)
			}})
			callErrors <- err
		}()
		w := <-tickets
		resolutions := []dispatch.Resolution{
			{Allow: raceIndex%2 == 0, Surface: "the side panel"},
			{Allow: raceIndex%2 == 1, Surface: "the command line"},
			{Allow: raceIndex%3 == 0, Surface: "client cursor"},
		}
		results := make([]dispatch.DecisionResult, len(resolutions))
		runCountBefore := runCount.Load()
		startSignal := make(chan struct{})
		var deciders sync.WaitGroup
		for i, r := range resolutions {
			deciders.Go(func() {
				<-startSignal
				var err error
				if results[i], err = d.Decide(w.CallID, w.TicketID, r); err != nil {
					t.Error(err)
				}
			})
		}
		close(startSignal)
		deciders.Wait()
		err := <-callErrors
		acceptedDecisions, isAllowed := 0, results[0].Allowed
		for i, result := range results {
			if result.Outcome == wire.DecisionAccepted {
				acceptedDecisions++
				if result.Surface != resolutions[i].Surface || result.Allowed != resolutions[i].Allow {
					t.Errorf("race %d: Decide from %s returned %+v, want its own decision", raceIndex, resolutions[i].Surface, result)
				}
			} else if result.Outcome != wire.DecisionAlreadyMade {
				t.Errorf("race %d: Decide from %s returned %+v, want that another decision was already made", raceIndex, resolutions[i].Surface, result)
			}
			if result.Surface != results[0].Surface || result.Allowed != isAllowed {
				t.Errorf("race %d: results of Decide = %+v, want the same decision for all surfaces", raceIndex, results)
			}
		}
		if acceptedDecisions != 1 || (err == nil) != isAllowed || runCount.Load()-runCountBefore != map[bool]int32{true: 1}[isAllowed] {
			t.Errorf("race %d: %d decisions took effect, the call ended with the error %v after %d runs; want one decision, and a run only if allowed", raceIndex, acceptedDecisions, err, runCount.Load()-runCountBefore)
		}
		select {
		case <-formClosedSignal:
		case <-time.After(10 * time.Second):
			t.Fatalf("race %d: the form for the approval is still open after 10 s, want it closed", raceIndex)
		}
		secondDecision, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "late"})
		if err != nil || secondDecision.Outcome == wire.DecisionAccepted || runCount.Load()-runCountBefore > 1 {
			t.Errorf("race %d: a late Decide returned %+v, error %v; want a decision without effect, and no error", raceIndex, secondDecision, err)
		}
	}
}
