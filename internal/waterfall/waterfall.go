// Package waterfall divides the duration of a call into phases that a user understands: gates, approval, queue,
// transport to the page, handler, and transport back.
//
// Every call has a timeline, which contains the waits for the user, the start and the end of the call. Most calls have
// a trace, which contains the time that the call spent at each station between client and page.
package waterfall

import (
	"cmp"
	"slices"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/wire"
)

// These constants are the names of the phases of a call.
const (
	phaseRequest  = "request"
	phaseGates    = "gates"
	phaseTarget   = "target"
	phaseApproval = "approval"
	phaseUser     = "waiting for you"
	phaseQueue    = "queue"
	phaseRunning  = "running"
	phaseLink     = "link"
	phaseBrowser  = "browser"
	phaseHandler  = "handler"
	phaseReturn   = "return"
)

// Phase is a part of a call's duration, such as "queue". Start is the time from the
// arrival of the call to the start of the phase.
type Phase struct {
	Name            string
	Start, Duration time.Duration
}

// End returns the time from the arrival of the call to the end of the phase.
func (p Phase) End() time.Duration { return p.Start + p.Duration }

// Start returns the time at which the server received the request for the call.
func Start(v *dispatch.View) time.Time {
	if v.Trace != nil && v.Trace.Start.Before(v.Created) {
		return v.Trace.Start
	}
	return v.Created
}

// Phases returns the phases of a call in chronological order, without overlaps. The last phase of a call that has not
// ended ends at the time in the argument now. The snapshot v of the call must contain the call's timeline, and its
// trace if the call was traced.
func Phases(v *dispatch.View, now time.Time) []Phase {
	startTime := Start(v)
	endTime := now
	if v.Ended != nil {
		endTime = *v.Ended
	}
	waits := phasesFromTimeline(v, startTime, endTime)
	phases := timelinePhases(v, startTime, endTime)
	if v.Trace != nil {
		phases = phasesFromTrace(v.Trace, startTime, endTime)
	}
	var allPhases []Phase
	for _, p := range phases {
		allPhases = append(allPhases, removeWaitPhases(p, waits)...)
	}
	allPhases = append(allPhases, waits...)
	slices.SortStableFunc(allPhases, func(a, b Phase) int { return cmp.Compare(a.Start, b.Start) })
	return mergeAdjacentPhases(allPhases)
}

// WaitTime returns how long a call waited for approval, and how long its tool waited for the user.
// The snapshot v of the call must contain the call's timeline.
func WaitTime(v *dispatch.View, now time.Time) (approvalWait, userWaitTime time.Duration) {
	endTime := now
	if v.Ended != nil {
		endTime = *v.Ended
	}
	for _, wait := range phasesFromTimeline(v, Start(v), endTime) {
		if wait.Name == phaseApproval {
			approvalWait += wait.Duration
		} else {
			userWaitTime += wait.Duration
		}
	}
	return approvalWait, userWaitTime
}

func phasesFromTimeline(v *dispatch.View, startTime, endTime time.Time) []Phase {
	var waits []Phase
	var name string
	var since time.Time
	finish := func(at time.Time) {
		if !since.IsZero() {
			waits = append(waits, Phase{name, since.Sub(startTime), at.Sub(since)})
		}
		since = time.Time{}
	}
	isRunStarted := false
	for _, m := range v.Timeline {
		switch m.Kind {
		case dispatch.EventSuspended:
			finish(m.Time)
			name, since = phaseApproval, m.Time
			if isRunStarted {
				name = phaseUser
			}
		case dispatch.EventRunning:
			finish(m.Time)
			isRunStarted = true
		case dispatch.EventResumed, dispatch.EventEnded:
			finish(m.Time)
		}
	}
	if v.Waiting != nil && v.Waiting.Kind == wire.TicketUser {
		name = phaseUser
	}
	finish(endTime)
	return waits
}

func timelinePhases(v *dispatch.View, startTime, endTime time.Time) []Phase {
	for _, m := range v.Timeline {
		if m.Kind == dispatch.EventRunning {
			runStartOffset := m.Time.Sub(startTime)
			return []Phase{{phaseQueue, 0, runStartOffset}, {phaseRunning, runStartOffset, endTime.Sub(m.Time)}}
		}
	}
	return []Phase{{phaseQueue, 0, endTime.Sub(startTime)}}
}

var phaseOfStation = map[string]string{
	"guard": phaseRequest, "parse": phaseRequest, "check": phaseRequest,
	"gates": phaseGates, "queue": phaseQueue, "target": phaseTarget,
	"hub": phaseLink, "websocket": phaseLink, "worker": "worker",
	"port": "page", "bridge": "page", "host": "page", "schema": "page",
	"handler": phaseHandler, "browser": phaseBrowser,
}

// The call's time after the end of its trace belongs to the phase that follows the last traced phase.
var nextPhase = map[string]string{
	"": phaseRequest, phaseRequest: phaseGates, phaseGates: phaseQueue, phaseQueue: phaseTarget, phaseTarget: phaseTarget, phaseLink: phaseBrowser,
}

// If the browser sent no result, the call has no phase "return".
func phasesFromTrace(trace *hops.View, startTime, endTime time.Time) []Phase {
	offset := trace.Start.Sub(startTime)
	var phases []Phase
	lastHopName, isReturning := "", false
	for _, hop := range trace.Hops {
		name := phaseOfStation[hop.Stage]
		switch {
		case isReturning:
			name = phaseReturn
		case name == "":
			name = nextPhase[lastHopName]
		}
		phases = append(phases, Phase{name, offset + fromMicroseconds(hop.StartUs), fromMicroseconds(hop.Us)})
		lastHopName = name
		isReturning = isReturning || name == phaseHandler || hop.Stage == "browser"
	}
	if n := len(phases); !isReturning && (n == 0 || phases[n-1].End() < endTime.Sub(startTime)) {
		at := offset
		if n > 0 {
			at = phases[n-1].End()
		}
		phases = append(phases, Phase{cmp.Or(nextPhase[lastHopName], lastHopName), at, endTime.Sub(startTime) - at})
	}
	return phases
}

func fromMicroseconds(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }

// The argument waits of removeWaitPhases must be in chronological order, without overlaps.
func removeWaitPhases(p Phase, waits []Phase) []Phase {
	var phases []Phase
	at := p.Start
	for _, w := range waits {
		if w.End() <= at || w.Start >= p.End() {
			continue
		}
		if w.Start > at {
			phases = append(phases, Phase{p.Name, at, w.Start - at})
		}
		at = w.End()
	}
	if at < p.End() || at == p.Start && p.Duration == 0 {
		phases = append(phases, Phase{p.Name, at, p.End() - at})
	}
	return phases
}

func mergeAdjacentPhases(phases []Phase) []Phase {
	var mergedPhases []Phase
	for _, p := range phases {
		if lastIndex := len(mergedPhases) - 1; lastIndex >= 0 && mergedPhases[lastIndex].Name == p.Name {
			mergedPhases[lastIndex].Duration = max(mergedPhases[lastIndex].Duration, p.End()-mergedPhases[lastIndex].Start)
			continue
		}
		mergedPhases = append(mergedPhases, p)
	}
	return mergedPhases
}
