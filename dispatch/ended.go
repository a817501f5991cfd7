package dispatch

import (
	"sync"
	"time"
)

// These constants limit the delayed work for ended calls, such as after hooks. The delay
// afterDelay lets the result reach the client before the delayed work begins. If more than
// maxAfterCalls calls or maxAfterBytes of arguments and results wait, the last call does
// the work before returning its result.
const (
	afterDelay    = 5 * time.Millisecond
	maxAfterCalls = 1000
	maxAfterBytes = 16 << 20
)

// afterQueue contains the ended calls whose after hooks have not run and whose end is not
// logged. A timer runs the hooks shortly after the results were returned, for several calls
// at once, so that clients do not wait for hooks.
type afterQueue struct {
	work func(*liveCall) // runs the after hooks and writes the log

	workMu sync.Mutex // held while work runs

	mu    sync.Mutex // guards all fields below
	calls []*liveCall
	bytes int         // the total size of the arguments and results of the queued calls
	timer *time.Timer // runs while calls is not empty
	idle  []*liveCall // an empty slice that is swapped with calls to reuse its memory
}

// add queues the after hooks of a call whose arguments and result have the given total
// size.
func (q *afterQueue) add(c *liveCall, bytes int) {
	q.mu.Lock()
	q.calls = append(q.calls, c)
	q.bytes += bytes
	isFull := len(q.calls) >= maxAfterCalls || q.bytes >= maxAfterBytes
	switch {
	case q.timer == nil:
		q.timer = time.AfterFunc(afterDelay, q.flush)
	case len(q.calls) == 1:
		q.timer.Reset(afterDelay)
	}
	q.mu.Unlock()
	if isFull {
		q.flush()
	}
}

// flush runs the after hooks of all queued calls. If another goroutine is running hooks,
// flush waits until they have returned.
func (q *afterQueue) flush() {
	q.workMu.Lock()
	defer q.workMu.Unlock()
	q.mu.Lock()
	calls := q.calls
	q.calls, q.idle, q.bytes = q.idle, nil, 0
	q.mu.Unlock()
	for _, c := range calls {
		q.work(c)
	}
	clear(calls)
	q.mu.Lock()
	q.idle = calls[:0]
	q.mu.Unlock()
}
