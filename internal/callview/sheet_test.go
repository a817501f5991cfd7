package callview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

func runningView() dispatch.View {
	halfProgress, totalProgress := 0.5, 100.0
	var argumentLines []string
	var rows []map[string]int
	for i := range 100 {
		argumentLines = append(argumentLines, fmt.Sprint("line ", i))
		rows = append(rows, map[string]int{"row": i})
	}
	content := func(v any) json.RawMessage {
		rawJSON, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return rawJSON
	}
	return dispatch.View{
		Snapshot: dispatch.Snapshot{
			CallID: "call_1", ToolName: "a__b",
			Progression: dispatch.Progression{Status: wire.StatusRunning, Progress: &halfProgress, Total: &totalProgress, Message: "of no interest"},
		},
		RunMs: 2000, ReportCount: 3, UserMessage: "for you",
		Activities: []dispatch.ActivityView{
			{Type: "text", Content: content(strings.Join(argumentLines, "\n")), Audience: "user"},
			{Type: "table", Content: content(rows), Audience: "user"},
			{Type: "json", Content: content(1)},
		},
	}
}

func TestCallDetailsFitScreen(t *testing.T) {
	now := time.Now()
	s := callDetails{view: runningView(), columns: 80, glyphSet: terminal.ASCIIGlyphs, now: now.Add(time.Second), viewReadTime: now}
	lines := s.renderLines(24)
	joinedLines := strings.Join(lines, "\n")
	if len(lines) > 24 {
		t.Errorf("call details have %d lines; want at most the 24 lines of the screen:\n%s", len(lines), joinedLines)
	}
	for _, want := range []string{
		"status     running for 3.0 s, 3 reports", "\n  line 99\n", "lines above\n", "activity table\n  row\n    0\n", "more lines",
	} {
		if !strings.Contains(joinedLines, strings.ReplaceAll(want, "more lines", "more")) {
			t.Errorf("call details do not contain %q:\n%s", want, joinedLines)
		}
	}
	if allLines := s.renderLines(0); len(allLines) < 200 {
		t.Errorf("complete call details have %d lines; want at least 200", len(allLines))
	}
}

func TestCallDetailsHideInternalActivities(t *testing.T) {
	now := time.Now()
	for _, columns := range []int{0, 80} {
		s := callDetails{view: runningView(), columns: columns, glyphSet: terminal.ASCIIGlyphs, now: now, viewReadTime: now}
		joinedLines := strings.Join(s.renderLines(0), "\n")
		if strings.Contains(joinedLines, "of no interest") || strings.Contains(joinedLines, "activity json") {
			t.Errorf("call details without --verbose contain an internal activity; want none:\n%s", joinedLines)
		}
		if !strings.Contains(joinedLines, "50%") || !strings.Contains(joinedLines, "for you") || !strings.Contains(joinedLines, "1 activity is not for the user") {
			t.Errorf("call details without --verbose lack the progress 50%%, the text for the user or the note about hidden activities:\n%s", joinedLines)
		}
		s.verbose = true
		joinedLines = strings.Join(s.renderLines(0), "\n")
		for _, want := range []string{"of no interest", "50%", "activity json (not for the user)"} {
			if !strings.Contains(joinedLines, want) {
				t.Errorf("call details with --verbose do not contain %q:\n%s", want, joinedLines)
			}
		}
	}
}

func TestNestedCallsFollowParent(t *testing.T) {
	now := time.Now()
	view := func(id, parentCallID string, seconds int) dispatch.View {
		return dispatch.View{
			Snapshot: dispatch.Snapshot{CallID: id, ParentCallID: parentCallID, ToolName: id},
			Created:  now.Add(time.Duration(seconds) * time.Second),
		}
	}
	// The server lists running calls before ended calls, and both from newest to oldest.
	calls := []dispatch.View{view("a", "", 0), view("a2", "a", 3), view("b", "", 1), view("x", "gone", 9), view("a1x", "a1", 2), view("a1", "a", 1)}
	var got []string
	for _, tableRow := range Rows(calls, false, now)[1:] {
		got = append(got, tableRow[1])
	}
	if want := "a|  a1|    a1x|  a2|b|x"; strings.Join(got, "|") != want {
		t.Errorf("tool names in the table = %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestShortenCells(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local)
	for columns, want := range map[int]string{
		80:  "09:05|call_x6axhe37|failed 11-20 09:05|call_a|waiting for approval",
		120: "2026-11-28 09:05:01|call_x6axhe37hbgwg7pggqeuutzrbm|failed (tool_error) 2026-11-20 09:05:01|call_a|waiting for approval",
	} {
		tableRows := [][]string{
			{"TIME", "CALL", "STATUS"},
			{"2026-11-28 09:05:01", "call_x6axhe37hbgwg7pggqeuutzrbm", "failed (tool_error)"},
			{"2026-11-20 09:05:01", "call_a", "waiting for approval"},
		}
		ShortenCells(tableRows, columns, now)
		if got := strings.Join(tableRows[1], "|") + " " + strings.Join(tableRows[2], "|"); got != want || tableRows[0][2] != "STATUS" {
			t.Errorf("on a terminal with %d columns the rows are %q, want %q", columns, got, want)
		}
	}
}

func TestEventTextForUser(t *testing.T) {
	agentProgress, userProgress := 0.9, 0.1
	e := dispatch.Event{
		Kind: dispatch.EventProgress, Audience: "user", Report: &wire.Report{Message: "hello"},
		Call: dispatch.View{Snapshot: dispatch.Snapshot{Progression: dispatch.Progression{Progress: &agentProgress}}, UserProgress: &userProgress},
	}
	if got := EventText(e, false); got != "progress  90%  hello" { // EventText shows the field Progress, not UserProgress
		t.Errorf("text of an event for the user = %q; want %q", got, "progress  90%  hello")
	}
	e.Audience = ""
	if got := EventText(e, false); got != "progress  90%  hello" {
		t.Errorf("text of an event for all audiences = %q; want %q", got, "progress  90%  hello")
	}
}

// TestStatusLineIncludesWaitTime checks that the status of an ended call has its whole time and
// the time in which it waited for approval.
func TestStatusLineIncludesWaitTime(t *testing.T) {
	arrivalTime := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	endedTime := arrivalTime.Add(1400 * time.Millisecond)
	var v dispatch.View
	v.CallID, v.Status, v.Created, v.Ended, v.RunMs = "call_1", wire.StatusDone, arrivalTime, &endedTime, 12
	v.Timeline = []dispatch.TimelineEntry{
		{Time: arrivalTime, Kind: dispatch.EventSuspended}, {Time: arrivalTime.Add(1300 * time.Millisecond), Kind: dispatch.EventResumed},
		{Time: arrivalTime.Add(1350 * time.Millisecond), Kind: dispatch.EventRunning}, {Time: endedTime, Kind: dispatch.EventEnded},
	}
	if got, want := (callDetails{view: v, now: endedTime}).statusLine(), "done after 1.4 s, of which 1.3 s waiting for approval, 0 reports"; got != want {
		t.Errorf("status line = %q, want %q", got, want)
	}
	if got := runTimeText(v); got != "12 ms" {
		t.Errorf("run time = %q, want 12 ms", got)
	}
	v.Status, v.ErrorCode, v.RunMs = wire.StatusFailed, wire.ErrDenied, 0
	if got := endText(v); got != "failed (denied) after 1.4 s" || runTimeText(v) != "" {
		t.Errorf("denied call: end %q, run time %q; want \"failed (denied) after 1.4 s\" and no run time", got, runTimeText(v))
	}
}
