package events

import (
	"context"
	"sync"
)

// Subscriber reads the events of a dispatcher. If a Subscriber is too slow, the oldest unread
// events are dropped, and Next reports at least how many; Dispatcher.Calls returns the
// current state. A Subscriber is cheap, because all subscribers share one buffer of the last
// 4,096 events or 16 MB.
type Subscriber struct {
	stream     *Stream
	options    SubscribeOptions
	index      int           // the field index is the subscriber's index in Stream.subscribers; guarded by Stream.ringMu
	wakeSignal chan struct{} // wakeSignal contains a value while there may be events to read
	closeOnce  sync.Once
	closed     chan struct{}

	// Only the goroutine that calls Next uses lastSeq and the fields after it.
	lastSeq     uint64
	missedCount int
	// canConvertChanges is true before the subscriber's first read and after each wake-up: only then does the subscriber
	// convert queued changes to events.
	canConvertChanges bool
	lastReadableSeq   uint64
}

const maxNextEvents = 1024

// Next waits for events and returns at most 1,024 events at once, oldest first. The result missedCount counts all events
// that the subscriber has lost so far. If ctx ends, Next returns the error of ctx; after Close, Next returns
// ErrSubscriberClosed. Only one goroutine at a time may call Next. The subscribers share the returned events, so the caller
// must not modify them.
func (f *Subscriber) Next(ctx context.Context) (events []*Event, missedCount int, err error) {
	for {
		events := f.unreadEvents()
		if len(events) > 0 || f.missedCount > 0 {
			missedCount, f.missedCount = f.missedCount, 0
			return events, missedCount, nil
		}
		select {
		case <-f.wakeSignal:
			f.canConvertChanges = true
		case <-f.closed:
			return nil, 0, ErrSubscriberClosed
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

func (f *Subscriber) unreadEvents() []*Event {
	s := f.stream
	if f.canConvertChanges {
		f.canConvertChanges, f.lastReadableSeq = false, s.makeEvents()
	}
	s.ringMu.RLock()
	defer s.ringMu.RUnlock()
	if f.lastSeq+1 < s.oldestSeq {
		f.missedCount += int(s.oldestSeq - 1 - f.lastSeq)
		f.lastSeq = s.oldestSeq - 1
	}
	if f.lastSeq >= f.lastReadableSeq {
		return nil
	}
	events := make([]*Event, 0, min(f.lastReadableSeq-f.lastSeq, maxNextEvents))
	for f.lastSeq < f.lastReadableSeq && len(events) < maxNextEvents {
		f.lastSeq++
		if e := s.eventRing[f.lastSeq%maxRingEvents]; f.options.matches(e) {
			events = append(events, e)
		}
	}
	return events
}

// Position returns the Seq of the last event that Next has examined, even if the event did
// not match. To continue later without missing an event, pass Position as
// SubscribeOptions.AfterSeq. Only the goroutine that calls Next may call Position.
func (f *Subscriber) Position() uint64 { return f.lastSeq }

// Close removes the subscriber from its Stream and makes Next return ErrSubscriberClosed. Close
// may be called more than once.
func (f *Subscriber) Close() {
	f.closeOnce.Do(func() {
		f.stream.removeSubscriber(f)
		close(f.closed)
	})
}
