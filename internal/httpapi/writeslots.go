package httpapi

import (
	"context"
	"runtime"
	"time"
)

// slotTimeout is how long one write to a client counts as one of the limited concurrent
// writes. A write that takes longer than slotTimeout continues but no longer counts
// toward the limit, so that slow clients do not block others.
const slotTimeout = 2 * time.Millisecond

// writeSlots limits the concurrent writes to clients of /events to half the number of
// processors. The limit on writes leaves processor time for calls even if many clients
// follow events. writeSlots is safe for concurrent use.
type writeSlots chan struct{}

func newWriteSlots() writeSlots { return make(writeSlots, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquireSlot blocks until the caller may write to a client. Callers get write slots in
// the order of their arrival. The caller calls releaseSlot after the write.
func (s writeSlots) acquireSlot(ctx context.Context) (releaseSlot func(), err error) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-s }
	expiry := time.AfterFunc(slotTimeout, release)
	return func() {
		if expiry.Stop() {
			release()
		}
	}, nil
}
