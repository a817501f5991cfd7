// Package memory keeps a long-lived process small where it is idle and its
// garbage collector quiet where it is busy.
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
	// lookEvery is the time between two checks of the memory. The first check is
	// firstLook after the start, which leaves garbage.
	lookEvery = 10 * time.Second
	firstLook = 3 * time.Second
	// spare is how much more memory than the program needs it may keep, in
	// bytes.
	spare = 32 << 20
	// garbage is how much may be made before the collector runs, in bytes, even if
	// what lives is much less. Go's default would collect after each few hundred
	// calls, which was a quarter of the cost of a call without a page.
	garbage = 16 << 20
	// percentAtLeast is what Go's default is: garbage as large as what lives.
	// With percentAtMost, an empty heap may grow by about garbage too, because Go
	// counts at least 4 MB as live.
	percentAtLeast = 100
	percentAtMost  = 400
	// idle is how much may be allocated between two looks, in bytes, by a process
	// that does nothing.
	idle = 1 << 20
	// worthIt is how much memory the program may hold without need, in bytes,
	// before an idle process gives it back, which takes a collection.
	worthIt = 4 << 20
)

// Keep gives memory back to the system after the start, after large results and when
// the process becomes idle, which the garbage collector would keep for minutes, and
// has the collector run seldom while the heap is small. It returns when ctx ends,
// and restores the collector's settings.
func Keep(ctx context.Context) {
	before := debug.SetGCPercent(percent(live()))
	defer func() { debug.SetGCPercent(before) }()
	defer afterEachCollection(func() { debug.SetGCPercent(percent(live())) })()
	look := time.NewTimer(firstLook)
	defer look.Stop()
	needed, allocated := uint64(0), uint64(0) // so that the first check returns memory
	for {
		select {
		case <-look.C:
			now := Used().SystemBytes
			isIdle := total()-allocated < idle
			if now > needed+spare || isIdle && now > needed+worthIt || allocated == 0 {
				debug.FreeOSMemory()
				needed = Used().SystemBytes
			}
			debug.SetGCPercent(percent(live()))
			allocated = total()
			look.Reset(lookEvery)
		case <-ctx.Done():
			return
		}
	}
}

// afterEachCollection calls work after each collection until the function that it
// returns is called. The percentage is set again for a fast growing heap, because
// that of a small heap is too large for it.
func afterEachCollection(work func()) (stop func()) {
	var mu sync.Mutex // guards stopped, and keeps work from running after stop
	stopped := false
	type sentinel struct{ _ *byte } // with a pointer: small values without one share their memory
	var again func(*sentinel)
	again = func(s *sentinel) {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		work()
		runtime.SetFinalizer(s, again)
	}
	runtime.SetFinalizer(&sentinel{}, again)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
	}
}

// total returns how many bytes were allocated since the process started.
func total() uint64 { return read("/gc/heap/allocs:bytes") }

// percent returns the garbage that is allowed, in percent of the live heap.
func percent(live uint64) int {
	return min(max(int(garbage*100/max(live, 1)), percentAtLeast), percentAtMost)
}

// live returns the size of the heap after the last collection, in bytes.
func live() uint64 { return read("/gc/heap/live:bytes") }

func read(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Use is the memory use of a process.
type Use struct {
	// HeapBytes is the size of the objects on the heap, including garbage that is
	// not collected yet. SystemBytes is what it holds from the system.
	HeapBytes, SystemBytes uint64
}

// Used is what this process takes now. It stops the process for some
// microseconds.
func Used() Use {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Use{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys - m.HeapReleased}
}
