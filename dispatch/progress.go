package dispatch

import (
	"time"

	"github.com/rs/zerolog"

	"opentabs/wire"
)

// Reports implements Sink: rule 1 first, whatever the reports hold.
func (c *liveCall) Reports(reports []wire.Report, skipped int) {
	if c.take(reports, skipped) && c.parent != nil {
		c.parent.onChildReports(c.req.Tool.FullName(), reports)
	}
}

// take takes reports. It reports false if the call does not run (any more).
func (c *liveCall) take(reports []wire.Report, skipped int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun.IsZero() || c.status.Terminal() || len(reports)+skipped <= 0 {
		return false
	}
	if !c.clock.touch() {
		// The limit is reached at this very instant, or the machine slept past
		// it: the call ends as if its timer had come first.
		go c.clock.fire()
		return false
	}
	c.lastReport = time.Now()
	c.reports += max(skipped, 0)
	for i := range reports {
		c.report(&reports[i])
	}
	if skipped > 0 {
		c.activities.lost()
		c.d.opts.Log.Debug().Str("call", c.id).Int("reports", skipped).Msg("reports were skipped by the page")
	}
	poke(c.wake) // run looks at the meter
	return true
}

// report applies rules 2 to 5 to one report. The caller holds mu.
func (c *liveCall) report(r *wire.Report) {
	if line := c.d.opts.Log.Debug(); line.Enabled() {
		c.record(line, r)
	}
	if says(r) || r.Activity != nil { // the audience of the end alone is none that the tool made
		c.reports++
	}
	n, ok := numbersOf(r)
	if !ok {
		if c.invalid++; c.invalid == 1 {
			c.d.opts.Log.Warn().Str("call", c.id).Str("tool", c.req.Tool.FullName()).
				Msg("a progress report with bad numbers: they are dropped; numbers must be finite, not negative, and progress at most total")
		}
	}
	if r.EndAudience != "" {
		c.endAudience = r.EndAudience
	}
	if r.Activity != nil {
		if audience, taken := c.activities.report(r.Activity, r.Audience); taken {
			shown := *r
			shown.Audience = audience
			c.publish(EventActivity, &shown)
		}
	}
	if !says(r) {
		return
	}
	c.show(n, r)
	if c.req.Progress != nil {
		c.meter.accept(c.lastReport, n, said{r.Message, r.Status, r.Audience})
	}
	c.publish(EventProgress, r)
}

// record writes a report to the log, whatever becomes of it.
func (c *liveCall) record(line *zerolog.Event, r *wire.Report) {
	line.Str("call", c.id).Str("tool", c.req.Tool.FullName())
	number := func(key string, v *float64) {
		if v != nil {
			line.Float64(key, *v)
		}
	}
	text := func(key, v string) {
		if v != "" {
			line.Str(key, v)
		}
	}
	number("progress", r.Progress)
	number("total", r.Total)
	number("percent", r.Percent)
	number("loaded", r.Loaded)
	text("status", r.Status)
	text("audience", r.Audience)
	text("end_audience", r.EndAudience)
	text("said", r.Message)
	if r.Invalid {
		line.Bool("invalid", true)
	}
	if a := r.Activity; a != nil {
		line.Str("activity", a.Type).Int("bytes", len(a.Content)+len(a.Patch))
	}
	line.Msg("report")
}

// says reports whether r is a report of progress, also an empty one; one that
// carries an activity or the audience of the end need not be.
func says(r *wire.Report) bool {
	return r.Activity == nil && r.EndAudience == "" || r.Message != "" || r.Status != "" || r.Invalid ||
		r.Progress != nil || r.Percent != nil || r.Loaded != nil || r.Total != nil
}

// show keeps what surfaces show of a report. The caller holds mu.
func (c *liveCall) show(n numbers, r *wire.Report) {
	forPeople := r.Audience == AudienceUser
	if n.hasProgress {
		c.shown = n
		if forPeople {
			c.userShown = n
		}
	}
	if r.Message == "" && r.Status == "" {
		return
	}
	c.statusWord = r.Status
	if forPeople {
		c.userStatusWord = r.Status
	}
	if r.Message == "" || r.Message == c.message && !forPeople {
		return
	}
	c.message = r.Message
	if forPeople {
		c.userMessage = r.Message
	}
	if len(c.d.opts.After) == 0 {
		return
	}
	if len(c.said) == maxSaid {
		c.said = append(c.said[:0], c.said[1:]...)
	}
	c.said = append(c.said, LastMessage{Time: c.lastReport, Message: cutText([]byte(r.Message), maxSaidBytes), Audience: r.Audience})
}

// The last messages of a call that are kept, and how long each may be.
const (
	maxSaid      = 20
	maxSaidBytes = 400
)

// notify hands the client what may be sent now, and returns when there may be
// more to send, or nil.
func (c *liveCall) notify() <-chan time.Time {
	for {
		c.mu.Lock()
		if c.status.Terminal() {
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
		p, ok := c.meter.rest(time.Now())
		c.mu.Unlock()
		if !ok {
			return
		}
		c.req.Progress(p)
	}
}

// publish hands an event to the followers, if there are any. The caller holds
// mu, so the events of one call come in order.
func (c *liveCall) publish(kind EventKind, r *wire.Report) {
	if r == nil {
		c.note(kind, nil)
	}
	if kind == EventEnded && c.status == StatusSucceeded {
		c.resultText = beginningOf(c.output)
	}
	if !c.d.stream.following.Load() {
		return
	}
	e := Event{Kind: kind, Call: c.viewLocked()}
	switch {
	case r == nil:
	case kind == EventActivity:
		activity := *r.Activity
		e.Activity, e.Audience = &activity, r.Audience
	default: // the bridge's slice is not kept
		kept := *r
		kept.Activity = nil
		e.Report, e.Audience = &kept, r.Audience
	}
	if kind == EventEnded {
		e.Audience = c.endAudience
	}
	c.d.stream.publish(e)
}

// publishDecision is publish for a decision of a person. The caller holds mu.
func (c *liveCall) publishDecision(r *Resolution) {
	c.note(EventResumed, r)
	if c.d.stream.following.Load() {
		c.d.stream.publish(Event{Kind: EventResumed, Call: c.viewLocked(), Resolution: r})
	}
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
		Session: c.req.Client.Session,
		Browser: c.target.Browser, TabID: c.target.TabID,
		Created: c.created, RunMs: float64(c.ran()) / float64(time.Millisecond),
		Reports: c.reports, Invalid: c.invalid, Stopped: c.stopped,
		CancelReason: c.reason, Prompt: c.req.Tool.Prompt, Depth: c.depth, Caller: c.req.Caller, UserMessage: c.userMessage, EndAudience: c.endAudience,
		StatusWord: c.statusWord, UserStatusWord: c.userStatusWord, Result: c.resultText,
	}
	v.setClient(c.req.Client)
	c.shown.fill(&v.Snapshot)
	var people Snapshot
	c.userShown.fill(&people)
	v.UserProgress = people.Progress
	if c.ticket != nil {
		waiting := c.ticket.Waiting
		v.Waiting = &waiting
	}
	if !c.ended.IsZero() {
		ended := c.ended
		v.Ended = &ended
	}
	if c.err != nil {
		v.ErrorCode, v.Error = c.err.Code, c.err.Message
		if text := c.textForUser(); text != "" {
			v.Error = text
		}
	}
	return v
}

// fill sets the snapshot's numbers.
func (n numbers) fill(s *Snapshot) {
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
