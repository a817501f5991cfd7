package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWriteSlotsLimitConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := make(writeSlots, 1)
		releaseFirst, err := slots.acquireSlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		acquireAndRelease := func(name string) {
			releaseSlot, err := slots.acquireSlot(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			got = append(got, name)
			releaseSlot()
		}
		go acquireAndRelease("second")
		synctest.Wait()
		if got != nil {
			t.Fatalf("a second write acquired the only slot: %v; want that it waits", got)
		}
		releaseFirst()
		synctest.Wait()
		if len(got) != 1 {
			t.Fatalf("writes that acquired the released slot = %v; want only the second", got)
		}

		// After maxSlotHoldTime, a slow write no longer occupies a write slot.
		releaseSlow, err := slots.acquireSlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		startTime := time.Now()
		acquireAndRelease("third")
		if d := time.Since(startTime); d != maxSlotHoldTime {
			t.Errorf("acquireSlot waited %v for a slow write, want %v", d, maxSlotHoldTime)
		}
		releaseSlow()
		if len(slots) != 0 {
			t.Errorf("used write slots after all writes = %d; want 0", len(slots))
		}

		ctx, cancel := context.WithCancel(t.Context())
		release, err := slots.acquireSlot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := slots.acquireSlot(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("acquireSlot with a cancelled context returned the error %v; want %v", err, context.Canceled)
		}
		release()
	})
}
