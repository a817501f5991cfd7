package dispatch

import (
	"sync"
	"time"
)

// These constants limit the delayed work for ended calls, such as after hooks. The work
// of a call starts afterDelay after its end, so that the result is sent first. If
// maxAfterCalls calls wait, or if their arguments and results exceed maxAfterBytes, the
// last call does the work before it returns its result.
const (
	afterDelay    = 5 * time.Millisecond
	maxAfterCalls = 1000
	maxAfterBytes = 16 << 20
)

// afterQueue has the ended calls whose after hooks have not run and whose end is not
// logged. This work is not done on the path of the call: a timer starts it shortly after
// the result was returned, for several calls at once, in the order of their returns.
type afterQueue struct {
	work func(*liveCall) // runs the hooks and writes the log

	workMu sync.Mutex // locked while work runs

	mu    sync.Mutex // guards all fields below
	calls []*liveCall
	bytes int         // the total size of the arguments and results of the waiting calls
	timer *time.Timer // runs while calls is not empty
	idle  []*liveCall // empty; exchanged with calls, so that its memory is reused
}

// add queues the after hooks of a call with bytes of arguments and result.
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

// flush does the work of all queued calls, and returns when the work of earlier calls is
// done too.
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
