package httpapi

import (
	"context"
	"runtime"
	"time"
)

// turnTimeout limits how long one write to a client may occupy one of the concurrent
// writes. After turnTimeout, the write continues without counting against the limit, so
// that slow clients do not block others.
const turnTimeout = 2 * time.Millisecond

// writeTurns limits the concurrent writes to clients of /events to half the number of
// processors. Without the limit, writes to many clients would leave no processor time for
// calls. writeTurns is safe for concurrent use.
type writeTurns chan struct{}

func newTurns() writeTurns { return make(writeTurns, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquire blocks until the caller may write to a client, in the order of arrival. The
// caller calls endTurn after the write.
func (t writeTurns) acquire(ctx context.Context) (endTurn func(), err error) {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-t }
	expiry := time.AfterFunc(turnTimeout, release)
	return func() {
		if expiry.Stop() {
			release()
		}
	}, nil
}
