package joblist

import (
	"sync"
	"sync/atomic"

	"opentabs/dispatch"
)

// Tracker stores a value for each call that was started as a job, so that hooks of the
// dispatcher can find the value. A hook finds the value of a call even if the call has
// just started. The zero Tracker is empty and safe for concurrent use.
type Tracker[T any] struct {
	count atomic.Int64

	mu     sync.Mutex // the mutex guards values; held while a job starts
	values map[string]T
}

// Start starts the call c as a job of the list l, and keeps value for [Tracker.Find]
// until Forget is called.
func (t *Tracker[T]) Start(l *List, c dispatch.Call, value T) *Job {
	t.count.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	job := l.Start(c)
	if t.values == nil {
		t.values = map[string]T{}
	}
	t.values[job.ID()] = value
	return job
}

// Find returns the value that was passed to [Tracker.Start] with a call. While no call is
// tracked, Find takes no lock.
func (t *Tracker[T]) Find(callID string) (value T, ok bool) {
	if t.count.Load() == 0 {
		return value, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	value, ok = t.values[callID]
	return value, ok
}

// Forget removes the value of a call from the Tracker.
func (t *Tracker[T]) Forget(callID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.values[callID]; ok {
		delete(t.values, callID)
		t.count.Add(-1)
	}
}
