package events

import "time"

// The type waker sends requests to the goroutine that wakes the followers of a Stream.
type waker struct {
	requests chan struct{}
	backlog  chan struct{}
	stopped  chan struct{}
}

func newWaker() *waker {
	return &waker{requests: make(chan struct{}, 1), backlog: make(chan struct{}, 1), stopped: make(chan struct{})}
}

func (w *waker) request(isLong bool) {
	signalWithoutBlocking(w.requests)
	if isLong {
		signalWithoutBlocking(w.backlog)
	}
}

// Publish does not wake followers itself, because the woken followers would compete with the running call for a
// processor.
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
		tryReceive(w.requests)
		tryReceive(w.backlog)
		s.WakeFollowers()
		if !w.pause(timer, backlogInterval-wakeDelay, nil) || !w.pause(timer, wakeInterval-backlogInterval, w.backlog) {
			return
		}
	}
}

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
			signalWithoutBlocking(f.mayHaveEvents)
		}
		if n < wakeGroupSize {
			return
		}
		time.Sleep(wakeGroupPause)
	}
}

func signalWithoutBlocking(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
