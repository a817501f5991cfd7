package dispatch

import (
	"slices"
	"time"

	"opentabs/wire"
)

// maxMoments limits the moments of one call: the first moment and the newest moments
// are kept.
const maxMoments = 64

// timeline is the moments of one call. timeline has no lock: liveCall.mu guards it.
type timeline struct {
	moments      []Moment
	firstMoments [3]Moment // the memory of moments for a call that is not suspended
}

// add appends a moment. At the limit, add first drops the second moment.
func (t *timeline) add(m Moment) {
	if t.moments == nil {
		t.moments = t.firstMoments[:0]
	}
	if len(t.moments) == maxMoments {
		t.moments = slices.Delete(t.moments, 1, 2)
	}
	t.moments = append(t.moments, m)
}

// publish records a step of the call and sends the step to the followers; r is nil
// except for an EventResumed. The caller has locked mu, so the events of one call are
// in order.
func (c *liveCall) publish(kind EventKind, now time.Time, r *Resolution) {
	m := Moment{Time: now, Kind: kind, Resolution: r}
	if kind == EventSuspended && c.suspension.ticket != nil {
		m.Reason = c.suspension.ticket.Reason
	}
	c.timeline.add(m)
	if !c.d.stream.IsRecording() {
		return
	}
	e := Event{Kind: kind, Call: c.viewLocked(), Resolution: r}
	if kind == EventEnded {
		e.Audience = c.reports.endAudience
	}
	c.d.stream.Publish(e)
}

// publishReport sends a report to the followers, if there are any, and keeps no
// reference to r, whose slice belongs to the bridge. The caller has locked mu.
func (c *liveCall) publishReport(kind EventKind, r *wire.Report) {
	if !c.d.stream.IsRecording() {
		return
	}
	e := Event{Kind: kind, Call: c.viewLocked(), Audience: r.Audience}
	if kind == EventActivity {
		activityCopy := *r.Activity
		e.Activity = &activityCopy
	} else {
		reportCopy := *r
		reportCopy.Activity = nil
		e.Report = &reportCopy
	}
	c.d.stream.Publish(e)
}

// listView returns the call as lists show it.
func (c *liveCall) listView() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewLocked()
}

// viewLocked returns the call as lists show it. The caller has locked mu.
func (c *liveCall) viewLocked() View {
	v := View{
		Snapshot: Snapshot{
			Schema: SnapshotSchema, NodeID: c.id, CallID: c.id,
			ToolName: c.req.Tool.FullName(), Progression: Progression{Status: c.state.status.shownStatus()},
			ParentNodeID: c.req.ParentNodeID, ParentCallID: c.req.ParentCallID,
		},
		Plugin: c.req.Tool.Plugin, Tool: c.req.Tool.Name,
		Requester: c.req.Client.Requester(),
		Browser:   c.attempts.target.Browser, TabID: c.attempts.target.TabID,
		Created: c.created, RunMs: float64(c.state.runTime(&c.clock)) / float64(time.Millisecond),
		StopOutcome: c.state.stopOutcome, CancelReason: c.state.reason, Prompt: c.req.Tool.Prompt,
		Depth: c.depth, Caller: c.req.Caller, Result: c.resultText,
	}
	c.reports.fillView(&v)
	if c.suspension.ticket != nil {
		waiting := c.suspension.ticket.WaitingTicket
		v.Waiting = &waiting
	}
	if !c.state.endedAt.IsZero() {
		endedAt := c.state.endedAt
		v.Ended = &endedAt
	}
	if err := c.state.err; err != nil {
		v.ErrorCode, v.Error = err.Code, err.Message
		if text := c.describeFailure().textForUser(); text != "" {
			v.Error = text
		}
	}
	return v
}

// fullView returns the call with its activities, its timeline and the number of the
// last event, for Find.
func (c *liveCall) fullView() View {
	activities := c.activities.Views()
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.viewLocked()
	v.Activities = activities
	v.Timeline = slices.Clone(c.timeline.moments)
	v.Seq = c.d.stream.LastSeq() // no event of the call is published while mu is locked
	return v
}
