package dispatch

import (
	"encoding/json"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch/progress"
	"opentabs/wire"
)

// The type sink implements Sink: a sink receives the reports and the result of a call's
// current run.
type sink struct{ call *liveCall }

// LinkLost implements Sink.
func (s sink) LinkLost() { s.call.clock.PauseIdleLimit() }

// LinkRestored implements Sink.
func (s sink) LinkRestored() { s.call.clock.ResumeIdleLimit() }

// ReceivePart implements Sink. If the call has just reached a limit, the part has no effect.
func (s sink) ReceivePart() { _ = s.call.clock.RestartIdle() }

// A separate goroutine checks an output above maxInlineCheckBytes, so that other calls on the link are not delayed.
const maxInlineCheckBytes = 64 << 10

// Finish implements Sink.
func (s sink) Finish(toolOutput json.RawMessage, err *wire.CallError) {
	c := s.call
	if err == nil {
		toolOutput, err = c.d.shapeOutput(c, toolOutput)
	}
	if err == nil {
		if c.req.Tool.Output != nil && len(toolOutput) > maxInlineCheckBytes {
			c.clock.PauseIdleLimit() // the tool has finished, so the check of the output must not reach the idle limit
			go s.succeed(toolOutput)
		} else {
			s.succeed(toolOutput)
		}
		return
	}
	c.mu.Lock()
	isInPage := !c.req.Tool.TargetKind.isChosenBeforeGates()
	// If a tool has reported progress or made requests, the tool has started, even if the browser's error describes it
	// as not started.
	hasStarted := isInPage && (c.reports.Count > 0 || c.requests.hasMadeRequests.Load())
	if hasStarted && err.NotStarted {
		startedErr := *err
		startedErr.NotStarted = false
		err = &startedErr
	}
	isRetried := c.state.status == statusRunning && isInPage && !hasStarted && c.attempts.canRetry(err)
	if isRetried {
		c.attempts.hasOtherTarget = false
	}
	c.mu.Unlock()
	if isRetried {
		c.retryErrors <- err
		return
	}
	s.end(callOutcome{status: failureStatusOf(err), err: err})
}

func (s sink) succeed(toolOutput json.RawMessage) {
	if checker := s.call.req.Tool.Output; checker != nil {
		if err := checker.CheckOutput(toolOutput); err != nil {
			s.end(callOutcome{status: failureStatusOf(err), err: err})
			return
		}
	}
	s.end(callOutcome{status: statusSucceeded, output: toolOutput})
}

// If the call has just ended for another reason, such as a limit, the page's answer is a late answer.
func (s sink) end(o callOutcome) {
	if receiveLateAnswer := s.call.d.opts.ReceiveLateAnswer; !s.call.endCall(o) && receiveLateAnswer != nil {
		receiveLateAnswer(s.call.id, LateAnswer{Output: o.output, Err: o.err})
	}
}

// The method Reports implements Sink.
func (s sink) Reports(reports []wire.Report, skippedCount int) {
	if s.acceptReports(reports, skippedCount) && s.call.parent != nil {
		s.call.parent.onChildProgress(s.call.req.Tool.FullName(), reports)
	}
}

func (s sink) acceptReports(reports []wire.Report, skippedCount int) bool {
	c := s.call
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.hasActiveRun() || len(reports)+skippedCount <= 0 {
		return false
	}
	if !c.clock.RestartIdle() {
		// The report arrived after the call had reached a limit, so the call ends as if the
		// limit's timer had fired before the report arrived.
		go c.clock.CheckLimits()
		return false
	}
	c.reports.lastReportAt = time.Now()
	c.reports.Count += max(skippedCount, 0)
	for i := range reports {
		s.acceptReport(&reports[i])
	}
	if skippedCount > 0 {
		c.activities.ReportsLost()
		c.d.opts.Log.Debug().Str("call", c.id).Int("reports", skippedCount).Msg("the page skipped reports")
	}
	return true
}

// The caller of acceptReport holds liveCall.mu.
func (s sink) acceptReport(r *wire.Report) {
	c := s.call
	if logEvent := c.d.opts.Log.Debug(); logEvent.Enabled() {
		logReport(logEvent.Str("call", c.id).Str("tool", c.req.Tool.FullName()), r)
	}
	hasProgress := isProgress(r)
	if hasProgress || r.Activity != nil {
		c.reports.Count++
	}
	n, ok := progress.NumbersOf(r)
	if !ok {
		if c.reports.InvalidCount++; c.reports.InvalidCount == 1 {
			c.d.opts.Log.Warn().Str("call", c.id).Str("tool", c.req.Tool.FullName()).
				Msg("dropped invalid numbers of a progress report: numbers must be finite and not negative, and progress must not exceed total")
		}
	}
	if r.EndAudience != "" {
		c.reports.resultAudience = r.EndAudience
	}
	if r.Activity != nil {
		if audience, hasChanged := c.activities.Report(r.Activity, r.Audience); hasChanged {
			reportCopy := *r
			reportCopy.Audience = audience
			c.publishReport(EventActivity, &reportCopy)
		}
	}
	if !hasProgress {
		return
	}
	c.reports.add(n, r, len(c.d.opts.AfterHooks) > 0)
	c.sender.AddReport(c.reports.lastReportAt, n, progress.Text{Message: r.Message, StatusWord: r.Status, Audience: r.Audience})
	c.publishReport(EventProgress, r)
}

func logReport(logEvent *zerolog.Event, r *wire.Report) {
	addNumber := func(key string, v *float64) {
		if v != nil {
			logEvent.Float64(key, *v)
		}
	}
	addText := func(key, v string) {
		if v != "" {
			logEvent.Str(key, v)
		}
	}
	addNumber("progress", r.Progress)
	addNumber("total", r.Total)
	addNumber("percent", r.Percent)
	addNumber("loaded", r.Loaded)
	addText("status", r.Status)
	addText("audience", r.Audience)
	addText("end_audience", r.EndAudience)
	addText("text", r.Message)
	if r.HasInvalidNumber {
		logEvent.Bool("invalid", true)
	}
	if a := r.Activity; a != nil {
		logEvent.Str("activity", a.Type).Int("bytes", len(a.Content)+len(a.Patch))
	}
	logEvent.Msg("report")
}

// The method Ask implements Sink.
func (s sink) Ask(p wire.ToolAskParams) {
	c := s.call
	if p.Withdrawn {
		c.requests.finish(p.Ask, errWithdrawn)
		return
	}
	ctx, isNew := c.requests.begin(p.Ask)
	if !isNew {
		return
	}
	c.mu.Lock()
	runID, hasActiveRun := c.attempts.runID, c.state.hasActiveRun()
	c.mu.Unlock()
	if !hasActiveRun {
		c.requests.finish(p.Ask, errParentEnded)
		return
	}
	c.clock.RestartIdle()
	go toolRequest{c, runID, p}.serve(ctx)
}

// activityOwner implements activity.Owner for a call.
type activityOwner struct{ call *liveCall }

// ResyncActivity implements activity.Owner.
func (o activityOwner) ResyncActivity(activityType string) {
	o.call.mu.Lock()
	runID := o.call.attempts.runID
	o.call.mu.Unlock()
	o.call.d.bridge.RequestActivityResync(runID, activityType)
}

// WarnActivity implements activity.Owner.
func (o activityOwner) WarnActivity(activityType string, reason error) {
	o.call.d.opts.Log.Warn().Str("call", o.call.id).Str("tool", o.call.req.Tool.FullName()).Str("activity", activityType).Err(reason).
		Msg("dropped a change of an activity; later ones of this call are dropped without a log line")
}
