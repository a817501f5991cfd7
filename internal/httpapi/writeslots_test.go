package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWriteSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := make(writeSlots, 1)
		releaseFirst, err := slots.acquireSlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		acquireTurn := func(name string) {
			releaseSlot, err := slots.acquireSlot(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			got = append(got, name)
			releaseSlot()
		}
		go acquireTurn("second")
		synctest.Wait()
		if got != nil {
			t.Fatal("one slot was acquired twice")
		}
		releaseFirst()
		synctest.Wait()
		if len(got) != 1 {
			t.Fatal("the released slot was not acquired")
		}

		// After slotTimeout, a slow write no longer occupies a write slot.
		releaseSlow, err := slots.acquireSlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		startTime := time.Now()
		acquireTurn("third")
		if d := time.Since(startTime); d != slotTimeout {
			t.Errorf("acquire waited %v, want %v", d, slotTimeout)
		}
		releaseSlow()
		if len(slots) != 0 {
			t.Errorf("%d slots are in use; want 0", len(slots))
		}

		ctx, cancel := context.WithCancel(t.Context())
		release, err := slots.acquireSlot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := slots.acquireSlot(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v; want the error %v", err, context.Canceled)
		}
		release()
	})
}
