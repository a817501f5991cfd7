package events

import (
	"errors"
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

// Followers are woken in groups with a pause after each group, so that running calls
// get a processor between two groups.
const (
	wakeGroupSize  = 16
	wakeGroupPause = 200 * time.Microsecond
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

// Stream keeps the last events in one ring for all followers. Publishing does not wait
// for followers, and its cost does not depend on their number.
type Stream struct {
	// isRecording is set while events are recorded. Without followers, a report makes
	// no event.
	isRecording atomic.Bool

	mu        sync.RWMutex // guards all fields below; no other lock is taken while mu is held
	seq       uint64       // the number of the last event
	oldestSeq uint64       // the number of the oldest kept event; seq+1 if there is none
	eventRing []*Event     // event n is at n % maxRingEvents; nil before the first follower
	ringBytes int
	// followers are in no order; lastFollowerClosed is the time when the last follower
	// closed.
	followers          []*Follower
	lastFollowerClosed time.Time
	// wakeRequests has a token while followers must be woken; nil without followers.
	wakeRequests chan struct{}
}

// Publish records an event with its number and time.
func (s *Stream) Publish(e Event) {
	e.text = &eventText{}
	size := sizeOf(&e)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Time = time.Now()
	if len(s.followers) == 0 && e.Time.Sub(s.lastFollowerClosed) > recordingTimeout {
		s.seq++ // all unrecorded events share one number
		s.eventRing, s.ringBytes, s.oldestSeq = nil, 0, s.seq+1
		s.isRecording.Store(false)
		return
	}
	s.seq++
	e.Seq = s.seq
	for s.seq-s.oldestSeq >= maxRingEvents || s.ringBytes+size > maxRingBytes && s.oldestSeq < s.seq {
		s.ringBytes -= sizeOf(s.eventRing[s.oldestSeq%maxRingEvents])
		s.eventRing[s.oldestSeq%maxRingEvents] = nil
		s.oldestSeq++
	}
	s.eventRing[s.seq%maxRingEvents] = &e
	s.ringBytes += size
	if s.wakeRequests != nil {
		sendToken(s.wakeRequests)
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

// Follow returns a follower of events. Close the Follower after use.
func (s *Stream) Follow(o FollowOptions) *Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eventRing == nil {
		s.eventRing, s.oldestSeq = make([]*Event, maxRingEvents), s.seq+1
		s.isRecording.Store(true)
	}
	if s.wakeRequests == nil {
		s.wakeRequests = make(chan struct{}, 1)
		go s.wakeFollowers(s.wakeRequests)
	}
	f := &Follower{stream: s, options: o, lastSeq: s.seq, mayHaveEvents: make(chan struct{}, 1), closed: make(chan struct{})}
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

// wakeFollowers wakes the followers after each change, until wakeRequests is closed.
// Publish does not wake followers itself, because many followers would delay it.
func (s *Stream) wakeFollowers(wakeRequests <-chan struct{}) {
	var group [wakeGroupSize]*Follower
	for range wakeRequests {
		for offset := 0; ; offset += wakeGroupSize {
			s.mu.RLock()
			n := copy(group[:], s.followers[min(offset, len(s.followers)):])
			s.mu.RUnlock()
			for _, f := range group[:n] {
				sendToken(f.mayHaveEvents)
			}
			if n < wakeGroupSize {
				break
			}
			time.Sleep(wakeGroupPause)
		}
	}
}

// LastSeq returns the Seq of the last event.
func (s *Stream) LastSeq() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.seq
}

// removeFollower removes f; the last follower of the list replaces it.
func (s *Stream) removeFollower(f *Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lastIndex := len(s.followers) - 1
	movedFollower := s.followers[lastIndex]
	s.followers[f.index], movedFollower.index = movedFollower, f.index
	s.followers[lastIndex] = nil
	if s.followers = s.followers[:lastIndex]; lastIndex == 0 {
		close(s.wakeRequests)
		s.wakeRequests, s.lastFollowerClosed = nil, time.Now()
		return
	}
	sendToken(s.wakeRequests) // wakeFollowers may have skipped movedFollower
}

// sendToken sends a token to c, unless c is full.
func sendToken(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// IsRecording reports whether events are recorded: Publish then keeps the event.
func (s *Stream) IsRecording() bool { return s.isRecording.Load() }
