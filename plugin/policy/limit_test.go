package policy

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimitMakesCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m callCounters
		limit := Limit{Calls: 2, Per: time.Minute}
		callCount := 0
		run := func(tool string, l Limit, want time.Duration) {
			t.Helper()
			callCount++
			if got := m.timeUntilAllowed(tool, fmt.Sprint("call_", callCount), l, true); got != want {
				t.Errorf("timeUntilAllowed = %s, want %s", got, want)
			}
		}
		run("read", limit, 0)
		time.Sleep(20 * time.Second)
		run("read", limit, 0)
		run("read", limit, 40*time.Second)
		run("send", limit, 0)
		time.Sleep(40*time.Second - 1)
		run("read", limit, 1)
		time.Sleep(time.Nanosecond)
		run("read", limit, 0)
		run("read", limit, 20*time.Second)
		run("read", Limit{Calls: 1, Per: time.Minute}, time.Minute)
	})
}

func TestRateLimitCountsOnlyRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m callCounters
		limit := Limit{Calls: 1, Per: time.Minute}
		for range 3 {
			if m.timeUntilAllowed("read", "call_1", limit, false) != 0 {
				t.Fatal("timeUntilAllowed counted a call, although the argument that counts calls is false; want no wait")
			}
		}
		m.timeUntilAllowed("read", "call_1", limit, true)
		time.Sleep(30 * time.Second)
		m.timeUntilAllowed("read", "call_2", limit, true)
		time.Sleep(30 * time.Second)
		if d := m.timeUntilAllowed("read", "call_3", limit, true); d != 0 {
			t.Errorf("a rejected call counts toward the limit: wait %s; want 0", d)
		}
	})
}

func TestLimitOfConcurrentCalls(t *testing.T) {
	var m callCounters
	var allowedRunCount atomic.Int32
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if m.timeUntilAllowed("read", fmt.Sprint("call_", i), Limit{Calls: 7, Per: time.Hour}, true) == 0 {
				allowedRunCount.Add(1)
			}
		})
	}
	wg.Wait()
	if allowedRunCount.Load() != 7 {
		t.Errorf("%d calls ran within the limit, want 7", allowedRunCount.Load())
	}
}
