// Package memory returns unused memory of a long-running process to the operating system.
// Package memory makes the garbage collector run less often while the heap is small.
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
	// The first check runs firstCheckDelay after LimitFreeMemory has started, because the start of the server leaves
	// garbage on the heap.
	checkInterval   = 10 * time.Second
	firstCheckDelay = 3 * time.Second
	// busySpareBytes is how much unused memory a busy process may keep.
	busySpareBytes = 32 << 20
	// minGarbageBytes is how much garbage may accumulate between two collections, even if the
	// live heap is much smaller. With Go's default GC percentage, a small heap would be
	// collected every few hundred calls. Garbage collections every few hundred calls would
	// take a quarter of the CPU time of a call that needs no page.
	minGarbageBytes = 16 << 20
	// minGCPercent is Go's default: as much garbage as live data. maxGCPercent limits the
	// garbage of an almost empty heap to about minGarbageBytes, because Go's minimum heap
	// size is 4 MB.
	minGCPercent = 100
	maxGCPercent = 400
	// maxIdleAllocation is the maximum number of bytes that an idle process allocates
	// between two checks.
	maxIdleAllocation = 1 << 20
	// idleSpareBytes is how much unused memory an idle process may keep.
	idleSpareBytes = 4 << 20
)

// LimitFreeMemory returns unused memory to the operating system until ctx is cancelled.
// LimitFreeMemory frees memory after the start, after large results, and when the process
// becomes idle. Without LimitFreeMemory, the Go runtime would keep unused memory for
// minutes.
//
// While the heap is small, LimitFreeMemory makes the garbage collector run less often than by
// default. Before LimitFreeMemory returns, it restores the GC percentage.
func LimitFreeMemory(ctx context.Context) {
	oldPercent := debug.SetGCPercent(gcPercent(liveHeap()))
	defer func() { debug.SetGCPercent(oldPercent) }()
	defer runAfterEachCollection(func() { debug.SetGCPercent(gcPercent(liveHeap())) })()
	checkTimer := time.NewTimer(firstCheckDelay)
	defer checkTimer.Stop()
	bytesAfterFreeing, allocatedBytes := uint64(0), uint64(0)
	for {
		select {
		case <-checkTimer.C:
			systemBytesNow := ReadUse().SystemBytes
			isIdle := totalAllocated()-allocatedBytes < maxIdleAllocation
			if systemBytesNow > bytesAfterFreeing+busySpareBytes || isIdle && systemBytesNow > bytesAfterFreeing+idleSpareBytes || allocatedBytes == 0 {
				debug.FreeOSMemory()
				bytesAfterFreeing = ReadUse().SystemBytes
			}
			debug.SetGCPercent(gcPercent(liveHeap()))
			allocatedBytes = totalAllocated()
			checkTimer.Reset(checkInterval)
		case <-ctx.Done():
			return
		}
	}
}

// The function that LimitFreeMemory runs after each collection lowers Go's GC percentage when the heap has grown.
func runAfterEachCollection(work func()) (stop func()) {
	var mu sync.Mutex // the mutex guards isStopped, and prevents work from running after stop
	isStopped := false
	type collectionSentinel struct{ _ *byte } // the pointer prevents the runtime from allocating the sentinel together with other objects
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

func totalAllocated() uint64 { return readMetric("/gc/heap/allocs:bytes") }

func gcPercent(liveBytes uint64) int {
	return min(max(int(minGarbageBytes*100/max(liveBytes, 1)), minGCPercent), maxGCPercent)
}

func liveHeap() uint64 { return readMetric("/gc/heap/live:bytes") }

func readMetric(metricName string) uint64 {
	metricSamples := []metrics.Sample{{Name: metricName}}
	metrics.Read(metricSamples)
	return metricSamples[0].Value.Uint64()
}

// Use is the memory use of a process, in bytes.
type Use struct {
	// HeapBytes is the size of the objects on the heap, including garbage that is not
	// collected yet. SystemBytes is the memory that the process has obtained from the
	// operating system and not returned.
	HeapBytes, SystemBytes uint64
}

// ReadUse returns the memory use of this process.
func ReadUse() Use {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Use{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys - m.HeapReleased}
}
