package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

func TestSubscribersReceiveEveryEventInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{{Progress: newFloatPointer(1), Total: newFloatPointer(4), Message: "one"}, {Progress: newFloatPointer(2), Total: newFloatPointer(4)}}, 0)
			sleepVirtual(31 * time.Second)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		a, b := d.Subscribe(dispatch.SubscribeOptions{}), d.Subscribe(dispatch.SubscribeOptions{})
		defer a.Close()
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Client: dispatch.Client{Name: "Claude"}}); err == nil {
			t.Fatal("the call succeeded, want idle_timeout")
		}
		p.wg.Wait()
		kinds := []dispatch.EventKind{
			dispatch.EventCreated, dispatch.EventRunning, dispatch.EventProgress,
			dispatch.EventProgress, dispatch.EventEnded, dispatch.EventStopped,
		}
		for _, f := range []*dispatch.Subscriber{a, b} {
			events, missedCount, err := f.Next(t.Context())
			if err != nil || missedCount != 0 || len(events) != len(kinds) {
				t.Fatalf("the subscriber read %d events and missed %d, error %v; want %d events", len(events), missedCount, err, len(kinds))
			}
			for i, e := range events {
				if e.Kind != kinds[i] || e.Seq != uint64(i+1) {
					t.Errorf("event %d has the kind %s and the number %d, want the kind %s", i, e.Kind, e.Seq, kinds[i])
				}
			}
			if e := events[2]; e.Report.Message != "one" || *e.Call.Progress != 0.25 || e.Call.Client != "Claude" {
				t.Errorf("first progress event = %+v, want the message one at 0.25 by the client Claude", e)
			}
			if e := events[4].Call; e.Status != wire.StatusTimedOut || e.ErrorCode != wire.ErrIdleTimeout || e.RunMs != 30000 {
				t.Errorf("call in the ended event = %+v, want timed out with idle_timeout after 30 s", e)
			}
			// The format tool-call-progress.v1 has no status for a queued call or for a call that
			// timed out.
			var encoded struct{ Content, Call dispatch.Snapshot }
			if err := json.Unmarshal(events[0].JSON(), &encoded); err != nil || encoded.Content.Status != wire.StatusPending || encoded.Call.Status != "queued" {
				t.Errorf("JSON of the created event = %s, want the progress status pending and the call status queued", events[0].JSON())
			}
			if err := json.Unmarshal(events[4].JSON(), &encoded); err != nil || encoded.Content.Status != wire.StatusFailed || encoded.Call.Status != wire.StatusTimedOut {
				t.Errorf("JSON of the ended event = %s, want the progress status failed and the call status timed out", events[4].JSON())
			}
		}
		b.Close()
		if _, _, err := b.Next(t.Context()); !errors.Is(err, dispatch.ErrSubscriberClosed) {
			t.Errorf("Next after Close returned the error %v; want the error %v", err, dispatch.ErrSubscriberClosed)
		}
	})
}

func TestSlowSubscriberDelaysNothingAndLosesEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			for i := range n {
				s.Reports(newNumberReports(float64(i+1), n), 0)
			}
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool}); err != nil {
			t.Fatal(err)
		}
		events, missedCount, err := f.Next(t.Context())
		for err == nil && len(events) < 4096 {
			var laterEvents []*dispatch.Event
			laterEvents, _, err = f.Next(t.Context())
			events = append(events, laterEvents...)
		}
		if err != nil || missedCount != n+3-4096 {
			t.Fatalf("the subscriber read %d events and missed %d, error %v; want the last 4096 of %d", len(events), missedCount, err, n+3)
		}
		for i := 1; i < len(events); i++ {
			if events[i].Seq != events[i-1].Seq+1 {
				t.Fatalf("event number %d follows %d, want consecutive numbers", events[i].Seq, events[i-1].Seq)
			}
		}
		if lastEvent := events[len(events)-1]; lastEvent.Kind != dispatch.EventEnded {
			t.Errorf("kind of the newest event = %s, want ended", lastEvent.Kind)
		}
	})
}

func TestNextBlocksUntilEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New((&fakePage{}).bridge(), dispatch.Options{IdleLimit: time.Second})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next with an ended context returned the error %v, want the context's error", err)
		}
		got := make(chan error, 1)
		go func() {
			_, _, err := f.Next(t.Context())
			got <- err
		}()
		synctest.Wait()
		f.Close()
		if err := <-got; !errors.Is(err, dispatch.ErrSubscriberClosed) {
			t.Errorf("a waiting Next returned the error %v after Close, want %v", err, dispatch.ErrSubscriberClosed)
		}
		f.Close()
	})
}

func runCalls(t *testing.T, d *dispatch.Dispatcher, n int) (lastCallID string) {
	t.Helper()
	for range n {
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if err != nil {
			t.Fatal(err)
		}
		lastCallID = r.CallID
	}
	return lastCallID
}

func TestSubscriberResumesFromSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{})
		readFirstEvents := func(o dispatch.SubscribeOptions) (seqs []uint64, missedCount int) {
			t.Helper()
			f := d.Subscribe(o)
			defer f.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			events, missedCount, err := f.Next(ctx)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			for _, e := range events {
				seqs = append(seqs, e.Seq)
			}
			return seqs, missedCount
		}
		runCalls(t, d, 3)
		f := d.Subscribe(dispatch.SubscribeOptions{})
		runCalls(t, d, 1)
		f.Close()
		runCalls(t, d, 1)
		if seqs, missedCount := readFirstEvents(dispatch.SubscribeOptions{AfterSeq: 2}); missedCount != 0 || !slices.Equal(seqs, []uint64{3, 4, 5, 6}) {
			t.Errorf("a subscriber after event 2 read the events %v and missed %d; want 3 to 6 and none missed", seqs, missedCount)
		}
		if seqs, missedCount := readFirstEvents(dispatch.SubscribeOptions{}); missedCount != 0 || seqs != nil {
			t.Errorf("a subscriber without After read the old events %v and missed %d; want no events and none missed", seqs, missedCount)
		}
		if _, missedCount := readFirstEvents(dispatch.SubscribeOptions{AfterSeq: 1 << 40}); missedCount == 0 {
			t.Error("a subscriber after an unknown event number missed 0 events, want at least 1")
		}
		if seqs, missedCount := readFirstEvents(dispatch.SubscribeOptions{IncludesEarlierEvents: true}); missedCount != 0 || len(seqs) != 6 || seqs[0] != 1 {
			t.Errorf("a subscriber from the start read the events %v and missed %d; want 6 events and none missed", seqs, missedCount)
		}
		// For a subscriber of one call, the number of missed events includes missed events of other
		// calls.
		f = d.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		lastCallID := runCalls(t, d, 2000)
		if seqs, missedCount := readFirstEvents(dispatch.SubscribeOptions{AfterSeq: 6, CallID: lastCallID}); len(seqs) != 3 || missedCount != 6006-6-4096 {
			t.Errorf("a subscriber of the last call read %d events and missed %d; want 3 and %d", len(seqs), missedCount, 6006-6-4096)
		}
		if seqs, _ := readFirstEvents(dispatch.SubscribeOptions{AfterSeq: 6000, Tool: "messages__export"}); len(seqs) != 6 {
			t.Errorf("a subscriber of the tool read the events %v, want 6 events", seqs)
		}
		if seqs, _ := readFirstEvents(dispatch.SubscribeOptions{AfterSeq: 6000, Tool: "messages"}); len(seqs) != 6 {
			t.Errorf("a subscriber of the plugin read the events %v, want 6 events", seqs)
		}
		if seqs, _ := readFirstEvents(dispatch.SubscribeOptions{AfterSeq: 6000, Tool: "other"}); len(seqs) != 0 {
			t.Errorf("a subscriber of another tool read the events %v, want no events", seqs)
		}
	})
}

func TestSubscriberResumesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		runCalls(t, d, 1)
		f.Close()
		sleepVirtual(3 * time.Minute)
		runCalls(t, d, 5)
		f = d.Subscribe(dispatch.SubscribeOptions{AfterSeq: 3})
		defer f.Close()
		events, missedCount, err := f.Next(t.Context())
		if err != nil || len(events) != 0 || missedCount == 0 {
			t.Errorf("the first Next of the late subscriber returned %d events, %d missed, error %v; want no events, some missed and no error", len(events), missedCount, err)
		}
		runCalls(t, d, 1)
		if events, missedCount, err := f.Next(t.Context()); err != nil || len(events) != 3 || missedCount != 0 {
			t.Errorf("the second Next returned %d events, %d missed, error %v; want 3 events, none missed and no error", len(events), missedCount, err)
		}
	})
}

func TestEventIsEncodedOnceForAllSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runCount int
		d := dispatch.New(newFinishingPage(&runCount).bridge(), dispatch.Options{})
		a, b := d.Subscribe(dispatch.SubscribeOptions{}), d.Subscribe(dispatch.SubscribeOptions{})
		defer a.Close()
		defer b.Close()
		runCalls(t, d, 1)
		firstEvents, _, errA := a.Next(t.Context())
		secondEvents, _, errB := b.Next(t.Context())
		if errA != nil || errB != nil || &firstEvents[0].JSON()[0] != &secondEvents[0].JSON()[0] {
			t.Errorf("two subscribers received separate encodings of one event (errors %v and %v), want one shared encoding", errA, errB)
		}
		var e dispatch.Event
		if err := json.Unmarshal(firstEvents[2].JSON(), &e); err != nil || e.Kind != dispatch.EventEnded || e.Seq != 3 {
			t.Errorf("decoded event = %+v, error %v; want the ended event with the number 3", e, err)
		}
	})
}

func BenchmarkCallsWithSubscribers(b *testing.B) {
	for _, subscriberCount := range []int{0, 1, 1000} {
		b.Run(fmt.Sprint("subscribers=", subscriberCount), func(b *testing.B) {
			bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, s dispatch.Sink) *wire.CallError {
				s.Reports(newNumberReports(1, 2), 0)
				s.Finish(nil, nil)
				return nil
			}}
			d := dispatch.New(bridge, dispatch.Options{})
			heapBytesBefore := liveHeapBytes()
			var wg sync.WaitGroup
			var allSubscribers []*dispatch.Subscriber
			for range subscriberCount {
				f := d.Subscribe(dispatch.SubscribeOptions{})
				allSubscribers = append(allSubscribers, f)
				wg.Go(func() {
					for {
						if _, _, err := f.Next(context.Background()); err != nil {
							return
						}
					}
				})
			}
			b.ResetTimer()
			for b.Loop() {
				if _, err := d.Call(context.Background(), dispatch.Call{Tool: exportTool}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(liveHeapBytes()-heapBytesBefore)/(1<<20), "MiB")
			for _, f := range allSubscribers {
				f.Close()
			}
			wg.Wait()
		})
	}
}

func liveHeapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestStatusWordIsInTheEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
			s.Reports([]wire.Report{
				{Progress: newFloatPointer(1), Total: newFloatPointer(4), Message: "page 1", Status: "exporting", Audience: "user"},
				{Status: "done"},
			}, 0)
			s.Finish(nil, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{})
		f := d.Subscribe(dispatch.SubscribeOptions{})
		defer f.Close()
		r, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
		if err != nil || r.ReportCount != 2 {
			t.Fatalf("the call ended with the error %v after %d reports; want no error and 2 reports", err, r.ReportCount)
		}
		events, _, err := f.Next(t.Context())
		if err != nil || len(events) != 5 {
			t.Fatalf("the subscriber read %d events, error %v; want 5 events and no error", len(events), err)
		}
		for i, want := range []string{"exporting", "done"} {
			e := events[2+i]
			var encodedReport struct {
				Report struct{ Status string }
				Call   struct{ Status string }
			}
			if err := json.Unmarshal(e.JSON(), &encodedReport); err != nil {
				t.Fatal(err)
			}
			if e.Kind != dispatch.EventProgress || e.Report.Status != want || encodedReport.Report.Status != want || encodedReport.Call.Status != "running" {
				t.Errorf("JSON of the event %s = %s, want the status word %s", e.Kind, e.JSON(), want)
			}
		}
	})
}
