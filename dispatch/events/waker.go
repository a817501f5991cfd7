package events

import "time"

// waker sends requests to the goroutine that wakes the followers of a Stream.
type waker struct {
	requests chan struct{} // contains a token while followers have not been woken for the latest changes
	backlog  chan struct{} // contains a token while many changes wait to be read
	stopped  chan struct{} // closed when the last follower closes
}

func newWaker() *waker {
	return &waker{requests: make(chan struct{}, 1), backlog: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// request schedules a wake-up of the followers. isLong reports whether the queue of
// changes is long; the waker then wakes the followers earlier.
func (w *waker) request(isLong bool) {
	sendToken(w.requests)
	if isLong {
		sendToken(w.backlog)
	}
}

// wakeFollowers wakes the followers after changes, at most once per wakeInterval, until the
// waker is stopped. Publish does not wake followers itself, because they would compete with
// the running call for a processor. wakeFollowers first waits wakeDelay, because most short
// calls end within this time.
func (s *Stream) wakeFollowers(w *waker) {
	timer := time.NewTimer(wakeInterval)
	defer timer.Stop()
	for {
		select {
		case <-w.stopped:
			return
		case <-w.requests:
		}
		if !w.pause(timer, wakeDelay, nil) {
			return
		}
		tryReceive(w.requests) // the next wake-up covers all changes so far
		tryReceive(w.backlog)
		s.WakeFollowers()
		if !w.pause(timer, backlogInterval-wakeDelay, nil) || !w.pause(timer, wakeInterval-backlogInterval, w.backlog) {
			return
		}
	}
}

// pause waits until the duration d has passed or the channel backlog has a token, and
// returns false if the waker is stopped.
func (w *waker) pause(timer *time.Timer, d time.Duration, backlog <-chan struct{}) bool {
	timer.Reset(d)
	select {
	case <-timer.C:
	case <-backlog:
	case <-w.stopped:
		return false
	}
	return true
}

// tryReceive receives a token from a channel without blocking.
func tryReceive(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// WakeFollowers wakes all followers now, in groups. Dispatcher.Shutdown uses WakeFollowers
// so that followers read the last events before the server stops.
func (s *Stream) WakeFollowers() {
	var group [wakeGroupSize]*Follower
	for offset := 0; ; offset += wakeGroupSize {
		s.ringMu.RLock()
		n := copy(group[:], s.followers[min(offset, len(s.followers)):])
		s.ringMu.RUnlock()
		for _, f := range group[:n] {
			sendToken(f.mayHaveEvents)
		}
		if n < wakeGroupSize {
			return
		}
		time.Sleep(wakeGroupPause)
	}
}

// sendToken sends a token to a channel unless its buffer is full.
func sendToken(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
