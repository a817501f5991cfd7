package httpapi

import (
	"context"
	"runtime"
	"time"
)

// A write that takes longer than maxSlotHoldTime no longer counts toward the limit, so that slow clients do not block
// others.
const maxSlotHoldTime = 2 * time.Millisecond

// writeSlots limits the concurrent writes to clients of /events to half the number of
// processors. The limit on writes leaves processor time for calls even if many clients
// follow events. writeSlots is safe for concurrent use.
type writeSlots chan struct{}

func newWriteSlots() writeSlots { return make(writeSlots, max(1, runtime.GOMAXPROCS(0)/2)) }

// Callers get write slots in the order of their arrival, and must call releaseSlot after the write.
func (s writeSlots) acquireSlot(ctx context.Context) (releaseSlot func(), err error) {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release := func() { <-s }
	expiry := time.AfterFunc(maxSlotHoldTime, release)
	return func() {
		if expiry.Stop() {
			release()
		}
	}, nil
}
