package httpapi

import (
	"context"
	"runtime"
	"time"
)

// turnTimeout is how long one write to a client may occupy one of the limited turns.
// After turnTimeout, a write to a slow client continues without a turn.
const turnTimeout = 2 * time.Millisecond

// writeTurns limits concurrent writes to clients of /events to half the number of
// processors. Calls therefore get a processor even with many clients. writeTurns is
// safe for concurrent use.
type writeTurns chan struct{}

func newTurns() writeTurns { return make(writeTurns, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquire waits for a turn to write to a client, in the order of arrival. The caller
// calls endTurn after its write.
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
