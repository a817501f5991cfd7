package events

import (
	"context"
	"errors"
	"testing"

	"opentabs/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestClosedFollowersAreRemoved(t *testing.T) {
	var s Stream
	followers := make([]*Follower, 5)
	for i := range followers {
		followers[i] = s.Follow(FollowOptions{})
	}
	for _, i := range []int{0, 3, 1, 4, 2} {
		followers[i].Close()
		followers[i].Close()
		if _, _, err := followers[i].Next(context.Background()); !errors.Is(err, ErrFollowerClosed) {
			t.Errorf("Next after Close returned the error %v, want %v", err, ErrFollowerClosed)
		}
		for index, f := range s.followers {
			if f.index != index || f == followers[i] {
				t.Errorf("field index of the follower at position %d = %d, want the position", index, f.index)
			}
		}
	}
	if len(s.followers) != 0 {
		t.Errorf("the stream still has %d followers; want 0", len(s.followers))
	}
}
