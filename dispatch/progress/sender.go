package progress

import (
	"sync"
	"time"
)

// Sender sends the progress notifications of one call to its client. Init must be called before any other method. A
// Sender is safe for concurrent use, but only one of SendDueNotifications, SendInBackground and Flush may run at a time.
type Sender struct {
	sendNotification func(Notification)
	wake             chan struct{}

	mu       sync.Mutex // the mutex guards all fields below; unlocked while send runs
	meter    meter
	isClosed bool
}

// Init sets the shortest time between two notifications, and the function that sends one
// notification. The function sendNotification is allowed to block. If the client wants no
// notifications, sendNotification is nil.
func (s *Sender) Init(interval time.Duration, sendNotification func(Notification)) {
	s.sendNotification, s.meter.Interval = sendNotification, interval
	if sendNotification != nil {
		s.wake = make(chan struct{}, 1)
	}
}

// WakeChan returns a channel that receives a token when SendDueNotifications should be called, or nil if the
// client wants no notifications.
func (s *Sender) WakeChan() <-chan struct{} { return s.wake }

// AddReport queues a progress report of the tool that arrived at the given time.
func (s *Sender) AddReport(now time.Time, n Numbers, reportText Text) {
	s.update(func(m *meter) { m.AddReport(now, n, reportText) })
}

// SendReminder queues a message that opentabs itself sends to the user, such as a reminder of an
// open approval.
func (s *Sender) SendReminder(reportMessage string) {
	s.update(func(m *meter) { m.SendReminder(time.Now(), reportMessage) })
}

// KeepQueuedNotifications ensures that later messages do not replace the queued messages for the user.
func (s *Sender) KeepQueuedNotifications() { s.update((*meter).KeepQueuedNotifications) }

// HasRecipient reports whether the client wants progress notifications.
func (s *Sender) HasRecipient() bool { return s.sendNotification != nil }

func (s *Sender) update(changeQueue func(*meter)) {
	if s.sendNotification == nil {
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

// SendDueNotifications sends all queued notifications that the rate limit allows now. The returned
// channel fires when the rate limit allows the next notification. If no notification is
// queued, the channel is nil.
func (s *Sender) SendDueNotifications() <-chan time.Time {
	for {
		s.mu.Lock()
		if s.isClosed {
			s.mu.Unlock()
			return nil
		}
		p, ok, waitTime := s.meter.Next(time.Now())
		s.mu.Unlock()
		switch {
		case ok:
			s.sendNotification(p)
		case waitTime > 0:
			return time.After(waitTime)
		default:
			return nil
		}
	}
}

// SendInBackground starts a goroutine that sends notifications, as the rate limit allows,
// until stopSender is called. The returned function stopSender ends the goroutine and waits until it
// has ended.
func (s *Sender) SendInBackground() (stopSender func()) {
	if s.sendNotification == nil {
		return func() {}
	}
	stopSending, senderDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(senderDone)
		var nextSendTimer <-chan time.Time
		for {
			select {
			case <-s.wake:
				nextSendTimer = s.SendDueNotifications()
			case <-nextSendTimer:
				nextSendTimer = s.SendDueNotifications()
			case <-stopSending:
				return
			}
		}
	}()
	return func() {
		close(stopSending)
		<-senderDone
		s.update(func(*meter) {}) // the goroutine may have waited for the rate limit, so the caller must check the queue
	}
}

// Close makes the Sender ignore later progress reports, and makes SendDueNotifications send nothing.
// After Close, Flush can still send the queued notifications.
func (s *Sender) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosed = true
}

// Flush sends all queued notifications at once, without a rate limit. The caller must call
// Close before Flush, so that no report is queued later.
func (s *Sender) Flush() {
	for {
		s.mu.Lock()
		p, ok := s.meter.TakeNext(time.Now())
		s.mu.Unlock()
		if !ok {
			return
		}
		s.sendNotification(p)
	}
}
