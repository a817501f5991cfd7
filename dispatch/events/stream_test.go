package events

import (
	"context"
	"errors"
	"testing"

	"opentabs/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestClosedSubscribersAreRemoved(t *testing.T) {
	var s Stream
	subscribers := make([]*Subscriber, 5)
	for i := range subscribers {
		subscribers[i] = s.Subscribe(SubscribeOptions{})
	}
	for _, i := range []int{0, 3, 1, 4, 2} {
		subscribers[i].Close()
		subscribers[i].Close()
		if _, _, err := subscribers[i].Next(context.Background()); !errors.Is(err, ErrSubscriberClosed) {
			t.Errorf("Next after Close returned the error %v, want %v", err, ErrSubscriberClosed)
		}
		for index, f := range s.subscribers {
			if f.index != index || f == subscribers[i] {
				t.Errorf("field index of the subscriber at position %d = %d, want the position", index, f.index)
			}
		}
	}
	if len(s.subscribers) != 0 {
		t.Errorf("the stream still has %d subscribers; want 0", len(s.subscribers))
	}
}
