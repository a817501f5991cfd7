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
		bytesBefore := ReadUse().SystemBytes
		touchMemoryPages(make([]byte, 200<<20))
		if systemBytes := ReadUse().SystemBytes; systemBytes < bytesBefore+150<<20 {
			t.Fatalf("system memory: %d MB before and %d MB after a large allocation, want at least 150 MB more", bytesBefore>>20, systemBytes>>20)
		}
		<-time.After(checkInterval + time.Second)
		synctest.Wait()
		if systemBytesNow := ReadUse().SystemBytes; systemBytesNow > bytesBefore+busySpareBytes {
			t.Errorf("system memory: %d MB before the allocation and %d MB after it was freed, want no more than busySpareBytes above the start", bytesBefore>>20, systemBytesNow>>20)
		}
		stopFreeing()
	})
}

func TestIdleProcessReturnsMemoryToTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopFreeing := startLimitFreeMemory(t)
		systemBytesBefore := ReadUse().SystemBytes
		for _, waitTime := range []time.Duration{firstCheckDelay, 2 * checkInterval} {
			touchMemoryPages(make([]byte, busySpareBytes-8<<20))
			if systemBytes := ReadUse().SystemBytes; systemBytes < systemBytesBefore+16<<20 {
				t.Fatalf("system memory: %d MB before and %d MB after an allocation, want at least 16 MB more", systemBytesBefore>>20, systemBytes>>20)
			}
			<-time.After(waitTime + time.Second)
			synctest.Wait()
			if systemBytesNow := ReadUse().SystemBytes; systemBytesNow > systemBytesBefore+idleSpareBytes {
				t.Errorf("system memory after %s: %d MB before the allocation and %d MB now, want no more than idleSpareBytes above the start", waitTime, systemBytesBefore>>20, systemBytesNow>>20)
			}
		}
		stopFreeing()
	})
}

func touchMemoryPages(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		liveBytes uint64
		want      int
	}{{0, 400}, {4 << 20, 400}, {8 << 20, 200}, {16 << 20, 100}, {500 << 20, 100}} {
		if got := gcPercent(c.liveBytes); got != c.want {
			t.Errorf("gcPercent for a live heap of %d MB = %d %%, want %d %%", c.liveBytes>>20, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		initialPercent := debug.SetGCPercent(77)
		defer debug.SetGCPercent(initialPercent)
		stopFreeing := startLimitFreeMemory(t)
		percentWhileRunning := debug.SetGCPercent(77)
		debug.SetGCPercent(percentWhileRunning)
		if percentWhileRunning < minGCPercent || percentWhileRunning != gcPercent(liveHeap()) {
			t.Errorf("GC percentage = %d with a live heap of %d bytes, want the value of gcPercent", percentWhileRunning, liveHeap())
		}
		stopFreeing()
		if restoredPercent := debug.SetGCPercent(77); restoredPercent != 77 {
			t.Errorf("GC percentage after LimitFreeMemory = %d; want 77, the value before it", restoredPercent)
		}
	})
}
