package progress

import (
	"sync"
	"time"
)

// Sender sends the notifications of one call to its client. Sender is safe for concurrent
// use, but the caller must never run SendDue, SendInBackground and Flush at the same time.
// Init initializes a Sender.
type Sender struct {
	send func(Notification) // nil if the client wants no notifications
	wake chan struct{}      // has a token when the meter has a new notification; nil if send is nil

	mu       sync.Mutex // guards all fields below; unlocked while send runs
	meter    meter
	isClosed bool
}

// Init sets the rate and the function that sends one notification. send is nil if the
// client wants no notifications. send may block.
func (s *Sender) Init(interval time.Duration, send func(Notification)) {
	s.send, s.meter.Interval = send, interval
	if send != nil {
		s.wake = make(chan struct{}, 1)
	}
}

// Wake returns a channel that has a token when SendDue should run; nil if the client
// wants no notifications.
func (s *Sender) Wake() <-chan struct{} { return s.wake }

// Accept queues a report that arrived at now.
func (s *Sender) Accept(now time.Time, n Numbers, text Text) {
	s.update(func(m *meter) { m.Accept(now, n, text) })
}

// Remind queues a message of opentabs for the user.
func (s *Sender) Remind(message string) {
	s.update(func(m *meter) { m.Remind(time.Now(), message) })
}

// KeepQueued protects the queued messages for the user from being replaced.
func (s *Sender) KeepQueued() { s.update((*meter).KeepQueued) }

// WantsNotifications reports whether the client wants notifications.
func (s *Sender) WantsNotifications() bool { return s.send != nil }

// update changes the queue, unless the client wants no notifications or the sender
// is closed.
func (s *Sender) update(changeQueue func(*meter)) {
	if s.send == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		return
	}
	changeQueue(&s.meter)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// SendDue sends the due notifications and returns a channel that fires when the next
// notification is due, or nil.
func (s *Sender) SendDue() <-chan time.Time {
	for {
		s.mu.Lock()
		if s.isClosed {
			s.mu.Unlock()
			return nil
		}
		p, ok, wait := s.meter.Next(time.Now())
		s.mu.Unlock()
		switch {
		case ok:
			s.send(p)
		case wait > 0:
			return time.After(wait)
		default:
			return nil
		}
	}
}

// SendInBackground sends due notifications on a goroutine until stop is called.
// Once stop returns, send is not running.
func (s *Sender) SendInBackground() (stop func()) {
	if s.send == nil {
		return func() {}
	}
	stopSending, sendingEnded := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sendingEnded)
		var nextSend <-chan time.Time
		for {
			select {
			case <-s.wake:
				nextSend = s.SendDue()
			case <-nextSend:
				nextSend = s.SendDue()
			case <-stopSending:
				return
			}
		}
	}()
	return func() {
		close(stopSending)
		<-sendingEnded
	}
}

// Close rejects further reports and stops SendDue. Flush can still send the queued
// notifications.
func (s *Sender) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosed = true
}

// Flush sends all queued notifications without a rate limit. Call Flush after Close.
func (s *Sender) Flush() {
	for {
		s.mu.Lock()
		p, ok := s.meter.Drain(time.Now())
		s.mu.Unlock()
		if !ok {
			return
		}
		s.send(p)
	}
}
