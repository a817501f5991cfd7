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
				events, missed, err := f.Next(context.Background())
				if err != nil {
					return
				}
				if missed > 0 {
					t.Errorf("the follower missed %d events", missed)
				}
				batches = append(batches, batch{time.Now(), len(events)})
			}
		}()
		publish := func(callCount int) {
			for range callCount {
				s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{}})
			}
		}
		drainBatches := func(beganAt time.Time) (count, events int, longestDuration time.Duration) {
			synctest.Wait()
			for _, b := range batches {
				count, events, longestDuration = count+1, events+b.count, max(longestDuration, b.at.Sub(beganAt))
				beganAt = b.at
			}
			batches = nil
			return count, events, longestDuration
		}
		time.Sleep(time.Minute)
		beganAt := time.Now()
		publish(3)
		time.Sleep(time.Second)
		if callCount, events, longestDuration := drainBatches(beganAt); callCount != 1 || events != 3 || longestDuration != wakeDelay {
			t.Errorf("three changes were read in %d batches, %d events, after %v", callCount, events, longestDuration)
		}
		beganAt = time.Now()
		for range 500 {
			publish(3)
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(wakeInterval + wakeDelay)
		if callCount, events, longestDuration := drainBatches(beganAt); callCount > 22 || events != 1500 || longestDuration > wakeInterval+wakeDelay {
			t.Errorf("1,500 changes in 1 s were read in %d batches, %d events, at most %v apart", callCount, events, longestDuration)
		}
		for range 50 {
			publish(1000)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(wakeInterval + wakeDelay)
		if _, events, _ := drainBatches(beganAt); events != 50_000 {
			t.Errorf("%d of 50,000 events were read", events)
		}
		f.Close()
		<-done
	})
}

func TestImmediateFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(Stream)
		slow, prompt := s.Follow(FollowOptions{}), s.Follow(FollowOptions{IsImmediate: true})
		defer slow.Close()
		beganAt := time.Now()
		for i := range 3 {
			s.Publish(Change{Kind: KindCreated, Time: time.Now(), Call: &CallFacts{CallID: "call_1"}})
			events, _, err := prompt.Next(t.Context())
			if err != nil || len(events) != 1 || time.Since(beganAt) != time.Duration(i)*time.Millisecond {
				t.Errorf("change %d: %d events after %v, %v", i, len(events), time.Since(beganAt), err)
			}
			time.Sleep(time.Millisecond)
		}
		if events, _, err := slow.Next(t.Context()); err != nil || len(events) != 3 {
			t.Errorf("the other follower read %d events, %v", len(events), err)
		}
		prompt.Close()
		if len(s.immediateFollowers) != 0 {
			t.Error("a closed follower is still woken")
		}
	})
}
