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
	for race := range raceCount {
		tickets, formClosed := make(chan dispatch.WaitingTicket, 1), make(chan struct{})
		callErrors := make(chan error, 1)
		go func() {
			_, err := d.Call(context.Background(), dispatch.Call{Tool: exportTool, OnTicket: func(ctx context.Context, w dispatch.WaitingTicket) {
				tickets <- w
				<-ctx.Done()
				close(formClosed)
			}})
			callErrors <- err
		}()
		w := <-tickets
		surfaces := []dispatch.Resolution{
			{Allow: race%2 == 0, Surface: "the side panel"},
			{Allow: race%2 == 1, Surface: "the command line"},
			{Allow: race%3 == 0, Surface: "client cursor"},
		}
		results := make([]dispatch.DecisionResult, len(surfaces))
		runsBefore := runCount.Load()
		startSignal := make(chan struct{})
		var deciding sync.WaitGroup
		for i, r := range surfaces {
			deciding.Go(func() {
				<-startSignal
				var err error
				if results[i], err = d.Decide(w.CallID, w.TicketID, r); err != nil {
					t.Error(err)
				}
			})
		}
		close(startSignal)
		deciding.Wait()
		err := <-callErrors
		acceptedCount, isAllowed := 0, results[0].Allowed
		for i, result := range results {
			if result.Outcome == wire.DecisionAccepted {
				acceptedCount++
				if result.Surface != surfaces[i].Surface || result.Allowed != surfaces[i].Allow {
					t.Errorf("race %d: %s received %+v for its own decision", race, surfaces[i].Surface, result)
				}
			} else if result.Outcome != wire.DecisionAlreadyMade {
				t.Errorf("race %d: %s received %+v", race, surfaces[i].Surface, result)
			}
			if result.Surface != results[0].Surface || result.Allowed != isAllowed {
				t.Errorf("race %d: the surfaces received different decisions: %+v", race, results)
			}
		}
		if acceptedCount != 1 || (err == nil) != isAllowed || runCount.Load()-runsBefore != map[bool]int32{true: 1}[isAllowed] {
			t.Errorf("race %d: %d decisions took effect, the call ended with %v after %d runs", race, acceptedCount, err, runCount.Load()-runsBefore)
		}
		select {
		case <-formClosed:
		case <-time.After(10 * time.Second):
			t.Fatalf("race %d: the form is still open", race)
		}
		lateDecision, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "late"})
		if err != nil || lateDecision.Outcome == wire.DecisionAccepted || runCount.Load()-runsBefore > 1 {
			t.Errorf("race %d: a late decision returned %+v, %v", race, lateDecision, err)
		}
	}
}
