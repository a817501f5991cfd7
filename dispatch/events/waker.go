package events

import "time"

// The type waker sends requests to the goroutine that wakes the subscribers of a Stream.
type waker struct {
	requests      chan struct{}
	backlogSignal chan struct{}
	stopped       chan struct{}
}

func newWaker() *waker {
	return &waker{requests: make(chan struct{}, 1), backlogSignal: make(chan struct{}, 1), stopped: make(chan struct{})}
}

func (w *waker) request(hasBacklog bool) {
	signalWithoutBlocking(w.requests)
	if hasBacklog {
		signalWithoutBlocking(w.backlogSignal)
	}
}

// Publish does not wake subscribers itself, because the woken subscribers would compete with the running call for a
// processor.
func (s *Stream) wakeSubscribers(w *waker) {
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
		tryReceive(w.backlogSignal)
		s.WakeSubscribers()
		if !w.pause(timer, backlogInterval-wakeDelay, nil) || !w.pause(timer, wakeInterval-backlogInterval, w.backlogSignal) {
			return
		}
	}
}

func (w *waker) pause(timer *time.Timer, d time.Duration, backlogSignal <-chan struct{}) bool {
	timer.Reset(d)
	select {
	case <-timer.C:
	case <-backlogSignal:
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

// WakeSubscribers wakes all subscribers now, in groups. Dispatcher.Shutdown uses WakeSubscribers
// so that subscribers read the last events before the server stops.
func (s *Stream) WakeSubscribers() {
	var group [wakeGroupSize]*Subscriber
	for offset := 0; ; offset += wakeGroupSize {
		s.ringMu.RLock()
		n := copy(group[:], s.subscribers[min(offset, len(s.subscribers)):])
		s.ringMu.RUnlock()
		for _, f := range group[:n] {
			signalWithoutBlocking(f.wakeSignal)
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
