package events

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/dispatch/progress"
)

// These constants limit the events that the stream keeps for followers.
const (
	maxRingEvents = 4096
	maxRingBytes  = 16 << 20
	// recordingTimeout is how long events are recorded without a follower.
	recordingTimeout = 2 * time.Minute
)

// These constants pace the followers. Followers are woken wakeDelay after a change, and
// at most once per wakeInterval, or once per backlogInterval if maxRingEvents/2 changes
// or maxRingBytes/2 bytes wait. Followers are woken in groups with a pause after each
// group, so that running calls get a processor between two groups.
const (
	wakeDelay       = 10 * time.Millisecond
	wakeInterval    = 50 * time.Millisecond
	backlogInterval = 20 * time.Millisecond
	wakeGroupSize   = 16
	wakeGroupPause  = 200 * time.Microsecond
)

// ErrFollowerClosed is the error of Next after Close.
var ErrFollowerClosed = errors.New("the follower is closed")

// FollowOptions select the events of a follower. The zero value selects all future
// events.
type FollowOptions struct {
	// After is the Seq of the last event that the reader has; Next first returns later
	// events that are kept. If After is 0, Next begins with the next event, or with the
	// oldest kept event if FromStart is set.
	After     uint64
	FromStart bool
	// CallID selects one call, Tool one tool (<plugin>__<tool>) or one plugin.
	CallID string
	Tool   string
	// Audience selects one audience: "user" means all events for the user
	// ([Event.IsForUser]), "internal" means all events whose audience is not "user".
	Audience string
	// IsPrompt wakes the follower at each change. Other followers read changes in
	// batches, which costs calls less.
	IsPrompt bool
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
	case progress.AudienceUser:
		return e.IsForUser()
	case "internal": // internal includes unknown audiences
		return e.Audience != progress.AudienceUser
	default:
		return e.Audience == o.Audience
	}
}

// Stream keeps the last events in one ring for all followers. Publish stores only what
// changed, in a queue. The next follower that reads makes events of all queued changes.
// So a call pays neither for the events nor for the number of followers, and the events
// of followers that do not read are never made.
type Stream struct {
	// isRecording is set while changes are recorded. Without followers, a report makes
	// no change.
	isRecording atomic.Bool

	// ringMu guards the fields down to followers. Publish takes ringMu only when it
	// stops the recording. mu may be taken while ringMu is held; no other lock is.
	ringMu    sync.RWMutex
	newestSeq uint64   // the number of the newest event in eventRing; changes with higher numbers are in queue
	oldestSeq uint64   // the number of the oldest event in eventRing; newestSeq+1 if there is none
	eventRing []*Event // event n is at n % maxRingEvents; nil before the first follower
	ringBytes int
	idleQueue changeQueue // empty; exchanged with queue, so that slots are reused
	followers []*Follower // in no order

	mu    sync.Mutex // guards all fields below; no other lock is taken while mu is held
	seq   uint64     // the number of the last change
	queue changeQueue
	// hasFollowers is false without followers; lastFollowerClosed is the time when the
	// last follower closed.
	hasFollowers       bool
	lastFollowerClosed time.Time
	// waker wakes the followers; nil without followers.
	waker *waker
	// promptFollowers are the followers with IsPrompt.
	promptFollowers []*Follower
}

// Publish records a change with the next number.
func (s *Stream) Publish(c Change) {
	s.mu.Lock()
	if !s.hasFollowers && c.Time.Sub(s.lastFollowerClosed) > recordingTimeout {
		s.mu.Unlock()
		s.stopRecording()
		return
	}
	s.seq++
	s.queue.push(c)
	for _, f := range s.promptFollowers {
		sendToken(f.mayHaveEvents)
	}
	waker, isLong := s.waker, s.queue.count >= maxRingEvents/2 || s.queue.bytes >= maxRingBytes/2
	s.mu.Unlock()
	if waker != nil {
		waker.request(isLong)
	}
}

// stopRecording drops all events, unless there is a follower. All changes that are not
// recorded share one number.
func (s *Stream) stopRecording() {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasFollowers || !s.isRecording.Load() {
		return
	}
	s.seq++
	s.newestSeq, s.oldestSeq = s.seq, s.seq+1
	s.eventRing, s.ringBytes, s.queue, s.idleQueue = nil, 0, changeQueue{}, changeQueue{}
	s.isRecording.Store(false)
}

// Follow returns a follower of events. Close the Follower after use.
func (s *Stream) Follow(o FollowOptions) *Follower {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eventRing == nil {
		s.eventRing = make([]*Event, maxRingEvents)
		s.newestSeq, s.oldestSeq = s.seq, s.seq+1
		s.isRecording.Store(true)
	}
	s.hasFollowers = true
	if s.waker == nil {
		s.waker = newWaker()
		go s.wakeFollowers(s.waker)
	}
	f := &Follower{
		stream: s, options: o, lastSeq: s.seq, mayMakeEvents: true,
		mayHaveEvents: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	if o.IsPrompt {
		s.promptFollowers = append(s.promptFollowers, f)
	}
	f.index = len(s.followers)
	s.followers = append(s.followers, f)
	switch {
	case o.After > s.seq: // After is from another server: the number of missed events is unknown
		f.missedCount = 1
	case o.After > 0 || o.FromStart:
		f.lastSeq = o.After
	}
	return f
}

// makeEvents makes the events of all queued changes and returns the number of the newest
// event.
func (s *Stream) makeEvents() uint64 {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	s.mu.Lock()
	lastSeq := s.seq
	if s.queue.count == 0 {
		s.mu.Unlock()
		return s.newestSeq
	}
	changes := s.queue
	s.queue, s.idleQueue = s.idleQueue, changeQueue{}
	s.mu.Unlock()
	firstSeq := lastSeq - uint64(changes.count) + 1
	if firstSeq != s.newestSeq+1 { // the queue dropped changes, so the older events are dropped too
		clear(s.eventRing)
		s.ringBytes, s.oldestSeq = 0, firstSeq
	}
	for i := range changes.count {
		s.addEvent(newEvent(changes.at(i), firstSeq+uint64(i)))
	}
	changes.reset()
	s.idleQueue = changes
	return s.newestSeq
}

// addEvent adds the next event to the ring and drops the oldest events beyond the limits.
// The caller has locked ringMu.
func (s *Stream) addEvent(e *Event) {
	s.newestSeq = e.Seq
	for e.Seq-s.oldestSeq >= maxRingEvents || s.ringBytes+e.shared.size > maxRingBytes && s.oldestSeq < e.Seq {
		slot := &s.eventRing[s.oldestSeq%maxRingEvents]
		s.ringBytes -= (*slot).shared.size
		*slot = nil
		s.oldestSeq++
	}
	s.eventRing[e.Seq%maxRingEvents] = e
	s.ringBytes += e.shared.size
}

// LastSeq returns the Seq of the last event.
func (s *Stream) LastSeq() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// removeFollower removes f; the last follower of the list replaces it.
func (s *Stream) removeFollower(f *Follower) {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	lastIndex := len(s.followers) - 1
	movedFollower := s.followers[lastIndex]
	s.followers[f.index], movedFollower.index = movedFollower, f.index
	s.followers[lastIndex] = nil
	s.followers = s.followers[:lastIndex]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.promptFollowers = slices.DeleteFunc(s.promptFollowers, func(other *Follower) bool { return other == f })
	if lastIndex == 0 {
		close(s.waker.stopped)
		s.waker, s.hasFollowers, s.lastFollowerClosed = nil, false, time.Now()
		return
	}
	s.waker.request(false) // wakeFollowers may have skipped movedFollower
}

// IsRecording reports whether changes are recorded: Publish then keeps the change.
func (s *Stream) IsRecording() bool { return s.isRecording.Load() }
