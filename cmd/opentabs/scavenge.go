package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"opentabs/internal/httpapi"
)

const (
	// lookEvery is the time between two looks at the memory.
	lookEvery = 10 * time.Second
	// spare is how much more memory than the program needs it may keep, in
	// bytes.
	spare = 32 << 20
)

// giveBackMemory returns memory to the system after large results: the garbage
// collector would keep it for minutes. It returns when ctx ends.
func giveBackMemory(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	needed := held()
	for {
		select {
		case <-tick.C:
			if held() > needed+spare {
				debug.FreeOSMemory()
				needed = held()
			}
		case <-ctx.Done():
			return
		}
	}
}

// held is the memory that the program has from the system, in bytes.
func held() uint64 { return memory().SystemBytes }

// memory is what the program takes now.
func memory() httpapi.Memory {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return httpapi.Memory{HeapBytes: m.HeapAlloc, SystemBytes: m.Sys - m.HeapReleased, Goroutines: runtime.NumGoroutine()}
}
