package httpapi

import (
	"context"
	"runtime"
	"time"
)

// turnLimit is the maximum length of a turn. After it, a write to a slow client
// continues without a turn.
const turnLimit = 2 * time.Millisecond

// turns limits the number of concurrent writes to clients of /events to half the number
// of processors, so that calls get a processor even with many clients. turns is safe
// for concurrent use.
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquire waits for a turn, in the order of arrival. The caller calls done after its
// write.
func (t turns) acquire(ctx context.Context) (done func(), err error) {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-t }
	late := time.AfterFunc(turnLimit, release)
	return func() {
		if late.Stop() {
			release()
		}
	}, nil
}
