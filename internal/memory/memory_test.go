package memory

import (
	"context"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func startLimitFreeMemory(t *testing.T) (stopFreeing func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		LimitFreeMemory(ctx)
	}()
	synctest.Wait()
	return func() {
		cancel()
		<-done
	}
}

func TestFreedMemoryIsReturnedToTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopFreeing := startLimitFreeMemory(t)
		bytesBefore := Used().SystemBytes
		touchPages(make([]byte, 200<<20))
		if grownBytes := Used().SystemBytes; grownBytes < bytesBefore+150<<20 {
			t.Fatalf("held %d MB before and %d MB after a large allocation", bytesBefore>>20, grownBytes>>20)
		}
		<-time.After(checkInterval + time.Second)
		synctest.Wait()
		if heapNow := Used().SystemBytes; heapNow > bytesBefore+busySpareBytes {
			t.Errorf("held %d MB before and %d MB after it was given back", bytesBefore>>20, heapNow>>20)
		}
		stopFreeing()
	})
}

func TestIdleProcessReturnsMemoryToTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopFreeing := startLimitFreeMemory(t)
		countBefore := Used().SystemBytes
		for _, waitTime := range []time.Duration{firstCheckDelay, 2 * checkInterval} {
			touchPages(make([]byte, busySpareBytes-8<<20))
			if grownBytes := Used().SystemBytes; grownBytes < countBefore+16<<20 {
				t.Fatalf("held %d MB before and %d MB after an allocation", countBefore>>20, grownBytes>>20)
			}
			<-time.After(waitTime + time.Second)
			synctest.Wait()
			if heapNow := Used().SystemBytes; heapNow > countBefore+idleSpareBytes {
				t.Errorf("after %s: held %d MB before and %d MB now", waitTime, countBefore>>20, heapNow>>20)
			}
		}
		stopFreeing()
	})
}

func touchPages(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

func TestCollectorIsQuiet(t *testing.T) {
	for _, c := range []struct {
		liveBytes uint64
		want      int
	}{{0, 400}, {4 << 20, 400}, {8 << 20, 200}, {16 << 20, 100}, {500 << 20, 100}} {
		if got := garbagePercent(c.liveBytes); got != c.want {
			t.Errorf("with %d MB: %d %%, want %d", c.liveBytes>>20, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		percentBefore := debug.SetGCPercent(77)
		defer debug.SetGCPercent(percentBefore)
		stopFreeing := startLimitFreeMemory(t)
		percentDuring := debug.SetGCPercent(77)
		debug.SetGCPercent(percentDuring)
		if percentDuring < minPercent || percentDuring != garbagePercent(liveHeap()) {
			t.Errorf("the collector runs at %d %% with %d bytes alive", percentDuring, liveHeap())
		}
		stopFreeing()
		if percentAfter := debug.SetGCPercent(77); percentAfter != 77 {
			t.Errorf("the collector was left at %d %%; want 77", percentAfter)
		}
	})
}
