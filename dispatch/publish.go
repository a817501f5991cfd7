package dispatch

import (
	"slices"
	"time"

	"opentabs/dispatch/events"
	"opentabs/wire"
)

// If a timeline is full, it keeps the first moment and the newest moments.
const maxTimelineEntries = 64

// The type timeline contains the moments of one call, such as created and running.
// liveCall.mu guards all fields of timeline.
type timeline struct {
	timelineEntries      []TimelineEntry
	firstTimelineEntries [3]TimelineEntry
}

func (t *timeline) add(m TimelineEntry) {
	if t.timelineEntries == nil {
		t.timelineEntries = t.firstTimelineEntries[:0]
	}
	if len(t.timelineEntries) == maxTimelineEntries {
		t.timelineEntries = slices.Delete(t.timelineEntries, 1, 2)
	}
	t.timelineEntries = append(t.timelineEntries, m)
}

// The caller of publish holds liveCall.mu, so the events of one call are in order.
func (c *liveCall) publish(kind EventKind, now time.Time, r *Resolution) {
	m := TimelineEntry{Time: now, Kind: kind, Resolution: r}
	if kind == EventSuspended && c.suspension.ticket != nil {
		m.Reason = c.suspension.ticket.Reason
	}
	c.timeline.add(m)
	if !c.d.stream.IsRecording() {
		return
	}
	change := events.Change{Kind: kind, Time: now, Call: currentCallFacts(c)}
	switch {
	case kind == EventEnded:
		change.Details = &change.Call.End
		change.Details.Audience = c.reports.resultAudience
		setCallState(&change.Details.State, c)
	case kind != EventCreated && kind != EventRunning || c.attempts.count > 0 || c.attempts.runTarget.Browser != "":
		change.Details = &events.Details{Resolution: r}
		setCallState(&change.Details.State, c)
	}
	c.d.stream.Publish(change)
}

// The caller of publishReport holds liveCall.mu.
func (c *liveCall) publishReport(kind EventKind, r *wire.Report) {
	if !c.d.stream.IsRecording() {
		return
	}
	viewCopy := &struct {
		details  events.Details
		report   wire.Report
		activity wire.Activity
	}{details: events.Details{Audience: r.Audience}}
	setCallState(&viewCopy.details.State, c)
	if kind == EventActivity {
		viewCopy.activity = *r.Activity
		viewCopy.details.Activity = &viewCopy.activity
	} else {
		viewCopy.report = *r
		viewCopy.report.Activity = nil
		viewCopy.details.Report = &viewCopy.report
	}
	c.d.stream.Publish(events.Change{Kind: kind, Time: c.reports.lastReportAt, Call: currentCallFacts(c), Details: &viewCopy.details})
}

func setCallFacts(callFacts *events.CallFacts, c *liveCall) {
	callFacts.CallID, callFacts.ParentCallID, callFacts.ParentNodeID = c.id, c.req.ParentCallID, c.req.ParentNodeID
	callFacts.Plugin, callFacts.Tool, callFacts.Prompt = c.req.Tool.Plugin, c.req.Tool.Name, c.req.Tool.Prompt
	callFacts.IsBrowserTool = c.req.Tool.TargetKind.isChosenBeforeGates()
	callFacts.Client, callFacts.Caller, callFacts.Created, callFacts.NestingDepth = c.req.Client, c.req.Caller, c.createdAt, c.depth
}

// The caller of currentCallFacts holds liveCall.mu.
func currentCallFacts(c *liveCall) *events.CallFacts {
	if c.callFacts == nil {
		c.callFacts = new(events.CallFacts)
		setCallFacts(c.callFacts, c)
	}
	return c.callFacts
}

// The caller of setCallState holds liveCall.mu.
func setCallState(s *events.State, c *liveCall) {
	*s = events.State{
		Status:  c.state.status.publicStatus(),
		Browser: c.attempts.runTarget.Browser, BrowserName: c.attempts.runTarget.BrowserName, TabID: c.attempts.runTarget.TabID, URL: c.attempts.runTarget.URL, ArgsStart: c.argsStart,
		RunTime: c.state.runTime(&c.clock), Ended: c.state.endedAt,
		Reports: c.reports.ReportSummary, EndAudience: c.reports.resultAudience, Result: c.resultStart,
		CancelReason: c.state.reason, StopOutcome: c.state.stopOutcome,
	}
	if c.suspension.ticket != nil {
		s.Waiting = &c.suspension.ticket.WaitingTicket
	}
	if n := len(c.suspension.resolutions); n > 0 {
		s.Decision = &c.suspension.resolutions[n-1]
	}
	if err := c.state.err; err != nil {
		s.ErrorCode = err.Code
		s.Error, s.NextStep = c.describeFailure().explainForUser()
	}
}

// The caller of buildView holds liveCall.mu.
func (c *liveCall) buildView() View {
	var callFacts events.CallFacts
	setCallFacts(&callFacts, c)
	var callState events.State
	setCallState(&callState, c)
	return events.NewView(&callFacts, &callState)
}

func (c *liveCall) listView() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buildView()
}

func (c *liveCall) fullView() View {
	c.activities.ApplyPending() // so that the snapshot has few patches
	c.mu.Lock()
	v := c.buildView()
	v.Timeline, v.Trace = slices.Clone(c.timeline.timelineEntries), c.req.Trace.View(c.root.req.Trace)
	// While liveCall.mu is held, the call publishes no event, so Seq belongs to exactly these activities.
	activities := c.activities.Snapshot()
	v.Seq = c.d.stream.LastSeq()
	c.mu.Unlock()
	v.Activities = activities.Views()
	return v
}
