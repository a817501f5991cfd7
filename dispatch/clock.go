package dispatch

import (
	"sync"
	"sync/atomic"
	"time"

	"opentabs/wire"
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
	// last is the time of the last report since start, in nanoseconds.
	last atomic.Int64

	mu    sync.Mutex // guards timer and done
	timer *time.Timer
	done  bool
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
}

// touch resets the idle timer. It reports false if a limit had been reached
// already: a report that comes at the very instant of the deadline is late.
func (c *clock) touch() bool {
	now := int64(time.Since(c.start))
	if now >= c.due() {
		return false
	}
	c.last.Store(now)
	return true
}

// due is when the next limit is reached unless another report comes, in
// nanoseconds since start.
func (c *clock) due() int64 {
	return min(c.last.Load()+int64(c.idle), int64(c.hard))
}

// fire ends the call if a limit is reached and arms the timer again otherwise.
func (c *clock) fire() {
	c.mu.Lock()
	if c.done {
		c.mu.Unlock()
		return
	}
	now, due := int64(time.Since(c.start)), c.due()
	if now < due {
		c.timer.Reset(time.Duration(due - now))
		c.mu.Unlock()
		return
	}
	c.done = true
	c.mu.Unlock()
	if due == int64(c.hard) {
		c.expired(wire.ErrDeadlineExceeded)
	} else {
		c.expired(wire.ErrIdleTimeout)
	}
}

// stop ends both limits. It may be called before begin and more than once.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	if c.timer != nil {
		c.timer.Stop()
	}
}
