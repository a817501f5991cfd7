package waterfall_test

import (
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/waterfall"
)

var arrivalTime = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return arrivalTime.Add(d) }

func newView(timelineEntries ...dispatch.TimelineEntry) *dispatch.View {
	v := &dispatch.View{Created: arrivalTime, Timeline: timelineEntries}
	if lastEntry := timelineEntries[len(timelineEntries)-1]; lastEntry.Kind == dispatch.EventEnded {
		v.Ended = &lastEntry.Time
	}
	return v
}

func newTimelineEntry(kind dispatch.EventKind, d time.Duration) dispatch.TimelineEntry {
	return dispatch.TimelineEntry{Kind: kind, Time: at(d)}
}

func newTrace(hopList ...hops.Hop) *hops.View {
	return &hops.View{Start: at(-2 * time.Millisecond), Hops: hopList}
}

func checkPhases(t *testing.T, v *dispatch.View, now time.Time, want ...string) {
	t.Helper()
	var got []string
	var endDelay time.Duration
	for _, p := range waterfall.Phases(v, now) {
		got = append(got, p.Name+" "+p.Start.String()+" "+p.Duration.String())
		if p.Start < endDelay-time.Microsecond || p.Duration < 0 {
			t.Errorf("phase %+v overlaps the previous phase, which ends at %v; want no overlap", p, endDelay)
		}
		endDelay = p.End()
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("phases of the call:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPhases(t *testing.T) {
	s := time.Second
	t.Run("a call that waited for approval", func(t *testing.T) {
		v := newView(newTimelineEntry(dispatch.EventCreated, 0), newTimelineEntry(dispatch.EventSuspended, s), newTimelineEntry(dispatch.EventResumed, 5*s),
			newTimelineEntry(dispatch.EventRunning, 6*s), newTimelineEntry(dispatch.EventEnded, 10*s))
		checkPhases(t, v, at(20*s), "queue 0s 1s", "approval 1s 4s", "queue 5s 1s", "running 6s 4s")
	})
	t.Run("waits for the user while it runs", func(t *testing.T) {
		v := newView(newTimelineEntry(dispatch.EventCreated, 0), newTimelineEntry(dispatch.EventRunning, s), newTimelineEntry(dispatch.EventSuspended, 2*s),
			newTimelineEntry(dispatch.EventRunning, 5*s), newTimelineEntry(dispatch.EventEnded, 6*s))
		checkPhases(t, v, at(20*s), "queue 0s 1s", "running 1s 1s", "waiting for you 2s 3s", "running 5s 1s")
	})
	t.Run("still waits for approval", func(t *testing.T) {
		v := newView(newTimelineEntry(dispatch.EventCreated, 0), newTimelineEntry(dispatch.EventSuspended, s))
		checkPhases(t, v, at(3*s), "queue 0s 1s", "approval 1s 2s")
	})
	t.Run("a call that a gate blocked", func(t *testing.T) {
		v := newView(newTimelineEntry(dispatch.EventCreated, 0), newTimelineEntry(dispatch.EventEnded, s))
		checkPhases(t, v, at(3*s), "queue 0s 1s")
	})
}

func TestPhasesFromTrace(t *testing.T) {
	ms := time.Millisecond
	gateHops := []hops.Hop{
		{Stage: "guard", StartUs: 0, Us: 1000}, {Stage: "check", StartUs: 1000, Us: 1000}, {Stage: "gates", StartUs: 2000, Us: 6000},
	}
	hopsUntilHub := append(gateHops[:3:3],
		hops.Hop{Stage: "queue", StartUs: 8000, Us: 1000}, hops.Hop{Stage: "target", StartUs: 9000, Us: 1000}, hops.Hop{Stage: "hub", StartUs: 10000, Us: 1000})
	approvalTimeline := []dispatch.TimelineEntry{
		newTimelineEntry(dispatch.EventCreated, 0), newTimelineEntry(dispatch.EventSuspended, ms), newTimelineEntry(dispatch.EventResumed, 5*ms), newTimelineEntry(dispatch.EventRunning, 7*ms),
	}
	phasesBeforeHub := []string{"request 0s 2ms", "gates 2ms 1ms", "approval 3ms 4ms", "gates 7ms 1ms", "queue 8ms 1ms", "target 9ms 1ms"}

	t.Run("the page sent a result", func(t *testing.T) {
		v := newView(append(approvalTimeline, newTimelineEntry(dispatch.EventEnded, 40*ms))...)
		v.Trace = newTrace(append(hopsUntilHub, hops.Hop{Stage: "websocket", StartUs: 11000, Us: 1000}, hops.Hop{Stage: "worker", StartUs: 12000, Us: 1000},
			hops.Hop{Stage: "port", StartUs: 13000, Us: 1000}, hops.Hop{Stage: "host", StartUs: 14000, Us: 1000}, hops.Hop{Stage: "handler", StartUs: 15000, Us: 20000},
			hops.Hop{Stage: "port", StartUs: 35000, Us: 1000}, hops.Hop{Stage: "reply", StartUs: 36000, Us: 1000})...)
		checkPhases(t, v, at(time.Second), append(phasesBeforeHub, "link 10ms 2ms", "worker 12ms 1ms", "page 13ms 2ms", "handler 15ms 20ms", "return 35ms 2ms")...)
	})
	t.Run("the page sent no result", func(t *testing.T) {
		v := newView(append(approvalTimeline, newTimelineEntry(dispatch.EventEnded, 30*time.Second))...)
		v.Trace = newTrace(append(hopsUntilHub, hops.Hop{Stage: "reply", StartUs: 11000, Us: 29.991e6})...)
		checkPhases(t, v, at(time.Minute), append(phasesBeforeHub, "link 10ms 1ms", "browser 11ms 29.991s")...)
	})
	t.Run("a call that is still running", func(t *testing.T) {
		v := newView(approvalTimeline...)
		v.Trace = newTrace(hopsUntilHub...)
		checkPhases(t, v, at(18*ms), append(phasesBeforeHub, "link 10ms 1ms", "browser 11ms 9ms")...)
	})
	t.Run("a call that the user denied", func(t *testing.T) {
		v := newView(approvalTimeline[0], approvalTimeline[1], newTimelineEntry(dispatch.EventResumed, 5*ms), newTimelineEntry(dispatch.EventEnded, 5*ms))
		v.Trace = newTrace(append(gateHops[:2:2], hops.Hop{Stage: "reply", StartUs: 2000, Us: 5000})...)
		checkPhases(t, v, at(time.Minute), "request 0s 2ms", "gates 2ms 1ms", "approval 3ms 4ms")
	})
	t.Run("a call of a browser tool", func(t *testing.T) {
		v := newView(approvalTimeline[0], newTimelineEntry(dispatch.EventRunning, ms), newTimelineEntry(dispatch.EventEnded, 9*ms))
		v.Trace = newTrace(gateHops[0], gateHops[1], hops.Hop{Stage: "browser", StartUs: 2000, Us: 8000}, hops.Hop{Stage: "hub", StartUs: 10000, Us: 1000})
		checkPhases(t, v, at(time.Minute), "request 0s 2ms", "browser 2ms 8ms", "return 10ms 1ms")
	})
}
