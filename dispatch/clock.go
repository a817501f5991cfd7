package dispatch

import (
	"sync"
	"sync/atomic"
	"time"

	"opentabs/wire"
)

// stoodStill is how late a timer fires at least if the whole process was held or
// the machine slept. Reports of that time wait to be read, so that the idle
// limit gives them afterStandstill.
const (
	stoodStill      = 2 * time.Second
	afterStandstill = 5 * time.Second
)

// clock holds the two limits of one running call. A report costs one read of
// the time and one atomic store: the timer is not moved, it looks when it
// fires and arms itself again if a report came meanwhile.
type clock struct {
	start time.Time
	idle  time.Duration
	hard  time.Duration
	// expired is called once, without mu, when a limit is reached.
	expired func(wire.ErrorCode)
	// busy tells that the call waits for what has an idle limit of its own. It is
	// set before begin; nil means never.
	busy func() bool
	// last is the time of the last report since start, in nanoseconds; hard while
	// the idle limit is held.
	last atomic.Int64
	// skipped is how long the clock has stood still so far, in nanoseconds, and
	// stoodAt where it stands still now, plus one; 0 while it runs.
	skipped atomic.Int64
	stoodAt atomic.Int64

	mu     sync.Mutex // guards all below
	timer  *time.Timer
	done   bool
	pauses int // pause without its resume
	// pausedAt is when the pause began that lasts, paused how long the others took
	// together, also before begin.
	pausedAt time.Time
	paused   time.Duration
}

// pausedFor is how long the clock has been paused in all.
func (c *clock) pausedFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses == 0 {
		return c.paused
	}
	return c.paused + time.Since(c.pausedAt)
}

// elapsed is how long the clock has run, without the pauses, in nanoseconds.
func (c *clock) elapsed() int64 {
	if at := c.stoodAt.Load(); at != 0 {
		return at - 1
	}
	return int64(time.Since(c.start)) - c.skipped.Load()
}

// pause makes the clock stand still until as many resumes: no limit is reached
// meanwhile. It may be called before begin.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	if c.pauses > 1 {
		return
	}
	c.pausedAt = time.Now()
	if c.timer != nil {
		c.stoodAt.Store(c.elapsed() + 1)
		c.timer.Stop()
	}
}

// resume undoes one pause. The idle limit starts anew with the last one.
func (c *clock) resume() {
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
	c.stoodAt.Store(0)
	if last := c.last.Load(); last != int64(c.hard) { // else it is held
		c.last.CompareAndSwap(last, now)
	}
	c.timer.Reset(time.Duration(c.due() - now))
}

// begin starts both limits now.
func (c *clock) begin(idle, hard time.Duration, expired func(wire.ErrorCode)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start, c.idle, c.hard, c.expired = time.Now(), idle, hard, expired
	if c.done { // the call ended while it was being started
		return
	}
	c.timer = time.AfterFunc(min(idle, hard), c.fire)
	if c.pauses > 0 {
		c.stoodAt.Store(1)
		c.timer.Stop()
	}
}

// touch resets the idle timer. It reports false if a limit had been reached
// already: a report that comes at the very instant of the deadline is late.
func (c *clock) touch() bool {
	now := c.elapsed()
	if due := c.due(); now >= due && (now >= int64(c.hard) || now < due+int64(stoodStill) && !c.waits()) {
		return false
	}
	c.last.Store(now)
	return true
}

// waits reports whether the idle limit is another's business.
func (c *clock) waits() bool { return c.busy != nil && c.busy() }

// hold stops the idle limit until release or the next touch. It takes no lock.
func (c *clock) hold() { c.last.Store(int64(c.hard)) }

// release starts the idle limit anew after hold; otherwise it changes nothing.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	now := c.elapsed()
	c.last.CompareAndSwap(int64(c.hard), now)
	if c.pauses == 0 {
		c.timer.Reset(time.Duration(c.due() - now))
	}
}

// due is when the next limit is reached unless another report comes, in
// nanoseconds since start.
func (c *clock) due() int64 { return c.dueAfter(c.last.Load()) }

// dueAfter is due if the last report came at last.
func (c *clock) dueAfter(last int64) int64 { return min(last+int64(c.idle), int64(c.hard)) }

// fire ends the call if a limit is reached and arms the timer again otherwise.
func (c *clock) fire() {
	c.mu.Lock()
	if c.done || c.pauses > 0 {
		c.mu.Unlock()
		return
	}
	last := c.last.Load()
	now, due := c.elapsed(), c.dueAfter(last)
	if now >= due+int64(stoodStill) && now < int64(c.hard) {
		// A touch or a hold since the look at last counts for more.
		c.last.CompareAndSwap(last, now-int64(c.idle-min(c.idle, afterStandstill)))
		due = c.due()
	}
	if now < due {
		c.timer.Reset(time.Duration(due - now))
		c.mu.Unlock()
		return
	}
	if due != int64(c.hard) && c.waits() {
		c.last.Store(now)
		c.timer.Reset(time.Duration(c.due() - now))
		c.mu.Unlock()
		return
	}
	c.done = true
	c.stoodAt.Store(now + 1)
	c.mu.Unlock()
	if due == int64(c.hard) {
		c.expired(wire.ErrDeadlineExceeded)
	} else {
		c.expired(wire.ErrIdleTimeout)
	}
}

// stop ends both limits and lets elapsed stand still. It may be called before
// begin and more than once.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	if c.timer != nil {
		if c.stoodAt.Load() == 0 {
			c.stoodAt.Store(c.elapsed() + 1)
		}
		c.timer.Stop()
	}
}
