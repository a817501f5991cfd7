package dispatch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// What the stream keeps for followers that read later or come back.
const (
	ringEvents = 4096
	ringBytes  = 16 << 20
	// keepRecording is how long events are kept though nobody follows.
	keepRecording = 2 * time.Minute
)

// Followers are woken so many at a time, with a pause behind each such group: a
// call that is under way must not queue for a processor behind all of them.
const (
	crowd      = 16
	crowdPause = 200 * time.Microsecond
)

// ErrFollowerClosed is what Next returns after Close.
var ErrFollowerClosed = errors.New("the follower is closed")

// FollowOptions say which events a follower gets; the zero value, all from now
// on.
type FollowOptions struct {
	// After is the Seq of the last event that the reader has; those since follow
	// first. 0 begins with the next event, or with the first there was if
	// FromStart is set.
	After     uint64
	FromStart bool
	// CallID keeps to one call, Tool to one tool (<plugin>__<tool>) or one plugin.
	CallID string
	Tool   string
	// Audience keeps to events of one audience; "user" stands for all that people
	// should see ([Event.ForUser]), "internal" for all that is not "user".
	Audience string
}

// wants reports whether a follower gets e.
func (o *FollowOptions) wants(e *Event) bool {
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
	case "internal": // an unknown audience counts as it
		return e.Audience != AudienceUser
	default:
		return e.Audience == o.Audience
	}
}

// stream keeps the last events in one ring for all followers. To publish an
// event costs the same whatever their number, and waits for none of them.
type stream struct {
	// following is whether events are recorded, so that a report of a call that
	// nobody watches costs no event.
	following atomic.Bool

	mu    sync.RWMutex // guards all below
	seq   uint64       // of the last event
	first uint64       // of the oldest event in the ring; seq+1 if it is empty
	ring  []*Event     // the event n is at n % ringEvents; nil until one follows
	bytes int
	// followers are in no order; left is when the last one went.
	followers []*Follower
	left      time.Time
	// dirty holds a token while followers are to be woken; nil while nobody
	// follows.
	dirty chan struct{}
}

// publish records an event; it numbers it and gives it the time.
func (s *stream) publish(e Event) {
	e.text = &eventText{}
	size := sizeOf(&e)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Time = time.Now()
	if len(s.followers) == 0 && e.Time.Sub(s.left) > keepRecording {
		s.seq++ // stands for all that is not recorded
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
		poke(s.dirty)
	}
}

// sizeOf is about what an event takes in memory, in bytes.
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
		go s.tell(s.dirty)
	}
	f := &Follower{stream: s, options: o, last: s.seq, wake: make(chan struct{}, 1), closed: make(chan struct{})}
	f.at = len(s.followers)
	s.followers = append(s.followers, f)
	switch {
	case o.After > s.seq: // a number of another server: what it missed is not known
		f.missed = 1
	case o.After > 0 || o.FromStart:
		f.last = o.After
	}
	return f
}

// tell wakes the followers when there is something new, until dirty is closed.
// It is not done by publish, which a crowd would hold up.
func (s *stream) tell(dirty <-chan struct{}) {
	var group [crowd]*Follower
	for range dirty {
		for from := 0; ; from += crowd {
			s.mu.RLock()
			n := copy(group[:], s.followers[min(from, len(s.followers)):])
			s.mu.RUnlock()
			for _, f := range group[:n] {
				poke(f.wake)
			}
			if n < crowd {
				break
			}
			time.Sleep(crowdPause)
		}
	}
}

// last is the Seq of the last event.
func (s *stream) last() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.seq
}

// drop takes f out; the last follower takes its place.
func (s *stream) drop(f *Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.followers) - 1
	moved := s.followers[last]
	s.followers[f.at], moved.at = moved, f.at
	s.followers[last] = nil
	if s.followers = s.followers[:last]; last == 0 {
		close(s.dirty)
		s.dirty, s.left = nil, time.Now()
		return
	}
	poke(s.dirty) // moved may have been passed over
}

// poke puts a token into c, unless there is one.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Follower reads the events of a dispatcher. One that reads too slowly loses the
// oldest events it has not read, and is told how many at least;
// [Dispatcher.Calls] then says how things stand. All followers share one record
// of the last 4,096 events or 16 MiB, so a follower costs next to nothing.
type Follower struct {
	stream  *stream
	options FollowOptions
	at      int           // in stream.followers; guarded by stream.mu
	wake    chan struct{} // holds a token while there may be something to read
	once    sync.Once
	closed  chan struct{}

	// last is the Seq of the last event looked at, missed what was lost before it;
	// of the goroutine that calls Next.
	last   uint64
	missed int
}

// maxNext is how many events Next returns at once.
const maxNext = 1024

// Next waits for events and returns those that are there, at most 1,024, oldest
// first; missed counts those that were lost before them, of all calls. It
// returns ctx's error when ctx ends and ErrFollowerClosed after Close. One
// goroutine at a time may call it. The events are shared: they may not be
// changed.
func (f *Follower) Next(ctx context.Context) (events []*Event, missed int, err error) {
	for {
		events := f.look()
		if len(events) > 0 || f.missed > 0 {
			missed, f.missed = f.missed, 0
			return events, missed, nil
		}
		select {
		case <-f.wake:
		case <-f.closed:
			return nil, 0, ErrFollowerClosed
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// look returns what the follower has not seen.
func (f *Follower) look() []*Event {
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
		if e := s.ring[f.last%ringEvents]; f.options.wants(e) {
			events = append(events, e)
		}
	}
	return events
}

// Position is the Seq of the last event that Next has looked at, also of one
// that the follower does not want: who comes back with it as After misses
// nothing. Only the goroutine that calls Next may call it.
func (f *Follower) Position() uint64 { return f.last }

// Close ends the follower and wakes Next. It may be called more than once.
func (f *Follower) Close() {
	f.once.Do(func() {
		f.stream.drop(f)
		close(f.closed)
	})
}
