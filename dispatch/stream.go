package dispatch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/wire"
)

// followerEvents is how many events a follower may lag behind.
const followerEvents = 1024

// ErrFollowerClosed is what Next returns after Close.
var ErrFollowerClosed = errors.New("the follower is closed")

// stream hands every event to every follower and never waits for one.
type stream struct {
	// following is whether there is a follower, so that a report of a call that
	// nobody watches costs no event.
	following atomic.Bool

	mu        sync.Mutex // guards seq and followers
	seq       uint64
	followers map[*Follower]struct{}
}

// publish hands an event to all followers.
func (s *stream) publish(kind EventKind, view View, report *wire.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	e := Event{Seq: s.seq, Time: time.Now(), Kind: kind, Call: view, Report: report}
	for f := range s.followers {
		f.put(e)
	}
}

func (s *stream) follow() *Follower {
	f := &Follower{stream: s, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers == nil {
		s.followers = map[*Follower]struct{}{}
	}
	s.followers[f] = struct{}{}
	s.following.Store(true)
	return f
}

func (s *stream) drop(f *Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.followers, f)
	s.following.Store(len(s.followers) > 0)
}

// Follower reads the events of a dispatcher from the moment it was made. One
// that reads too slowly loses the oldest events it has not read, and is told
// how many; [Dispatcher.Calls] then says how things stand.
type Follower struct {
	stream *stream
	wake   chan struct{} // holds one token while there is something to read

	mu     sync.Mutex // guards all below
	events []Event    // a ring: events[head] is the oldest once it is full
	head   int
	missed int
	closed bool
}

// put adds an event; it never blocks.
func (f *Follower) put(e Event) {
	f.mu.Lock()
	if len(f.events) < followerEvents {
		f.events = append(f.events, e)
	} else {
		f.events[f.head] = e
		f.head = (f.head + 1) % followerEvents
		f.missed++
	}
	f.mu.Unlock()
	f.signal()
}

func (f *Follower) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Next waits for events and returns all that are there, oldest first; missed
// counts those that were lost before them. It returns ctx's error when ctx
// ends and ErrFollowerClosed after Close. One goroutine at a time may call it.
func (f *Follower) Next(ctx context.Context) (events []Event, missed int, err error) {
	for {
		f.mu.Lock()
		switch {
		case len(f.events) > 0:
			events = append(events, f.events[f.head:]...)
			events = append(events, f.events[:f.head]...)
			missed = f.missed
			f.events, f.head, f.missed = nil, 0, 0
			f.mu.Unlock()
			return events, missed, nil
		case f.closed:
			f.mu.Unlock()
			return nil, 0, ErrFollowerClosed
		}
		f.mu.Unlock()
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// Close ends the follower and wakes Next. It may be called more than once.
func (f *Follower) Close() {
	f.stream.drop(f)
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.signal()
}
