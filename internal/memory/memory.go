// Package memory returns unused memory of a long-lived process to the system, and makes
// its garbage collector run less often.
package memory

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// checkInterval is the time between two checks of the memory. The first check
	// follows firstCheckDelay after the start, because starting the server leaves
	// garbage in memory.
	checkInterval   = 10 * time.Second
	firstCheckDelay = 3 * time.Second
	// busySpareBytes is how many bytes above its needs a busy process may keep.
	busySpareBytes = 32 << 20
	// garbageBytes is how many bytes of garbage may be made before the collector runs,
	// even if the live heap is much smaller. With Go's default, the collector would run
	// every few hundred calls, at a quarter of the cost of a call without a page.
	garbageBytes = 16 << 20
	// minPercent is Go's default: as much garbage as live data. With maxPercent, an
	// empty heap may also grow by about garbageBytes, because Go counts at least 4 MB
	// as live.
	minPercent = 100
	maxPercent = 400
	// maxIdleAllocation is the maximum number of bytes that an idle process allocates
	// between two checks.
	maxIdleAllocation = 1 << 20
	// idleSpareBytes is how many bytes above its needs an idle process may keep without
	// a collection.
	idleSpareBytes = 4 << 20
)

// LimitFreeMemory returns memory to the system after the start, after large results,
// and when the process becomes idle. The garbage collector alone would keep the memory
// for minutes. LimitFreeMemory also makes the collector run less often while the heap
// is small. LimitFreeMemory returns when ctx ends, and restores the collector's
// settings.
func LimitFreeMemory(ctx context.Context) {
	oldPercent := debug.SetGCPercent(garbagePercent(liveHeap()))
	defer func() { debug.SetGCPercent(oldPercent) }()
	defer runAfterEachCollection(func() { debug.SetGCPercent(garbagePercent(liveHeap())) })()
	checkTimer := time.NewTimer(firstCheckDelay)
	defer checkTimer.Stop()
	neededBytes, allocatedBytes := uint64(0), uint64(0) // zeros make the first check return memory to the system
	for {
		select {
		case <-checkTimer.C:
			now := Used().SystemBytes
			isIdle := totalAllocated()-allocatedBytes < maxIdleAllocation
			if now > neededBytes+busySpareBytes || isIdle && now > neededBytes+idleSpareBytes || allocatedBytes == 0 {
				debug.FreeOSMemory()
				neededBytes = Used().SystemBytes
			}
			debug.SetGCPercent(garbagePercent(liveHeap()))
			allocatedBytes = totalAllocated()
			checkTimer.Reset(checkInterval)
		case <-ctx.Done():
			return
		}
	}
}

// runAfterEachCollection calls work after each garbage collection until stop is called.
// work sets the GC percentage again when the heap grows fast, because a large heap
// needs a smaller percentage.
func runAfterEachCollection(work func()) (stop func()) {
	var mu sync.Mutex // guards isStopped, and keeps work from running after stop
	isStopped := false
	type collectionSentinel struct{ _ *byte } // the pointer keeps the sentinel in a separate allocation
	var finalizer func(*collectionSentinel)
	finalizer = func(s *collectionSentinel) {
		mu.Lock()
		defer mu.Unlock()
		if isStopped {
			return
		}
		work()
		runtime.SetFinalizer(s, finalizer)
	}
	runtime.SetFinalizer(&collectionSentinel{}, finalizer)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		isStopped = true
	}
}

// totalAllocated returns how many bytes were allocated since the process started.
func totalAllocated() uint64 { return readMetric("/gc/heap/allocs:bytes") }

// garbagePercent returns the garbage that is allowed, in percent of the live heap.
func garbagePercent(liveBytes uint64) int {
	return min(max(int(garbageBytes*100/max(liveBytes, 1)), minPercent), maxPercent)
}

// liveHeap returns the size of the heap after the last collection, in bytes.
func liveHeap() uint64 { return readMetric("/gc/heap/live:bytes") }

func readMetric(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Use is the memory use of a process.
type Use struct {
	// HeapBytes is the size of the objects on the heap, including garbage that is
	// not collected yet. SystemBytes is the memory obtained from the operating
	// system.
	HeapBytes, SystemBytes uint64
}

// Used returns the memory use of this process.
func Used() Use {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Use{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys - m.HeapReleased}
}
