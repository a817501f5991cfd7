package dispatch_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestGreedyClientDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
			sleepVirtual(time.Second)
			s.Finish(toolRun.Args, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: 4})
		var wg sync.WaitGroup
		startCall := func(session string, done func(time.Duration)) {
			startTime := time.Now()
			wg.Go(func() {
				if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Client: dispatch.Client{Session: session}}); err != nil {
					t.Error(err)
				}
				done(time.Since(startTime))
			})
			synctest.Wait()
		}
		var mu sync.Mutex
		var longestDuration, totalDuration time.Duration
		for range 1000 {
			startCall("greedy", func(d time.Duration) { mu.Lock(); totalDuration = max(totalDuration, d); mu.Unlock() })
		}
		for i := range 63 {
			startCall(fmt.Sprint("modest", i), func(d time.Duration) { mu.Lock(); longestDuration = max(longestDuration, d); mu.Unlock() })
		}
		wg.Wait()
		// Four calls run at once and take 1 s each, so 64 sessions with one call each take 16 s.
		if longestDuration > 17*time.Second {
			t.Errorf("a client with one call waited %v, want at most 17 s", longestDuration)
		}
		if want := 266 * time.Second; totalDuration < want-time.Second || totalDuration > want {
			t.Errorf("all calls together took %v, want %v: four at once, without idle time", totalDuration, want)
		}
	})
}

// TestQueuedCallsHaveNoTimeLimit checks that the idle limit and the hard limit start when a
// call begins to run, not when the call arrives.
func TestQueuedCallsHaveNoTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
			if string(toolRun.Args) == "1" {
				for range 14 {
					sleepVirtual(20 * time.Second)
					s.Reports(newNumberReports(1, 2), 0)
				}
			} else {
				sleepVirtual(29 * time.Second)
			}
			s.Finish(toolRun.Args, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: 1})
		startTime := time.Now()
		var wg sync.WaitGroup
		for _, args := range []string{"1", "1", "2"} {
			wg.Go(func() {
				if _, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Args: []byte(args)}); err != nil {
					t.Errorf("error of the call with the arguments %s = %v, want nil", args, err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if elapsedTime := time.Since(startTime); elapsedTime != (2*280+29)*time.Second {
			t.Errorf("the calls took %v, want 9 min 49 s, one after the other", elapsedTime)
		}
	})
}

// TestDisconnectRemovesCallFromQueue checks that the waiting calls of a disconnected client leave
// the queue at once and never start.
func TestDisconnectRemovesCallFromQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		startedArgs := make(chan string, 10)
		p := &fakePage{handler: func(toolRun dispatch.Run, s dispatch.Sink) {
			startedArgs <- string(toolRun.Args)
			sleepVirtual(time.Second)
			s.Finish(toolRun.Args, nil)
		}}
		d := dispatch.New(p.bridge(), dispatch.Options{MaxRunningCalls: 1, MaxWaitingCalls: 3})
		var wg sync.WaitGroup
		disconnectedCtx, disconnect := context.WithCancel(t.Context())
		startCall := func(ctx context.Context, args string, want wire.ErrorCode) {
			wg.Go(func() {
				_, err := d.Call(ctx, dispatch.Call{Tool: exportTool, Args: []byte(args)})
				if want == "" && err != nil || want != "" && toDispatchError(t, err).Code != want {
					t.Errorf("error of the call with the arguments %s = %v, want %q", args, err, want)
				}
			})
			synctest.Wait()
		}
		startCall(t.Context(), "1", "")
		for range 3 {
			startCall(disconnectedCtx, "2", wire.ErrCancelled)
		}
		startCall(t.Context(), "3", wire.ErrRateLimited)
		disconnect()
		synctest.Wait()
		startCall(t.Context(), "4", "")
		wg.Wait()
		close(startedArgs)
		var got string
		for args := range startedArgs {
			got += args
		}
		if got != "14" {
			t.Errorf("arguments of the calls that began = %s, want 1 and 4", got)
		}
	})
}
