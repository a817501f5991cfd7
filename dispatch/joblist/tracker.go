package joblist

import (
	"sync"
	"sync/atomic"

	"opentabs/dispatch"
)

// Tracker finds the jobs of one owner by their calls, each with a value of the owner. A hook
// of the dispatcher finds a call as soon as the call can reach the hook. The zero Tracker is
// empty and safe for concurrent use.
type Tracker[T any] struct {
	count atomic.Int64 // the number of tracked calls and of starts in progress

	mu     sync.Mutex // guards values; locked while a job starts
	values map[string]T
}

// Start starts a call as a job of l, and tracks it until Forget.
func (t *Tracker[T]) Start(l *List, c dispatch.Call, value T) *Job {
	t.count.Add(1) // before the call can reach a hook
	t.mu.Lock()
	defer t.mu.Unlock()
	job := l.Start(c)
	if t.values == nil {
		t.values = map[string]T{}
	}
	t.values[job.ID()] = value
	return job
}

// Find returns the value of a tracked call. Find is fast while no call is tracked.
func (t *Tracker[T]) Find(callID string) (value T, ok bool) {
	if t.count.Load() == 0 {
		return value, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	value, ok = t.values[callID]
	return value, ok
}

// Forget ends the tracking of a call.
func (t *Tracker[T]) Forget(callID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.values[callID]; ok {
		delete(t.values, callID)
		t.count.Add(-1)
	}
}
