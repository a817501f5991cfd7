package dispatch

import (
	"encoding/json"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// sink is what a bridge reports about a run. sink implements Sink.
type sink struct{ call *liveCall }

// LinkLost implements Sink.
func (s sink) LinkLost() { s.call.clock.HoldIdle() }

// LinkBack implements Sink.
func (s sink) LinkBack() { s.call.clock.ReleaseIdle() }

// Finish implements Sink.
func (s sink) Finish(output json.RawMessage, err *wire.CallError) {
	c := s.call
	if err == nil {
		c.end(ending{status: statusSucceeded, output: output})
		return
	}
	c.mu.Lock()
	// A call that has reported or made calls has started, whatever the browser reports.
	again := c.state.status == statusRunning && c.reports.count == 0 && c.attempts.canRetry(err) && !c.nesting.hasAsked.Load()
	if again {
		c.attempts.hasOther = false
	}
	c.mu.Unlock()
	if again {
		c.retry <- err
		return
	}
	c.fail(err)
}

// Reports implements Sink.
func (s sink) Reports(reports []wire.Report, skipped int) {
	if s.accept(reports, skipped) && s.call.parent != nil {
		s.call.parent.onChildProgress(s.call.req.Tool.FullName(), reports)
	}
}

// accept records reports. accept returns false if the call is not running in a page.
func (s sink) accept(reports []wire.Report, skipped int) bool {
	c := s.call
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.isInPage() || len(reports)+skipped <= 0 {
		return false
	}
	if !c.clock.Touch() {
		// A limit is reached at this time, or the machine slept past it: the call ends
		// as if its timer had fired first.
		go c.clock.Check()
		return false
	}
	c.reports.lastAt = time.Now()
	c.reports.count += max(skipped, 0)
	for i := range reports {
		s.acceptOne(&reports[i])
	}
	if skipped > 0 {
		c.activities.ReportsLost()
		c.d.opts.Log.Debug().Str("call", c.id).Int("reports", skipped).Msg("the page skipped reports")
	}
	return true
}

// acceptOne records one report. The caller has locked mu.
func (s sink) acceptOne(r *wire.Report) {
	c := s.call
	if line := c.d.opts.Log.Debug(); line.Enabled() {
		logReport(line.Str("call", c.id).Str("tool", c.req.Tool.FullName()), r)
	}
	hasProgress := isProgress(r)
	if hasProgress || r.Activity != nil { // false for a report that sets only EndAudience
		c.reports.count++
	}
	n, ok := progress.NumbersOf(r)
	if !ok {
		if c.reports.invalid++; c.reports.invalid == 1 {
			c.d.opts.Log.Warn().Str("call", c.id).Str("tool", c.req.Tool.FullName()).
				Msg("dropped invalid numbers of a progress report: numbers must be finite and not negative, and progress must not exceed total")
		}
	}
	if r.EndAudience != "" {
		c.reports.endAudience = r.EndAudience
	}
	if r.Activity != nil {
		if audience, accepted := c.activities.Report(r.Activity, r.Audience); accepted {
			shown := *r
			shown.Audience = audience
			c.publishReport(EventActivity, &shown)
		}
	}
	if !hasProgress {
		return
	}
	c.reports.add(n, r, len(c.d.opts.After) > 0)
	c.sender.Accept(c.reports.lastAt, n, progress.Text{Message: r.Message, StatusWord: r.Status, Audience: r.Audience})
	c.publishReport(EventProgress, r)
}

// logReport writes a report to the log.
func logReport(line *zerolog.Event, r *wire.Report) {
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
	text("text", r.Message)
	if r.Invalid {
		line.Bool("invalid", true)
	}
	if a := r.Activity; a != nil {
		line.Str("activity", a.Type).Int("bytes", len(a.Content)+len(a.Patch))
	}
	line.Msg("report")
}

// Ask implements Sink.
func (s sink) Ask(p wire.ToolAskParams) {
	c := s.call
	if p.Withdrawn {
		c.nesting.finish(p.Ask, errWithdrawn)
		return
	}
	ctx, isNew := c.nesting.begin(p.Ask)
	if !isNew {
		return
	}
	c.mu.Lock()
	runID, isInPage := c.attempts.runID, c.state.isInPage()
	c.mu.Unlock()
	if !isInPage {
		c.nesting.finish(p.Ask, errParentEnded)
		return
	}
	c.clock.Touch()
	go ask{c, runID, p}.answer(ctx)
}

// activityOwner connects the activities of a call with its page and the log.
type activityOwner struct{ call *liveCall }

// ResyncActivity implements activity.Owner.
func (o activityOwner) ResyncActivity(activityType string) {
	o.call.mu.Lock()
	id := o.call.attempts.runID
	o.call.mu.Unlock()
	o.call.d.bridge.Resync(id, activityType)
}

// WarnActivity implements activity.Owner.
func (o activityOwner) WarnActivity(activityType string, why error) {
	o.call.d.opts.Log.Warn().Str("call", o.call.id).Str("tool", o.call.req.Tool.FullName()).Str("activity", activityType).Err(why).
		Msg("dropped a change of an activity; later ones of this call are dropped without a log line")
}
