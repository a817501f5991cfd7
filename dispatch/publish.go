package dispatch

import (
	"slices"
	"time"

	"opentabs/dispatch/events"
	"opentabs/wire"
)

// If a timeline is full, the first moment and the newest moments stay.
const maxMoments = 64

// The type timeline contains the moments of one call, such as created and running.
// liveCall.mu guards all fields of timeline.
type timeline struct {
	moments      []Moment
	firstMoments [3]Moment
}

func (t *timeline) add(m Moment) {
	if t.moments == nil {
		t.moments = t.firstMoments[:0]
	}
	if len(t.moments) == maxMoments {
		t.moments = slices.Delete(t.moments, 1, 2)
	}
	t.moments = append(t.moments, m)
}

// The caller of publish holds liveCall.mu, so the events of one call are in order.
func (c *liveCall) publish(kind EventKind, now time.Time, r *Resolution) {
	m := Moment{Time: now, Kind: kind, Resolution: r}
	if kind == EventSuspended && c.suspension.ticket != nil {
		m.Reason = c.suspension.ticket.Reason
	}
	c.timeline.add(m)
	if !c.d.stream.IsRecording() {
		return
	}
	change := events.Change{Kind: kind, Time: now, Call: sharedFacts(c)}
	switch {
	case kind == EventEnded:
		change.Details = &change.Call.End
		change.Details.Audience = c.reports.endAudience
		fillState(&change.Details.State, c)
	case kind != EventCreated && kind != EventRunning || c.attempts.count > 0 || c.attempts.runTarget.Browser != "":
		change.Details = &events.Details{Resolution: r}
		fillState(&change.Details.State, c)
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
	fillState(&viewCopy.details.State, c)
	if kind == EventActivity {
		viewCopy.activity = *r.Activity
		viewCopy.details.Activity = &viewCopy.activity
	} else {
		viewCopy.report = *r
		viewCopy.report.Activity = nil
		viewCopy.details.Report = &viewCopy.report
	}
	c.d.stream.Publish(events.Change{Kind: kind, Time: c.reports.lastReportAt, Call: sharedFacts(c), Details: &viewCopy.details})
}

func fillFacts(card *events.CallFacts, c *liveCall) {
	card.CallID, card.ParentCallID, card.ParentNodeID = c.id, c.req.ParentCallID, c.req.ParentNodeID
	card.Plugin, card.Tool, card.Prompt = c.req.Tool.Plugin, c.req.Tool.Name, c.req.Tool.Prompt
	card.IsBrowserTool = c.req.Tool.TargetKind.isChosenBeforeGates()
	card.Client, card.Caller, card.Created, card.Depth = c.req.Client, c.req.Caller, c.createdAt, c.depth
}

// The caller of sharedFacts holds liveCall.mu.
func sharedFacts(c *liveCall) *events.CallFacts {
	if c.facts == nil {
		c.facts = new(events.CallFacts)
		fillFacts(c.facts, c)
	}
	return c.facts
}

// The caller of fillState holds liveCall.mu.
func fillState(s *events.State, c *liveCall) {
	*s = events.State{
		Status:  c.state.status.shownStatus(),
		Browser: c.attempts.runTarget.Browser, BrowserName: c.attempts.runTarget.BrowserName, TabID: c.attempts.runTarget.TabID, URL: c.attempts.runTarget.URL, ArgsStart: c.argsStart,
		RunTime: c.state.runTime(&c.clock), Ended: c.state.endedAt,
		Reports: c.reports.ReportSummary, EndAudience: c.reports.endAudience, Result: c.resultStart,
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
		s.Error, s.NextStep = c.describeFailure().stateTexts()
	}
}

// The caller of viewLocked holds liveCall.mu.
func (c *liveCall) viewLocked() View {
	var card events.CallFacts
	fillFacts(&card, c)
	var callState events.State
	fillState(&callState, c)
	return events.NewView(&card, &callState)
}

func (c *liveCall) listView() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewLocked()
}

func (c *liveCall) fullView() View {
	activities := c.activities.Views()
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.viewLocked()
	v.Activities, v.Timeline, v.Trace = activities, slices.Clone(c.timeline.moments), c.req.Trace.View(c.root.req.Trace)
	v.Seq = c.d.stream.LastSeq() // no event of the call is published while liveCall.mu is held
	return v
}
