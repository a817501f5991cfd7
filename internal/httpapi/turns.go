package httpapi

import (
	"context"
	"runtime"
	"time"
)

// turnLimit is how long a client that is written to counts. One that reads slowly
// then goes on beside the others.
const turnLimit = 2 * time.Millisecond

// turns lets few of the clients that follow events be written to at once, half as
// many as there are processors: however many clients there are, calls queue for a
// processor behind these only. It is safe for concurrent use.
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// take waits for a turn, first come, first served. The caller calls done when it
// has written.
func (t turns) take(ctx context.Context) (done func(), err error) {
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
