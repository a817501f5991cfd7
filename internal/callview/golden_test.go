package callview

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/internal/goldentest"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

// TestMain sets the local time zone to UTC, so that the golden files are the same on all
// computers.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	m.Run()
}

func TestCallTerminalOutput(t *testing.T) {
	now := dispatchtest.ArrivalTime.Add(10 * time.Second)
	waitingView, endedView := dispatchtest.View(), dispatchtest.View()
	waitingView.Status, waitingView.ErrorCode = "waiting for approval", ""
	endedView.CallID, endedView.Waiting, endedView.Status = "call_2", nil, wire.StatusFailed
	var b bytes.Buffer
	timedOutCall := dispatch.View{RunMs: 30_000, ErrorCode: wire.ErrIdleTimeout, Error: "no progress and no result for 30 s", Ended: &now}
	timedOutCall.CallID, timedOutCall.ToolName, timedOutCall.Status = "call_3", "messages__export", wire.StatusTimedOut
	for _, v := range []dispatch.View{waitingView, endedView, timedOutCall, {}} {
		for _, verbose := range []bool{false, true} {
			fmt.Fprintf(&b, "sheet, verbose: %v\n", verbose)
			s := callDetails{view: v, verbose: verbose, glyphSet: terminal.ASCIIGlyphs, now: now, viewReadTime: now}
			b.WriteString(strings.Join(s.renderLines(0), "\n") + "\n\n")
			for _, tableRow := range Rows([]dispatch.View{v}, verbose, now) {
				b.WriteString(strings.Join(tableRow, " | ") + "\n")
			}
			b.WriteString("\n")
		}
	}
	for _, kind := range []dispatch.EventKind{
		dispatch.EventCreated, dispatch.EventSuspended, dispatch.EventResumed, dispatch.EventRunning,
		dispatch.EventProgress, dispatch.EventActivity, dispatch.EventEnded, dispatch.EventStopped,
	} {
		e := dispatch.Event{Kind: kind, Time: now, Call: waitingView, Resolution: dispatchtest.Resolution()}
		b.WriteString(EventLine(e, true) + "\n")
	}
	b.WriteString(EventLine(dispatch.Event{Kind: dispatch.EventEnded, Time: now, Call: timedOutCall}, false) + "\n")
	goldentest.Compare(t, "testdata/calls.txt", b.Bytes())
}
