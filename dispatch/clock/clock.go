// Package clock applies the two time limits of one running call: the idle limit,
// which each report restarts, and the hard limit, which nothing restarts.
//
// # Concurrency
//
// A [Clock] is safe for concurrent use. Touch, HoldIdle and Elapsed take no lock.
// The other methods take Clock.mu, and no other lock while they hold it: the
// expired function of Start runs without it.
package clock

import (
	"sync"
	"sync/atomic"
	"time"

	"opentabs/wire"
)

// A timer that fires suspendThreshold late indicates that the process or the
// machine was suspended. Reports of that time are still unread, so the idle limit
// leaves them graceAfterSuspend.
const (
	suspendThreshold  = 2 * time.Second
	graceAfterSuspend = 5 * time.Second
)

// Clock measures one call. A report takes one read of the time and one atomic store:
// the timer is not moved. When it fires, it checks for a newer report and restarts
// itself. The zero Clock is ready for use.
type Clock struct {
	start time.Time
	idle  time.Duration
	hard  time.Duration
	// expired is called once, without mu, when a limit is reached.
	expired func(wire.ErrorCode)
	// delegates counts the running nested calls, whose idle limits replace the idle
	// limit of this clock.
	delegates atomic.Int64
	// last is the time of the last report since start, in nanoseconds; hard while
	// the idle limit is held.
	last atomic.Int64
	// skipped is the total of ended pauses since start, in nanoseconds. frozenAt is
	// the elapsed time of a paused or stopped clock, plus one; 0 while it runs.
	skipped  atomic.Int64
	frozenAt atomic.Int64

	mu     sync.Mutex // guards all fields below
	timer  *time.Timer
	done   bool
	pauses int // the number of pauses without a Resume
	// pausedAt is the start of the current pause. paused is the total of all ended
	// pauses, including pauses before Start.
	pausedAt time.Time
	paused   time.Duration
}

// Paused returns the total time that the clock has been paused.
func (c *Clock) Paused() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses == 0 {
		return c.paused
	}
	return c.paused + time.Since(c.pausedAt)
}

// Elapsed returns the time since Start without pauses.
func (c *Clock) Elapsed() time.Duration { return time.Duration(c.elapsed()) }

func (c *Clock) elapsed() int64 {
	if at := c.frozenAt.Load(); at != 0 {
		return at - 1
	}
	return int64(time.Since(c.start)) - c.skipped.Load()
}

// Pause suspends both limits until Resume was called as often. Pause may precede Start.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	if c.pauses > 1 {
		return
	}
	c.pausedAt = time.Now()
	if c.timer != nil {
		c.frozenAt.Store(c.elapsed() + 1)
		c.timer.Stop()
	}
}

// Resume undoes one Pause. The last Resume restarts the idle limit.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses--; c.pauses > 0 {
		return
	}
	c.paused += time.Since(c.pausedAt)
	if c.timer == nil || c.done {
		return
	}
	now := c.elapsed()
	c.skipped.Store(int64(time.Since(c.start)) - now)
	c.frozenAt.Store(0)
	if last := c.last.Load(); last != int64(c.hard) { // otherwise the idle limit is suspended
		c.last.CompareAndSwap(last, now)
	}
	c.timer.Reset(time.Duration(c.nextLimit() - now))
}

// Start starts both limits. Start does nothing after Stop.
func (c *Clock) Start(idle, hard time.Duration, expired func(wire.ErrorCode)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start, c.idle, c.hard, c.expired = time.Now(), idle, hard, expired
	if c.done {
		return
	}
	c.timer = time.AfterFunc(min(idle, hard), c.Check)
	if c.pauses > 0 {
		c.frozenAt.Store(1)
		c.timer.Stop()
	}
}

// Touch restarts the idle limit. Touch returns false if a limit was already reached: a
// report at the exact time of the deadline is late.
func (c *Clock) Touch() bool {
	now := c.elapsed()
	if due := c.nextLimit(); now >= due && (now >= int64(c.hard) || now < due+int64(suspendThreshold) && !c.isDelegated()) {
		return false
	}
	c.last.Store(now)
	return true
}

// Delegate adds n to the number of nested calls. While it is positive, the idle
// limit ends nothing, because each nested call has one.
func (c *Clock) Delegate(n int64) { c.delegates.Add(n) }

func (c *Clock) isDelegated() bool { return c.delegates.Load() > 0 }

// HoldIdle suspends the idle limit until ReleaseIdle or the next Touch.
func (c *Clock) HoldIdle() { c.last.Store(int64(c.hard)) }

// ReleaseIdle restarts the idle limit after HoldIdle; otherwise it does nothing.
func (c *Clock) ReleaseIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	now := c.elapsed()
	c.last.CompareAndSwap(int64(c.hard), now)
	if c.pauses == 0 {
		c.timer.Reset(time.Duration(c.nextLimit() - now))
	}
}

// nextLimit is the time of the next limit without another report, in nanoseconds since
// start.
func (c *Clock) nextLimit() int64 { return c.dueAfter(c.last.Load()) }

// dueAfter is due for a last report at the given time.
func (c *Clock) dueAfter(last int64) int64 { return min(last+int64(c.idle), int64(c.hard)) }

// Check calls the expired function if a limit is reached, and restarts the timer
// otherwise. The timer calls it.
func (c *Clock) Check() {
	c.mu.Lock()
	if c.done || c.pauses > 0 {
		c.mu.Unlock()
		return
	}
	last := c.last.Load()
	now, due := c.elapsed(), c.dueAfter(last)
	if now >= due+int64(suspendThreshold) && now < int64(c.hard) {
		// A concurrent Touch or HoldIdle takes precedence.
		c.last.CompareAndSwap(last, now-int64(c.idle-min(c.idle, graceAfterSuspend)))
		due = c.nextLimit()
	}
	if now < due {
		c.timer.Reset(time.Duration(due - now))
		c.mu.Unlock()
		return
	}
	if due != int64(c.hard) && c.isDelegated() {
		c.last.Store(now)
		c.timer.Reset(time.Duration(c.nextLimit() - now))
		c.mu.Unlock()
		return
	}
	c.done = true
	c.frozenAt.Store(now + 1)
	c.mu.Unlock()
	if due == int64(c.hard) {
		c.expired(wire.ErrDeadlineExceeded)
	} else {
		c.expired(wire.ErrIdleTimeout)
	}
}

// Stop ends both limits and freezes Elapsed. Stop may precede Start and may be called
// more than once.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	if c.timer != nil {
		if c.frozenAt.Load() == 0 {
			c.frozenAt.Store(c.elapsed() + 1)
		}
		c.timer.Stop()
	}
}
