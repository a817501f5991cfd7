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
	// lookEvery is the time between two looks at the memory; the first comes
	// firstLook after the start, which leaves garbage.
	lookEvery = 10 * time.Second
	firstLook = 3 * time.Second
	// spare is how much more memory than the program needs it may keep, in
	// bytes.
	spare = 32 << 20
	// garbage is how much may be made before the collector runs, in bytes, even
	// if what lives is much less. By itself it would run after each few hundred
	// calls, which made a quarter of what a call without a page costs.
	garbage = 16 << 20
	// percentAtLeast is what Go's default is: garbage as large as what lives.
	// With percentAtMost Go lets even an empty heap grow to as much as garbage
	// (it counts 4 MB as alive at least).
	percentAtLeast = 100
	percentAtMost  = 400
	// idle is how much may be allocated between two looks, in bytes, by a process
	// that does nothing.
	idle = 1 << 20
	// worthIt is how much memory the program may hold without need, in bytes,
	// before an idle process gives it back, which takes a collection.
	worthIt = 4 << 20
)

// Keep gives memory back to the system after the start, after large results and
// when the process becomes idle, which the garbage collector would keep for
// minutes, and has the collector run seldom while the heap is small. It returns
// when ctx ends, and leaves the collector as it was before.
func Keep(ctx context.Context) {
	before := debug.SetGCPercent(percent(live()))
	defer func() { debug.SetGCPercent(before) }()
	defer afterEachCollection(func() { debug.SetGCPercent(percent(live())) })()
	look := time.NewTimer(firstLook)
	defer look.Stop()
	needed, allocated := uint64(0), uint64(0) // so that the first look gives back
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

// afterEachCollection calls work after each collection until the function that
// it returns is called. A heap that grows fast must not keep the percentage of
// the small one that it was.
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

// total is how much was allocated since the process began, in bytes.
func total() uint64 { return read("/gc/heap/allocs:bytes") }

// percent is how much garbage may be made, in percent of what lives.
func percent(live uint64) int {
	return min(max(int(garbage*100/max(live, 1)), percentAtLeast), percentAtMost)
}

// live is what the last collection left of the heap, in bytes.
func live() uint64 { return read("/gc/heap/live:bytes") }

func read(metric string) uint64 {
	sample := []metrics.Sample{{Name: metric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Use is what a process takes, in bytes.
type Use struct {
	// HeapBytes is what its objects take, those that are garbage already among
	// them. SystemBytes is what it holds from the system.
	HeapBytes, SystemBytes uint64
}

// Used is what this process takes now. It stops the process for some
// microseconds.
func Used() Use {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Use{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys - m.HeapReleased}
}
