package callview

import (
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/terminal"
)

func TestTimingLines(t *testing.T) {
	startTime := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	endedTime := startTime.Add(40 * time.Second)
	v := dispatch.View{Plugin: "messages", Tool: "export", Created: startTime, Ended: &endedTime}
	v.CallID, v.ToolName, v.Status = "call_1", "messages__export", "done"
	v.Timeline = []dispatch.TimelineEntry{
		{Kind: dispatch.EventCreated, Time: startTime}, {Kind: dispatch.EventSuspended, Time: startTime.Add(time.Millisecond)},
		{Kind: dispatch.EventResumed, Time: startTime.Add(20 * time.Second)}, {Kind: dispatch.EventRunning, Time: startTime.Add(20 * time.Second)},
		{Kind: dispatch.EventEnded, Time: endedTime},
	}
	want := []string{
		"call_1  messages__export  done after 40 s",
		"  queue               0.0 ms     1.0 ms  #",
		"  approval            1.0 ms       20 s  ###################",
		"  running               20 s       20 s                     ###################",
		"  No trace: calls in quick succession are not traced, so only the waits and the run are known.",
	}
	if got := timingLines(v, endedTime, 80, terminal.ASCIIGlyphs); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the timing lines in a terminal are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	v.Trace = &hops.View{TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", Start: startTime, Hops: []hops.Hop{{Stage: "guard", Us: 500}, {Stage: "gates", StartUs: 500, Us: 20e6}, {Stage: "handler", StartUs: 20.0005e6, Us: 2e6}}}
	want = []string{
		"call_1  messages__export  done after 22 s",
		"  request             0.0 ms     0.5 ms",
		"  gates               0.5 ms     0.5 ms",
		"  approval            1.0 ms       20 s",
		"  gates                 20 s     0.5 ms",
		"  handler               20 s        2 s",
		"  Trace ID of the client: 4bf92f3577b34da6a3ce929d0e0e4736",
	}
	if got := timingLines(v, endedTime, 0, terminal.ASCIIGlyphs); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the timing lines in a pipe are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
