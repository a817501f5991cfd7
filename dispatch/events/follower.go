package events

import (
	"context"
	"sync"
)

// Follower reads the events of a dispatcher. A slow follower loses the oldest unread
// events and gets the minimum number of lost events; [Dispatcher.Calls] then returns
// the current state. All followers share one record of the last 4,096 events or 16 MB,
// so a follower is cheap.
type Follower struct {
	stream        *Stream
	options       FollowOptions
	index         int           // the position in Stream.followers; guarded by Stream.mu
	mayHaveEvents chan struct{} // has a token while there may be something to read
	closeOnce     sync.Once
	closed        chan struct{}

	// lastSeq is the Seq of the last examined event; missedCount counts lost events.
	// Only the goroutine that calls Next uses lastSeq and missedCount.
	lastSeq     uint64
	missedCount int
}

// maxNextEvents limits the events that Next returns at once.
const maxNextEvents = 1024

// Next waits for events and returns at most 1,024 of them, oldest first. missed counts
// the lost events of all calls before the returned events. Next returns ctx's error
// when ctx ends and another error after Close. Only one goroutine at a time may call
// Next. The events are shared and read-only.
func (f *Follower) Next(ctx context.Context) (events []*Event, missed int, err error) {
	for {
		events := f.unreadEvents()
		if len(events) > 0 || f.missedCount > 0 {
			missed, f.missedCount = f.missedCount, 0
			return events, missed, nil
		}
		select {
		case <-f.mayHaveEvents:
		case <-f.closed:
			return nil, 0, ErrFollowerClosed
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// unreadEvents returns the next matching events.
func (f *Follower) unreadEvents() []*Event {
	s := f.stream
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f.lastSeq+1 < s.oldestSeq {
		f.missedCount += int(s.oldestSeq - 1 - f.lastSeq)
		f.lastSeq = s.oldestSeq - 1
	}
	var events []*Event
	for f.lastSeq < s.seq && len(events) < maxNextEvents {
		f.lastSeq++
		if e := s.eventRing[f.lastSeq%maxRingEvents]; f.options.matches(e) {
			events = append(events, e)
		}
	}
	return events
}

// Position returns the Seq of the last event that Next has examined, matching or not. A
// reader that passes Position as FollowOptions.After to a later Follow misses no event.
// Only the goroutine that calls Next may call Position.
func (f *Follower) Position() uint64 { return f.lastSeq }

// Close ends the follower and wakes Next. Close may be called more than once.
func (f *Follower) Close() {
	f.closeOnce.Do(func() {
		f.stream.removeFollower(f)
		close(f.closed)
	})
}
