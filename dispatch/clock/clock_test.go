package clock

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/wire"
)

const (
	defaultIdle  = 30 * time.Second
	defaultHard  = 5 * time.Minute
	runningCalls = 10000
)

func BenchmarkProgressReset(b *testing.B) {
	clocks := make([]Clock, runningCalls)
	for i := range clocks {
		clocks[i].Start(defaultIdle, defaultHard, func(wire.ErrorCode) {})
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

// After the machine was suspended, a call's idle limit is extended by a grace period, but the hard limit is not.
func TestClockAfterSuspension(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ago   time.Duration
		alive bool
	}{
		{"the timer is on time", 30*time.Second + time.Millisecond, false},
		{"suspended for 10 s", 40 * time.Second, true},
		{"suspended for longer than the hard limit", 6 * time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, firstEvent := range []string{"report", "timer"} {
				var code wire.ErrorCode
				var c Clock
				c.Start(defaultIdle, defaultHard, func(e wire.ErrorCode) { code = e })
				defer c.Stop()
				c.startedAt = c.startedAt.Add(-tt.ago)
				if firstEvent == "timer" {
					c.CheckLimits()
				}
				if got := c.RestartIdle(); got != tt.alive {
					t.Errorf("%s first: a report counts: %v, want %v", firstEvent, got, tt.alive)
				}
				c.CheckLimits()
				if (code == "") != tt.alive {
					t.Errorf("%s first: ended with %q, want alive: %v", firstEvent, code, tt.alive)
				}
			}
		})
	}
}

func TestClockLimits(t *testing.T) {
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
		{"a held idle limit", func(c *Clock) { c.HoldIdle(); time.Sleep(2 * time.Minute); c.ReleaseIdle() }, 2*time.Minute + 30*time.Second, wire.ErrIdleTimeout},
		{"an idle limit held for ever", func(c *Clock) { c.HoldIdle() }, 5 * time.Minute, wire.ErrDeadlineExceeded},
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
				var endedAfter time.Duration
				startTime := time.Now()
				c.Start(defaultIdle, defaultHard, func(e wire.ErrorCode) { code, endedAfter = e, time.Since(startTime) })
				tt.act(&c)
				time.Sleep(time.Hour)
				synctest.Wait()
				if code != tt.code || endedAfter != tt.at {
					t.Errorf("the clock expired with %q after %v, want %q after %v", code, endedAfter, tt.code, tt.at)
				}
			})
		})
	}
}

func TestClockStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clockBefore, clockAfter Clock
		failOnExpiry := func(e wire.ErrorCode) { t.Errorf("the clock expired with %s", e) }
		clockBefore.Stop()
		clockBefore.Start(defaultIdle, defaultHard, failOnExpiry)
		clockAfter.Pause()
		time.Sleep(time.Second)
		clockAfter.Resume()
		clockAfter.Start(defaultIdle, defaultHard, failOnExpiry)
		time.Sleep(3 * time.Second)
		clockAfter.Stop()
		time.Sleep(time.Hour)
		if clockAfter.Elapsed() != 3*time.Second || clockAfter.Paused() != time.Second {
			t.Errorf("the clock elapsed %v and paused %v; want 3s and 1s", clockAfter.Elapsed(), clockAfter.Paused())
		}
	})
}
