package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestFollowersSeeEveryEventInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Progress: number(1), Total: number(4), Message: "one"}, {Progress: number(2), Total: number(4)}}, 0)
			sleep(31 * time.Second)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		a, b := d.Follow(dispatch.FollowOptions{}), d.Follow(dispatch.FollowOptions{})
		defer a.Close()
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Client: dispatch.Client{Name: "Claude"}}); err == nil {
			t.Fatal("want idle_timeout")
		}
		p.wg.Wait()
		kinds := []dispatch.EventKind{
			dispatch.EventCreated, dispatch.EventRunning, dispatch.EventProgress,
			dispatch.EventProgress, dispatch.EventEnded, dispatch.EventStopped,
		}
		for _, f := range []*dispatch.Follower{a, b} {
			events, missed, err := f.Next(t.Context())
			if err != nil || missed != 0 || len(events) != len(kinds) {
				t.Fatalf("%d events, %d missed, %v; want %d", len(events), missed, err, len(kinds))
			}
			for i, e := range events {
				if e.Kind != kinds[i] || e.Seq != uint64(i+1) {
					t.Errorf("event %d is %s with number %d, want %s", i, e.Kind, e.Seq, kinds[i])
				}
			}
			if e := events[2]; e.Report.Message != "one" || *e.Call.Progress != 0.25 || e.Call.Client != "Claude" {
				t.Errorf("first progress event %+v", e)
			}
			if e := events[4].Call; e.Status != wire.StatusFailed || e.ErrorCode != wire.ErrIdleTimeout || e.RunMs != 30000 {
				t.Errorf("ended event %+v", e)
			}
		}
		b.Close()
		if _, _, err := b.Next(t.Context()); !errors.Is(err, dispatch.ErrFollowerClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestSlowFollowerHoldsNothingUpAndIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		p := &page{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range n {
				s.Reports(report(float64(i+1), n), 0)
			}
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Follow(dispatch.FollowOptions{}) // never reads meanwhile
		defer f.Close()
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
			t.Fatal(err)
		}
		events, missed, err := f.Next(t.Context())
		for err == nil && len(events) < 4096 {
			var more []dispatch.Event
			more, _, err = f.Next(t.Context())
			events = append(events, more...)
		}
		if err != nil || missed != n+3-4096 {
			t.Fatalf("%d events, %d missed, %v; want the last 4096 of %d", len(events), missed, err, n+3)
		}
		for i := 1; i < len(events); i++ {
			if events[i].Seq != events[i-1].Seq+1 {
				t.Fatalf("event %d follows %d", events[i].Seq, events[i-1].Seq)
			}
		}
		if last := events[len(events)-1]; last.Kind != dispatch.EventEnded {
			t.Errorf("the newest event is %s, want ended", last.Kind)
		}
	})
}

func TestNextWaitsAndWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New((&page{}).bridge(), dispatch.Options{Idle: time.Second})
		f := d.Follow(dispatch.FollowOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next returned %v, want the context's error", err)
		}
		got := make(chan error, 1)
		go func() {
			_, _, err := f.Next(t.Context())
			got <- err
		}()
		synctest.Wait()
		f.Close()
		if err := <-got; !errors.Is(err, dispatch.ErrFollowerClosed) {
			t.Errorf("a waiting Next returned %v after Close", err)
		}
		f.Close()
	})
}
