package dispatch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of the events that the stream keeps for slow and returning followers.
const (
	ringEvents = 4096
	ringBytes  = 16 << 20
	// keepRecording is how long events are recorded without a follower.
	keepRecording = 2 * time.Minute
)

// Followers are woken in groups with a pause after each group, so that a running call
// does not wait for a processor behind all of them.
const (
	groupSize  = 16
	groupPause = 200 * time.Microsecond
)

// errFollowerClosed is the error of Next after Close.
var errFollowerClosed = errors.New("the follower is closed")

// FollowOptions select the events of a follower. The zero value selects all future
// events.
type FollowOptions struct {
	// After is the Seq of the last event that the reader has; Next first returns later
	// events that are kept. 0 begins with the next event, or with the oldest event if
	// FromStart is set.
	After     uint64
	FromStart bool
	// CallID selects one call, Tool one tool (<plugin>__<tool>) or one plugin.
	CallID string
	Tool   string
	// Audience selects one audience: "user" means all events for the user
	// ([Event.ForUser]), "internal" all whose audience is not "user".
	Audience string
}

// matches reports whether the options select e.
func (o *FollowOptions) matches(e *Event) bool {
	if o.CallID != "" && e.Call.CallID != o.CallID {
		return false
	}
	if o.Tool != "" && e.Call.ToolName != o.Tool && e.Call.Plugin != o.Tool {
		return false
	}
	switch o.Audience {
	case "":
		return true
	case AudienceUser:
		return e.ForUser()
	case "internal": // includes unknown audiences
		return e.Audience != AudienceUser
	default:
		return e.Audience == o.Audience
	}
}

// stream keeps the last events in one ring for all followers. The cost of publishing
// does not depend on their number, and publishing does not wait for them.
type stream struct {
	// following is set while events are recorded. Without followers, a report makes
	// no event.
	following atomic.Bool

	mu    sync.RWMutex // guards all fields below; no other lock is taken while mu is held
	seq   uint64       // of the last event
	first uint64       // the number of the oldest event in the ring; seq+1 if the ring is empty
	ring  []*Event     // event n is at n % ringEvents; nil before the first follower
	bytes int
	// followers are in no order; lastLeft is the time when the last follower closed.
	followers []*Follower
	lastLeft  time.Time
	// dirty has a token while followers must be woken; nil without followers.
	dirty chan struct{}
}

// publish records an event with its number and time.
func (s *stream) publish(e Event) {
	e.text = &eventText{}
	size := sizeOf(&e)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Time = time.Now()
	if len(s.followers) == 0 && e.Time.Sub(s.lastLeft) > keepRecording {
		s.seq++ // one number for all unrecorded events
		s.ring, s.bytes, s.first = nil, 0, s.seq+1
		s.following.Store(false)
		return
	}
	s.seq++
	e.Seq = s.seq
	for s.seq-s.first >= ringEvents || s.bytes+size > ringBytes && s.first < s.seq {
		s.bytes -= sizeOf(s.ring[s.first%ringEvents])
		s.ring[s.first%ringEvents] = nil
		s.first++
	}
	s.ring[s.seq%ringEvents] = &e
	s.bytes += size
	if s.dirty != nil {
		wakeReader(s.dirty)
	}
}

// sizeOf returns the approximate memory of an event in bytes.
func sizeOf(e *Event) int {
	size := 1536 + 2*(len(e.Call.Message)+len(e.Call.UserMessage)+len(e.Call.Error))
	if e.Report != nil {
		size += len(e.Report.Message)
	}
	if e.Activity != nil {
		size += 2 * (len(e.Activity.Content) + len(e.Activity.Patch))
	}
	if e.Call.Waiting != nil {
		size += 2 * len(e.Call.Waiting.Args)
	}
	return size
}

func (s *stream) follow(o FollowOptions) *Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ring == nil {
		s.ring, s.first = make([]*Event, ringEvents), s.seq+1
		s.following.Store(true)
	}
	if s.dirty == nil {
		s.dirty = make(chan struct{}, 1)
		go s.wakeFollowers(s.dirty)
	}
	f := &Follower{stream: s, options: o, last: s.seq, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	f.at = len(s.followers)
	s.followers = append(s.followers, f)
	switch {
	case o.After > s.seq: // a number of another server: the missed events are unknown
		f.missed = 1
	case o.After > 0 || o.FromStart:
		f.last = o.After
	}
	return f
}

// wakeFollowers wakes the followers after each change, until dirty is closed. publish
// does not, because many followers would delay it.
func (s *stream) wakeFollowers(dirty <-chan struct{}) {
	var group [groupSize]*Follower
	for range dirty {
		for from := 0; ; from += groupSize {
			s.mu.RLock()
			n := copy(group[:], s.followers[min(from, len(s.followers)):])
			s.mu.RUnlock()
			for _, f := range group[:n] {
				wakeReader(f.wake)
			}
			if n < groupSize {
				break
			}
			time.Sleep(groupPause)
		}
	}
}

// lastSeq returns the Seq of the last event.
func (s *stream) lastSeq() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.seq
}

// drop removes f; the last follower of the list replaces it.
func (s *stream) drop(f *Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.followers) - 1
	moved := s.followers[last]
	s.followers[f.at], moved.at = moved, f.at
	s.followers[last] = nil
	if s.followers = s.followers[:last]; last == 0 {
		close(s.dirty)
		s.dirty, s.lastLeft = nil, time.Now()
		return
	}
	wakeReader(s.dirty) // wakeFollowers may have skipped moved
}

// wakeReader sends a token to c, unless c is full.
func wakeReader(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Follower reads the events of a dispatcher. A slow follower loses the oldest unread
// events and gets their least number; [Dispatcher.Calls] then returns the current
// state. All followers share one record of the last 4,096 events or 16 MB, so a
// follower is cheap.
type Follower struct {
	stream  *stream
	options FollowOptions
	at      int           // the position in stream.followers; guarded by stream.mu
	wake    chan struct{} // has a token while there may be something to read
	once    sync.Once
	closed  chan struct{}

	// last is the Seq of the last examined event, missed the number of lost events
	// before it. Only the goroutine that calls Next uses last and missed.
	last   uint64
	missed int
}

// maxNext limits the events that Next returns at once.
const maxNext = 1024

// Next waits for events and returns at most 1,024 of them, oldest first. missed counts
// the events of all calls that were lost before them. Next returns ctx's error when ctx
// ends and another error after Close. Only one goroutine at a time may call Next. The
// events are shared and read-only.
func (f *Follower) Next(ctx context.Context) (events []*Event, missed int, err error) {
	for {
		events := f.unreadEvents()
		if len(events) > 0 || f.missed > 0 {
			missed, f.missed = f.missed, 0
			return events, missed, nil
		}
		select {
		case <-f.wake:
		case <-f.closed:
			return nil, 0, errFollowerClosed
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
	if f.last+1 < s.first {
		f.missed += int(s.first - 1 - f.last)
		f.last = s.first - 1
	}
	var events []*Event
	for f.last < s.seq && len(events) < maxNext {
		f.last++
		if e := s.ring[f.last%ringEvents]; f.options.matches(e) {
			events = append(events, e)
		}
	}
	return events
}

// Position returns the Seq of the last event that Next has examined, matching or not. A
// reader that follows again with this Seq as After misses no event. Only the goroutine
// that calls Next may call Position.
func (f *Follower) Position() uint64 { return f.last }

// Close ends the follower and wakes Next. Close may be called more than once.
func (f *Follower) Close() {
	f.once.Do(func() {
		f.stream.drop(f)
		close(f.closed)
	})
}
