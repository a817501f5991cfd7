package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestMemoryIsGivenBack: what a large result took is with the system again at
// the next look.
func TestMemoryIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			giveBackMemory(ctx)
		}()
		synctest.Wait()
		before := held()
		touch(make([]byte, 200<<20))
		if grown := held(); grown < before+150<<20 {
			t.Fatalf("held %d MB before and %d MB after a large allocation", before>>20, grown>>20)
		}
		<-time.After(lookEvery + time.Second)
		synctest.Wait()
		if now := held(); now > before+spare {
			t.Errorf("held %d MB before and %d MB after it was given back", before>>20, now>>20)
		}
		cancel()
		<-done
	})
}

// touch makes every page of b real.
func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}
