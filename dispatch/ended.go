package dispatch

import (
	"sync"
	"time"
)

// These constants limit the work for ended calls that is delayed, such as running AfterHooks. The delay afterHookDelay
// lets the result reach the client before the delayed work begins.
const (
	afterHookDelay    = 20 * time.Millisecond
	maxAfterHookCalls = 1000
	maxAfterHookBytes = 16 << 20
)

// afterHookQueue contains the ended calls whose AfterHooks have not run and whose end is not
// logged. A timer runs the hooks for several calls at once, shortly after their results were
// returned, so that no client waits for a hook.
type afterHookQueue struct {
	processEndedCall func(*liveCall)

	hookMu sync.Mutex // hookMu is locked while AfterHooks run

	mu         sync.Mutex // the mutex guards all fields below
	calls      []*liveCall
	bytes      int
	timer      *time.Timer
	spareCalls []*liveCall // the field spareCalls is an empty slice, which is swapped with the slice calls to reuse memory
}

func (q *afterHookQueue) add(c *liveCall, bytes int) {
	q.mu.Lock()
	q.calls = append(q.calls, c)
	q.bytes += bytes
	isFull := len(q.calls) >= maxAfterHookCalls || q.bytes >= maxAfterHookBytes
	switch {
	case q.timer == nil:
		q.timer = time.AfterFunc(afterHookDelay, q.flush)
	case len(q.calls) == 1:
		q.timer.Reset(afterHookDelay)
	}
	q.mu.Unlock()
	if isFull {
		q.flush()
	}
}

// The method flush runs the AfterHooks of all queued calls.
func (q *afterHookQueue) flush() {
	q.hookMu.Lock()
	defer q.hookMu.Unlock()
	q.mu.Lock()
	calls := q.calls
	q.calls, q.spareCalls, q.bytes = q.spareCalls, nil, 0
	q.mu.Unlock()
	for _, c := range calls {
		q.processEndedCall(c)
	}
	clear(calls)
	q.mu.Lock()
	q.spareCalls = calls[:0]
	q.mu.Unlock()
}
