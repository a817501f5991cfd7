package dispatch

import (
	"time"

	"opentabs/wire"
)

// Reports implements Sink: rule 1 first, whatever the reports hold.
func (c *liveCall) Reports(reports []wire.Report, skipped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status != StatusRunning || len(reports)+skipped <= 0 {
		return
	}
	if !c.clock.touch() {
		// The limit is reached at this very instant, or the machine slept past
		// it: the call ends as if its timer had come first.
		go c.clock.fire()
		return
	}
	c.lastReport = time.Now()
	c.reports += max(skipped, 0)
	for i := range reports {
		c.report(&reports[i])
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// report applies rules 2 to 5 to one report. The caller holds mu.
func (c *liveCall) report(r *wire.Report) {
	c.reports++
	n, ok := numbersOf(r)
	if !ok {
		if c.invalid++; c.invalid == 1 {
			c.d.opts.Log.Warn().Str("call", c.id).Str("tool", c.req.Tool.FullName()).
				Msg("a progress report with bad numbers: they are dropped; numbers must be finite, not negative, and progress at most total")
		}
	}
	if n.hasProgress {
		c.shown = n
	}
	if r.Message != "" {
		c.message = r.Message
	}
	if c.req.Progress != nil {
		c.meter.accept(n, r.Message, r.Audience)
	}
	c.publish(EventProgress, r)
}

// notify hands the client what may be sent now, and returns when there may be
// more to send, or nil.
func (c *liveCall) notify() <-chan time.Time {
	for {
		c.mu.Lock()
		if c.status != StatusRunning {
			c.mu.Unlock()
			return nil
		}
		p, ok, wait := c.meter.take(time.Now())
		c.mu.Unlock()
		switch {
		case ok:
			c.req.Progress(p)
		case wait > 0:
			return time.After(wait)
		default:
			return nil
		}
	}
}

// flush hands the client what is left, whatever the rate: the last report
// before the result is always sent.
func (c *liveCall) flush() {
	for {
		c.mu.Lock()
		if len(c.meter.pending) == 0 {
			c.mu.Unlock()
			return
		}
		p := c.meter.pop(time.Now())
		c.mu.Unlock()
		c.req.Progress(p)
	}
}

// publish hands an event to the followers, if there are any. The caller holds
// mu, so the events of one call come in order.
func (c *liveCall) publish(kind EventKind, r *wire.Report) {
	if !c.d.stream.following.Load() {
		return
	}
	if r != nil { // the bridge's slice is not kept
		kept := *r
		r = &kept
	}
	c.d.stream.publish(kind, c.viewLocked(), r)
}

// view returns the call as lists show it.
func (c *liveCall) view() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewLocked()
}

// viewLocked is view for a caller that holds mu.
func (c *liveCall) viewLocked() View {
	v := View{
		Snapshot: Snapshot{
			Schema: SnapshotSchema, NodeID: c.id, CallID: c.id,
			ToolName: c.req.Tool.FullName(), Status: c.status.Snapshot(), Message: c.message,
			ParentNodeID: c.req.ParentNodeID, ParentCallID: c.req.ParentCallID,
		},
		Plugin: c.req.Tool.Plugin, Tool: c.req.Tool.Name,
		Client: c.req.Client.Name, Session: c.req.Client.Session,
		Browser: c.target.Browser, TabID: c.target.TabID,
		Created: c.created, RunMs: float64(c.ran()) / float64(time.Millisecond),
		Reports: c.reports, Invalid: c.invalid, Stopped: c.stopped,
	}
	c.shown.fill(&v.Snapshot, c.status)
	if !c.ended.IsZero() {
		ended := c.ended
		v.Ended = &ended
	}
	if c.err != nil {
		v.ErrorCode, v.Error = c.err.Code, c.err.Message
	}
	return v
}

// fill sets the snapshot's numbers.
func (n numbers) fill(s *Snapshot, status Status) {
	if n.hasProgress {
		loaded := n.progress
		if n.hasLoaded {
			loaded = n.loaded
		}
		s.Loaded = &loaded
	}
	if !n.hasTotal {
		return
	}
	total := n.total
	s.Total = &total
	switch {
	case n.total > 0:
		fraction := n.progress / n.total
		s.Progress = &fraction
	case n.final(): // nothing to do is done
		one := 1.0
		s.Progress = &one
	}
}
