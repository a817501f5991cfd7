package dispatch

import (
	"slices"
	"time"
)

// maxMoments is how many moments of one call are kept: the first, and the last
// of the others.
const maxMoments = 64

// Moment is one step of a call's way: each event that is no report.
type Moment struct {
	Time time.Time `json:"time"`
	Kind EventKind `json:"kind"`
	// Reason is what the call waits for from here on, for EventSuspended.
	Reason string `json:"reason,omitempty"`
	// Resolution is what a person decided, for EventResumed.
	Resolution *Resolution `json:"resolution,omitempty"`
}

// note keeps a moment. The caller holds mu.
func (c *liveCall) note(kind EventKind, r *Resolution) {
	m := Moment{Time: time.Now(), Kind: kind, Resolution: r}
	if kind == EventSuspended && c.ticket != nil {
		m.Reason = c.ticket.Reason
	}
	if len(c.moments) == maxMoments {
		c.moments = slices.Delete(c.moments, 1, 2)
	}
	c.moments = append(c.moments, m)
}

// whole is the call's view with all that only Find tells.
func (c *liveCall) whole() View {
	activities := c.activities.views()
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.viewLocked()
	v.Activities = activities
	v.Timeline = slices.Clone(c.moments)
	// No event of this call is published meanwhile.
	v.Seq = c.d.stream.last()
	return v
}
