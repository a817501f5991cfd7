package events

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/dispatch/progress"
)

const (
	maxRingEvents = 4096
	maxRingBytes  = 16 << 20
	// recordingTimeout is how long a Stream records events after its last subscriber has closed.
	recordingTimeout = 2 * time.Minute
)

// Subscribers are woken wakeDelay after a change, at most once per wakeInterval. While the queue contains at least
// maxRingEvents/2 changes or maxRingBytes/2 bytes, subscribers are woken once per backlogInterval, not once per
// wakeInterval. Subscribers are woken in groups of wakeGroupSize. After each group of subscribers, a pause of
// wakeGroupPause leaves the processor to running calls.
const (
	wakeDelay       = 10 * time.Millisecond
	wakeInterval    = 50 * time.Millisecond
	backlogInterval = 20 * time.Millisecond
	wakeGroupSize   = 16
	wakeGroupPause  = 200 * time.Microsecond
)

// ErrSubscriberClosed is the error that Subscriber.Next returns after Subscriber.Close.
var ErrSubscriberClosed = errors.New("the subscriber is closed")

// SubscribeOptions select the events that a Subscriber receives. The zero SubscribeOptions select
// all future events.
type SubscribeOptions struct {
	// The field AfterSeq is the Seq of the last event that the reader has already received; Next
	// begins with the first later event that is still kept. If AfterSeq is 0, Next begins with
	// the next new event, or with the oldest kept event if IncludesEarlierEvents is true.
	AfterSeq              uint64
	IncludesEarlierEvents bool
	// CallID selects the events of one call. Tool selects the events of one tool
	// (<plugin>__<tool>) or of one plugin.
	CallID string
	Tool   string
	// Audience selects events by their audience: "user" selects all events for the user
	// ([Event.IsForUser]), and "internal" selects all events whose audience is not "user".
	Audience string
	// IsImmediate wakes the subscriber immediately after each change. Subscribers without
	// IsImmediate read changes in batches, which slows calls down less.
	IsImmediate bool
}

func (o *SubscribeOptions) matches(e *Event) bool {
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
	case "internal":
		return e.Audience != progress.AudienceUser
	default:
		return e.Audience == o.Audience
	}
}

// Stream keeps the last events in one ring buffer for all subscribers. Publish only adds a
// small Change to a queue, and the next subscriber that reads turns all queued changes into
// events. Because Publish only adds to a queue, many subscribers do not slow down calls, and
// no events are built while no subscriber reads.
type Stream struct {
	isRecording atomic.Bool

	// ringMu guards the fields from newestSeq to subscribers. Publish locks ringMu only when it
	// stops the recording. Code that holds ringMu acquires no other lock than mu.
	ringMu      sync.RWMutex
	newestSeq   uint64
	oldestSeq   uint64
	eventRing   []*Event // event n is at index n % maxRingEvents; eventRing is nil until the first subscriber
	ringBytes   int
	spareQueue  changeQueue
	subscribers []*Subscriber

	mu                     sync.Mutex // the mutex guards all fields below; no other lock is acquired while mu is held
	seq                    uint64
	queue                  changeQueue
	hasSubscribers         bool
	lastSubscriberClosedAt time.Time
	waker                  *waker
	immediateSubscribers   []*Subscriber
}

// Publish records a change of a call and assigns the next sequence number to it.
func (s *Stream) Publish(c Change) {
	s.mu.Lock()
	if !s.hasSubscribers && c.Time.Sub(s.lastSubscriberClosedAt) > recordingTimeout {
		s.mu.Unlock()
		s.stopRecording()
		return
	}
	s.seq++
	s.queue.push(c)
	for _, f := range s.immediateSubscribers {
		signalWithoutBlocking(f.wakeSignal)
	}
	waker, hasBacklog := s.waker, s.queue.count >= maxRingEvents/2 || s.queue.bytes >= maxRingBytes/2
	s.mu.Unlock()
	if waker != nil {
		waker.request(hasBacklog)
	}
}

// While the Stream is not recording, from stopRecording to the next call of Subscribe, all changes
// share one sequence number.
func (s *Stream) stopRecording() {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasSubscribers || !s.isRecording.Load() {
		return
	}
	s.seq++
	s.newestSeq, s.oldestSeq = s.seq, s.seq+1
	s.eventRing, s.ringBytes, s.queue, s.spareQueue = nil, 0, changeQueue{}, changeQueue{}
	s.isRecording.Store(false)
}

// Subscribe returns a Subscriber, which reads events. The caller must close the Subscriber.
func (s *Stream) Subscribe(o SubscribeOptions) *Subscriber {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.eventRing == nil {
		s.eventRing = make([]*Event, maxRingEvents)
		s.newestSeq, s.oldestSeq = s.seq, s.seq+1
		s.isRecording.Store(true)
	}
	s.hasSubscribers = true
	if s.waker == nil {
		s.waker = newWaker()
		go s.wakeSubscribers(s.waker)
	}
	f := &Subscriber{
		stream: s, options: o, lastSeq: s.seq, canConvertChanges: true,
		wakeSignal: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	if o.IsImmediate {
		s.immediateSubscribers = append(s.immediateSubscribers, f)
	}
	f.index = len(s.subscribers)
	s.subscribers = append(s.subscribers, f)
	switch {
	case o.AfterSeq > s.seq:
		f.missedCount = 1
	case o.AfterSeq > 0 || o.IncludesEarlierEvents:
		f.lastSeq = o.AfterSeq
	}
	return f
}

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
	s.queue, s.spareQueue = s.spareQueue, changeQueue{}
	s.mu.Unlock()
	firstSeq := lastSeq - uint64(changes.count) + 1
	if firstSeq != s.newestSeq+1 {
		clear(s.eventRing)
		s.ringBytes, s.oldestSeq = 0, firstSeq
	}
	for i := range changes.count {
		s.addEvent(newEvent(changes.at(i), firstSeq+uint64(i)))
	}
	changes.reset()
	s.spareQueue = changes
	return s.newestSeq
}

// The caller of addEvent holds Stream.ringMu.
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

func (s *Stream) removeSubscriber(f *Subscriber) {
	s.ringMu.Lock()
	defer s.ringMu.Unlock()
	lastIndex := len(s.subscribers) - 1
	movedSubscriber := s.subscribers[lastIndex]
	s.subscribers[f.index], movedSubscriber.index = movedSubscriber, f.index
	s.subscribers[lastIndex] = nil
	s.subscribers = s.subscribers[:lastIndex]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.immediateSubscribers = slices.DeleteFunc(s.immediateSubscribers, func(otherSubscriber *Subscriber) bool { return otherSubscriber == f })
	if lastIndex == 0 {
		close(s.waker.stopped)
		s.waker, s.hasSubscribers, s.lastSubscriberClosedAt = nil, false, time.Now()
		return
	}
	s.waker.request(false)
}

// IsRecording reports whether the Stream records changes. If IsRecording returns false,
// the caller can skip Publish, because the Stream would discard the Change.
func (s *Stream) IsRecording() bool { return s.isRecording.Load() }
