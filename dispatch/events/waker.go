package events

import "time"

// waker asks the goroutine wakeFollowers to wake the followers of a stream.
type waker struct {
	requests chan struct{} // has a token while there are changes that no follower was woken for
	backlog  chan struct{} // has a token while many changes wait
	stopped  chan struct{} // closed when the last follower closes
}

func newWaker() *waker {
	return &waker{requests: make(chan struct{}, 1), backlog: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// request requests that the followers are woken, early if many changes wait.
func (w *waker) request(isLong bool) {
	sendToken(w.requests)
	if isLong {
		sendToken(w.backlog)
	}
}

// wakeFollowers wakes the followers after changes, at most once per wakeInterval, until
// w is stopped. Publish does not wake followers itself, because followers would compete
// with the call for a processor. For the same reason wakeFollowers first waits wakeDelay,
// in which a short call ends.
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
		tryReceive(w.requests) // for all changes so far
		tryReceive(w.backlog)
		s.WakeFollowers()
		if !w.pause(timer, backlogInterval-wakeDelay, nil) || !w.pause(timer, wakeInterval-backlogInterval, w.backlog) {
			return
		}
	}
}

// pause waits for d or for a token of backlog, and returns false if w is stopped.
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

// tryReceive takes a token from c, if there is one.
func tryReceive(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// WakeFollowers wakes all followers now, so that they read the last events before the
// server stops. Followers are woken in groups.
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

// sendToken sends a token to c, unless c is full.
func sendToken(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
