package events

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSubscribersReadInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Stream
		f := s.Subscribe(SubscribeOptions{})
		type batch struct {
			at    time.Time
			count int
		}
		var batches []batch
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				events, missedCount, err := f.Next(context.Background())
				if err != nil {
					return
				}
				if missedCount > 0 {
					t.Errorf("the subscriber missed %d events, want 0", missedCount)
				}
				batches = append(batches, batch{time.Now(), len(events)})
			}
		}()
		publish := func(callCount int) {
			for range callCount {
				s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{}})
			}
		}
		summarizeBatches := func(startedAt time.Time) (count, events int, longestWait time.Duration) {
			synctest.Wait()
			for _, b := range batches {
				count, events, longestWait = count+1, events+b.count, max(longestWait, b.at.Sub(startedAt))
				startedAt = b.at
			}
			batches = nil
			return count, events, longestWait
		}
		time.Sleep(time.Minute)
		startedAt := time.Now()
		publish(3)
		time.Sleep(time.Second)
		if callCount, events, longestWait := summarizeBatches(startedAt); callCount != 1 || events != 3 || longestWait != wakeDelay {
			t.Errorf("three changes were read in %d batches as %d events after %v; want 1 batch, 3 events, after %v", callCount, events, longestWait, wakeDelay)
		}
		startedAt = time.Now()
		for range 500 {
			publish(3)
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(wakeInterval + wakeDelay)
		if callCount, events, longestDuration := summarizeBatches(startedAt); callCount > 22 || events != 1500 || longestDuration > wakeInterval+wakeDelay {
			t.Errorf("1,500 changes in 1 s were read in %d batches as %d events, at most %v apart; want at most 22 batches, and 1,500 events", callCount, events, longestDuration)
		}
		for range 50 {
			publish(1000)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(wakeInterval + wakeDelay)
		if _, events, _ := summarizeBatches(startedAt); events != 50_000 {
			t.Errorf("the subscriber read %d events, want 50,000", events)
		}
		f.Close()
		<-done
	})
}

func TestImmediateSubscriberIsNotDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Stream)
		batchedSubscriber, immediateSubscriber := s.Subscribe(SubscribeOptions{}), s.Subscribe(SubscribeOptions{IsImmediate: true})
		defer batchedSubscriber.Close()
		startedAt := time.Now()
		for i := range 3 {
			s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{CallID: "call_1"}})
			events, _, err := immediateSubscriber.Next(t.Context())
			if err != nil || len(events) != 1 || time.Since(startedAt) != time.Duration(i)*time.Millisecond {
				t.Errorf("after change %d, the immediate subscriber read %d events after %v, error %v; want 1 event at once", i, len(events), time.Since(startedAt), err)
			}
			time.Sleep(time.Millisecond)
		}
		if events, _, err := batchedSubscriber.Next(t.Context()); err != nil || len(events) != 3 {
			t.Errorf("the other subscriber read %d events, error %v; want 3 events and no error", len(events), err)
		}
		immediateSubscriber.Close()
		if len(s.immediateSubscribers) != 0 {
			t.Error("the stream still wakes a closed subscriber, want no subscribers to wake")
		}
	})
}
