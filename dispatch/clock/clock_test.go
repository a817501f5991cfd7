package clock

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/wire"
)

const (
	defaultIdleLimit = 30 * time.Second
	defaultHardLimit = 5 * time.Minute
	runningCalls     = 10000
)

func BenchmarkIdleLimitRestart(b *testing.B) {
	clocks := make([]Clock, runningCalls)
	for i := range clocks {
		clocks[i].Start(defaultIdleLimit, defaultHardLimit, func(wire.ErrorCode) {})
		defer clocks[i].Stop()
	}
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			clocks[i%runningCalls].RestartIdle()
			i++
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		var start atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			i := int(start.Add(3571))
			for pb.Next() {
				clocks[i%runningCalls].RestartIdle()
				i++
			}
		})
	})
}

// After the machine was suspended, the clock extends a call's idle limit by a grace period, but not its hard limit.
func TestClockAfterSuspension(t *testing.T) {
	for _, tt := range []struct {
		name        string
		ago         time.Duration
		wantRunning bool
	}{
		{"the timer is on time", 30*time.Second + time.Millisecond, false},
		{"suspended for 10 s", 40 * time.Second, true},
		{"suspended for longer than the hard limit", 6 * time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, firstEvent := range []string{"report", "timer"} {
				var code wire.ErrorCode
				var c Clock
				c.Start(defaultIdleLimit, defaultHardLimit, func(e wire.ErrorCode) { code = e })
				defer c.Stop()
				c.startedAt = c.startedAt.Add(-tt.ago)
				if firstEvent == "timer" {
					c.CheckLimits()
				}
				if got := c.RestartIdle(); got != tt.wantRunning {
					t.Errorf("%s first: RestartIdle for the late report returned %v, want %v", firstEvent, got, tt.wantRunning)
				}
				c.CheckLimits()
				if (code == "") != tt.wantRunning {
					t.Errorf("%s first: the clock expired with the code %q, want the call still running: %v", firstEvent, code, tt.wantRunning)
				}
			}
		})
	}
}

func TestClockExpiresAtLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(*Clock)
		at   time.Duration
		code wire.ErrorCode
	}{
		{"silence", func(*Clock) {}, 30 * time.Second, wire.ErrIdleTimeout},
		{"one report", func(c *Clock) { time.Sleep(20 * time.Second); c.RestartIdle() }, 50 * time.Second, wire.ErrIdleTimeout},
		{"reports without end", func(c *Clock) {
			for range 20 {
				time.Sleep(20 * time.Second)
				c.RestartIdle()
			}
		}, 5 * time.Minute, wire.ErrDeadlineExceeded},
		{"a pause", func(c *Clock) { c.Pause(); time.Sleep(time.Hour); c.Resume() }, time.Hour + 30*time.Second, wire.ErrIdleTimeout},
		{"two overlapping pauses", func(c *Clock) {
			c.Pause()
			c.Pause()
			time.Sleep(time.Minute)
			c.Resume()
			time.Sleep(time.Minute)
			c.Resume()
		}, 2*time.Minute + 30*time.Second, wire.ErrIdleTimeout},
		{"an idle limit that is suspended for 2 min", func(c *Clock) { c.PauseIdleLimit(); time.Sleep(2 * time.Minute); c.ResumeIdleLimit() }, 2*time.Minute + 30*time.Second, wire.ErrIdleTimeout},
		{"an idle limit that is suspended without end", func(c *Clock) { c.PauseIdleLimit() }, 5 * time.Minute, wire.ErrDeadlineExceeded},
		{"a nested call", func(c *Clock) {
			c.AddNestedCalls(1)
			time.Sleep(2 * time.Minute)
			c.RestartIdle()
			c.AddNestedCalls(-1)
		}, 2*time.Minute + 30*time.Second, wire.ErrIdleTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c Clock
				var code wire.ErrorCode
				var runTime time.Duration
				startTime := time.Now()
				c.Start(defaultIdleLimit, defaultHardLimit, func(e wire.ErrorCode) { code, runTime = e, time.Since(startTime) })
				tt.act(&c)
				time.Sleep(time.Hour)
				synctest.Wait()
				if code != tt.code || runTime != tt.at {
					t.Errorf("the clock expired with the code %q after %v, want %q after %v", code, runTime, tt.code, tt.at)
				}
			})
		})
	}
}

// If a nested call ends while the clock checks its limits, the clock does not expire.
func TestNestedCallEndsDuringCheck(t *testing.T) {
	for range 20000 {
		var c Clock
		c.Start(defaultIdleLimit, defaultHardLimit, func(code wire.ErrorCode) {
			t.Errorf("the clock expired with the code %q, want a restarted idle limit", code)
		})
		c.startedAt = c.startedAt.Add(-defaultIdleLimit)
		c.AddNestedCalls(1)
		var check sync.WaitGroup
		check.Go(c.CheckLimits)
		c.RestartIdle()
		c.AddNestedCalls(-1)
		check.Wait()
		c.Stop()
	}
}

func TestStoppedClockNeverExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stoppedClock, pausedClock Clock
		failOnExpiry := func(e wire.ErrorCode) { t.Errorf("the clock expired with the code %s, want no expiry", e) }
		stoppedClock.Stop()
		stoppedClock.Start(defaultIdleLimit, defaultHardLimit, failOnExpiry)
		pausedClock.Pause()
		time.Sleep(time.Second)
		pausedClock.Resume()
		pausedClock.Start(defaultIdleLimit, defaultHardLimit, failOnExpiry)
		time.Sleep(3 * time.Second)
		pausedClock.Stop()
		time.Sleep(time.Hour)
		if pausedClock.Elapsed() != 3*time.Second || pausedClock.Paused() != time.Second {
			t.Errorf("elapsed time %v and paused time %v; want 3s and 1s", pausedClock.Elapsed(), pausedClock.Paused())
		}
	})
}
