// Package clock applies the two time limits of one running call: the idle limit, which each
// progress report restarts, and the hard limit, which nothing restarts.
//
// # Concurrency
//
// A [Clock] is safe for concurrent use. RestartIdle, PauseIdleLimit and Elapsed use no lock; the other
// methods of Clock lock only Clock.mu. A Clock calls the function onLimit, which Start receives as
// an argument, without holding Clock.mu.
package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"opentabs/wire"
)

// If a timer fires more than suspendThreshold late, the process or the machine was probably
// suspended. Progress reports that arrived while the machine slept may still be unread, so the clock
// extends the idle limit by suspendGracePeriod.
const (
	suspendThreshold   = 2 * time.Second
	suspendGracePeriod = 5 * time.Second
)

// Clock measures the time of one call. The zero Clock is ready for use. To be fast, a progress
// report does not reset the timer, but only stores the current time atomically. When the timer
// fires, CheckLimits reads when the last report arrived, and restarts the timer if the idle
// limit has not passed since then.
type Clock struct {
	startedAt time.Time
	idleLimit time.Duration
	hardLimit time.Duration
	// onLimit is called once, while mu is unlocked, when the call reaches a limit.
	onLimit func(wire.ErrorCode)
	// nestedCalls is the number of running nested calls. While nested calls run, their idle
	// limits replace the idle limit of the Clock.
	nestedCalls atomic.Int64
	// lastReportNs is when the last progress report arrived, in nanoseconds after start. While
	// PauseIdleLimit suspends the idle limit, lastReportNs contains the value of hardLimit instead of a
	// time.
	lastReportNs atomic.Int64
	// endedPausesNs is the total length of the pauses that ended after Start, in nanoseconds.
	endedPausesNs atomic.Int64
	frozenAtNs    atomic.Int64

	mu             sync.Mutex // the mutex guards all fields below
	timer          *time.Timer
	isStopped      bool
	openPauseCount int
	pausedAt       time.Time
	totalPaused    time.Duration
}

// Paused returns how long the Clock has been paused in total, including pauses before
// Start.
func (c *Clock) Paused() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openPauseCount == 0 {
		return c.totalPaused
	}
	return c.totalPaused + time.Since(c.pausedAt)
}

// Elapsed returns the time since Start, without pauses.
func (c *Clock) Elapsed() time.Duration { return time.Duration(c.elapsed()) }

func (c *Clock) elapsed() int64 {
	if frozenAtNs := c.frozenAtNs.Load(); frozenAtNs != 0 {
		return frozenAtNs - 1
	}
	return int64(time.Since(c.startedAt)) - c.endedPausesNs.Load()
}

// Pause suspends the idle limit and the hard limit until Resume has been called as often as
// Pause. Pause may be called before Start.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openPauseCount++
	if c.openPauseCount > 1 {
		return
	}
	c.pausedAt = time.Now()
	if c.timer != nil {
		c.frozenAtNs.Store(c.elapsed() + 1)
		c.timer.Stop()
	}
}

// Resume ends one Pause. When every Pause has ended, the idle limit restarts.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openPauseCount--; c.openPauseCount > 0 {
		return
	}
	c.totalPaused += time.Since(c.pausedAt)
	if c.timer == nil || c.isStopped {
		return
	}
	now := c.elapsed()
	c.endedPausesNs.Store(int64(time.Since(c.startedAt)) - now)
	c.frozenAtNs.Store(0)
	if lastReportNs := c.lastReportNs.Load(); lastReportNs != int64(c.hardLimit) {
		c.lastReportNs.CompareAndSwap(lastReportNs, now)
	}
	c.timer.Reset(time.Duration(c.nextLimit() - now))
}

// Start starts the idle limit and the hard limit. After Stop, no limit takes effect.
func (c *Clock) Start(idleLimit, hardLimit time.Duration, onLimit func(wire.ErrorCode)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startedAt, c.idleLimit, c.hardLimit, c.onLimit = time.Now(), idleLimit, hardLimit, onLimit
	if c.isStopped {
		return
	}
	c.timer = time.AfterFunc(min(idleLimit, hardLimit), c.CheckLimits)
	if c.openPauseCount > 0 {
		c.frozenAtNs.Store(1)
		c.timer.Stop()
	}
}

// RestartIdle restarts the idle limit, or returns false if the call has already reached a
// limit. A progress report that arrives exactly at the deadline is too late.
func (c *Clock) RestartIdle() bool {
	now, hasNestedCalls := c.elapsed(), c.hasNestedCalls()
	if deadline := c.nextLimit(); now >= deadline && (now >= int64(c.hardLimit) || now < deadline+int64(suspendThreshold) && !hasNestedCalls) {
		return false
	}
	c.lastReportNs.Store(now)
	return true
}

// AddNestedCalls adds n to the number of running nested calls. While nested calls run, the
// idle limit of the parent call does not apply, because each nested call has its own idle
// limit. When a nested call ends, call RestartIdle before AddNestedCalls(-1).
func (c *Clock) AddNestedCalls(n int64) { c.nestedCalls.Add(n) }

// A caller that also reads lastReportNs calls hasNestedCalls first. If a nested call ends in between, lastReportNs then
// contains the end of the nested call.
func (c *Clock) hasNestedCalls() bool { return c.nestedCalls.Load() > 0 }

// PauseIdleLimit suspends the idle limit until ResumeIdleLimit or the next RestartIdle.
func (c *Clock) PauseIdleLimit() { c.lastReportNs.Store(int64(c.hardLimit)) }

// ResumeIdleLimit restarts the idle limit after PauseIdleLimit. Without PauseIdleLimit, ResumeIdleLimit does
// nothing.
func (c *Clock) ResumeIdleLimit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isStopped {
		return
	}
	now := c.elapsed()
	c.lastReportNs.CompareAndSwap(int64(c.hardLimit), now)
	if c.openPauseCount == 0 {
		c.timer.Reset(time.Duration(c.nextLimit() - now))
	}
}

func (c *Clock) nextLimit() int64 { return c.nextDeadline(c.lastReportNs.Load()) }

func (c *Clock) nextDeadline(lastReportNs int64) int64 {
	return min(lastReportNs+int64(c.idleLimit), int64(c.hardLimit))
}

// CheckLimits calls onLimit if the call has reached a limit, and otherwise restarts the
// timer. The timer of the Clock calls CheckLimits.
func (c *Clock) CheckLimits() {
	c.mu.Lock()
	if c.isStopped || c.openPauseCount > 0 {
		c.mu.Unlock()
		return
	}
	hasNestedCalls := c.hasNestedCalls()
	lastReportNs := c.lastReportNs.Load()
	now, deadline := c.elapsed(), c.nextDeadline(lastReportNs)
	if now >= deadline+int64(suspendThreshold) && now < int64(c.hardLimit) {
		// CompareAndSwap does not overwrite lastReportNs if RestartIdle or PauseIdleLimit has just changed
		// it.
		c.lastReportNs.CompareAndSwap(lastReportNs, now-int64(c.idleLimit-min(c.idleLimit, suspendGracePeriod)))
		deadline = c.nextLimit()
	}
	if now < deadline {
		c.timer.Reset(time.Duration(deadline - now))
		c.mu.Unlock()
		return
	}
	if deadline != int64(c.hardLimit) && hasNestedCalls {
		c.lastReportNs.CompareAndSwap(lastReportNs, now)
		c.timer.Reset(time.Duration(c.nextLimit() - now))
		c.mu.Unlock()
		return
	}
	c.isStopped = true
	c.frozenAtNs.Store(now + 1)
	c.mu.Unlock()
	if deadline == int64(c.hardLimit) {
		c.onLimit(wire.ErrDeadlineExceeded)
	} else {
		c.onLimit(wire.ErrIdleTimeout)
	}
}

// Stop ends the idle limit and the hard limit, and freezes Elapsed. Stop may be called
// before Start, and more than once.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isStopped = true
	if c.timer != nil {
		if c.frozenAtNs.Load() == 0 {
			c.frozenAtNs.Store(c.elapsed() + 1)
		}
		c.timer.Stop()
	}
}
