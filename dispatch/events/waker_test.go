package events

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestFollowersReadInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Stream
		f := s.Follow(FollowOptions{})
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
					t.Errorf("the follower missed %d events, want 0", missedCount)
				}
				batches = append(batches, batch{time.Now(), len(events)})
			}
		}()
		publish := func(callCount int) {
			for range callCount {
				s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{}})
			}
		}
		drainBatches := func(startedAt time.Time) (count, events int, longestDuration time.Duration) {
			synctest.Wait()
			for _, b := range batches {
				count, events, longestDuration = count+1, events+b.count, max(longestDuration, b.at.Sub(startedAt))
				startedAt = b.at
			}
			batches = nil
			return count, events, longestDuration
		}
		time.Sleep(time.Minute)
		startedAt := time.Now()
		publish(3)
		time.Sleep(time.Second)
		if callCount, events, longestDuration := drainBatches(startedAt); callCount != 1 || events != 3 || longestDuration != wakeDelay {
			t.Errorf("three changes were read in %d batches as %d events after %v; want 1 batch, 3 events, after %v", callCount, events, longestDuration, wakeDelay)
		}
		startedAt = time.Now()
		for range 500 {
			publish(3)
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(wakeInterval + wakeDelay)
		if callCount, events, longestDuration := drainBatches(startedAt); callCount > 22 || events != 1500 || longestDuration > wakeInterval+wakeDelay {
			t.Errorf("1,500 changes in 1 s were read in %d batches as %d events, at most %v apart; want at most 22 batches, and 1,500 events", callCount, events, longestDuration)
		}
		for range 50 {
			publish(1000)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(wakeInterval + wakeDelay)
		if _, events, _ := drainBatches(startedAt); events != 50_000 {
			t.Errorf("the follower read %d events, want 50,000", events)
		}
		f.Close()
		<-done
	})
}

func TestImmediateFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Stream)
		slowFollower, promptFollower := s.Follow(FollowOptions{}), s.Follow(FollowOptions{IsImmediate: true})
		defer slowFollower.Close()
		startedAt := time.Now()
		for i := range 3 {
			s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{CallID: "call_1"}})
			events, _, err := promptFollower.Next(t.Context())
			if err != nil || len(events) != 1 || time.Since(startedAt) != time.Duration(i)*time.Millisecond {
				t.Errorf("after change %d, the immediate follower read %d events after %v, error %v; want 1 event at once", i, len(events), time.Since(startedAt), err)
			}
			time.Sleep(time.Millisecond)
		}
		if events, _, err := slowFollower.Next(t.Context()); err != nil || len(events) != 3 {
			t.Errorf("the other follower read %d events, error %v; want 3 events and no error", len(events), err)
		}
		promptFollower.Close()
		if len(s.immediateFollowers) != 0 {
			t.Error("the stream still wakes a closed follower, want no followers to wake")
		}
	})
}
