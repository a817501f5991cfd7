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
	index         int           // the position in Stream.followers; guarded by Stream.ringMu
	mayHaveEvents chan struct{} // has a token while there may be something to read
	closeOnce     sync.Once
	closed        chan struct{}

	// lastSeq is the Seq of the last examined event; missedCount counts lost events.
	// Only
	// the goroutine that calls Next uses the fields from here on.
	lastSeq     uint64
	missedCount int
	// mayMakeEvents is set if the follower may make events of queued changes: before its
	// first read and after each wake-up. readableSeq is the newest event after that.
	// Until the next wake-up the follower reads only up to readableSeq, so a follower
	// that is faster than the calls does not read each event alone.
	mayMakeEvents bool
	readableSeq   uint64
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
			f.mayMakeEvents = true
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
	if f.mayMakeEvents {
		f.mayMakeEvents, f.readableSeq = false, s.makeEvents()
	}
	s.ringMu.RLock()
	defer s.ringMu.RUnlock()
	if f.lastSeq+1 < s.oldestSeq {
		f.missedCount += int(s.oldestSeq - 1 - f.lastSeq)
		f.lastSeq = s.oldestSeq - 1
	}
	if f.lastSeq >= f.readableSeq {
		return nil
	}
	events := make([]*Event, 0, min(f.readableSeq-f.lastSeq, maxNextEvents))
	for f.lastSeq < f.readableSeq && len(events) < maxNextEvents {
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
