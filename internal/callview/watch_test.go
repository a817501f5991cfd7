package callview

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"opentabs/internal/terminal/terminaltest"
)

type recordingDisplay struct{ calls []string }

func (r *recordingDisplay) begin(dispatch.View) error    { r.calls = append(r.calls, "begin"); return nil }
func (r *recordingDisplay) show(dispatch.View)           { r.calls = append(r.calls, "show") }
func (r *recordingDisplay) showMissedCount(int)          { r.calls = append(r.calls, "missed") }
func (r *recordingDisplay) redraw(time.Time)             {}
func (r *recordingDisplay) showEnd(*dispatch.View)       { r.calls = append(r.calls, "end") }
func (r *recordingDisplay) pauseDuration() time.Duration { return time.Second }

func (r *recordingDisplay) showEvent(e dispatch.Event, _ []byte) error {
	r.calls = append(r.calls, string(e.Kind))
	return nil
}

// TestWatchSkipsEventsOfFirstView checks that the watcher skips events that the first view of
// the call already includes.
func TestWatchSkipsEventsOfFirstView(t *testing.T) {
	display := &recordingDisplay{}
	w := watcher{display: display, lastView: &dispatch.View{}, viewSeq: 5}
	for seq := range uint64(8) {
		hasEnded, err := w.handleItem(t.Context(), streamItem{event: &dispatch.Event{Seq: seq, Kind: dispatch.EventProgress}})
		if hasEnded || err != nil {
			t.Fatalf("event %d: ended = %t, error %v; want false and no error", seq, hasEnded, err)
		}
		if w.isStale != (seq > 5) {
			t.Errorf("after event %d, stale = %v; want true only after event 5", seq, w.isStale)
		}
	}
	if got := strings.Join(display.calls, " "); got != "progress progress" {
		t.Errorf("events that the display received = %q; want %q", got, "progress progress")
	}
	w.isStale = false
	if _, err := w.handleItem(t.Context(), streamItem{missedCount: 3}); err != nil || !w.isStale {
		t.Errorf("after lost events: stale = %t, error %v; want true and no error", w.isStale, err)
	}
}

func TestLiveCallKeepsFinalOutput(t *testing.T) {
	v := &terminaltest.Screen{Columns: 60, Rows: 20}
	terminalOut := terminal.NewTerminal(v, func() (int, int) { return v.Columns, v.Rows })
	l := newLiveCall(terminalOut, false)
	callView := runningView()
	if err := l.begin(callView); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(v.String(), "\n"); n >= v.Rows {
		t.Errorf("the live view has %d line feeds; want fewer than the %d rows of the screen", n, v.Rows)
	}
	bytesWrittenBefore := v.WrittenBytes
	l.redraw(l.viewReadTime.Add(50 * time.Millisecond))
	if n := v.WrittenBytes - bytesWrittenBefore; n > 200 {
		t.Errorf("redraw without a change wrote %d bytes; want at most 200", n)
	}
	l.showEnd(&callView)
	for _, want := range []string{"\n  line 0\n", "\n  line 99\n", "\n    0\n", "\n   99\n"} {
		if !strings.Contains(v.String()+"\n", want) {
			t.Errorf("the final output lacks %q", want)
		}
	}
	if strings.Count(v.String(), "call       call_1") != 1 {
		t.Errorf("the final output contains the call %d times; want once:\n%s", strings.Count(v.String(), "call       call_1"), v)
	}
}

// TestPlainCallPrintsChanges checks that a changed activity is printed from its first
// changed line on.
func TestPlainCallPrintsChanges(t *testing.T) {
	var b bytes.Buffer
	p := &plainTextCall{terminalOut: terminal.New(&b, &b, func(string) string { return "" }), printedLines: map[string][]string{}}
	for _, step := range []struct{ wantLine, want string }{
		{"one", "activity text\n  one\n"},
		{"one\ntwo", "activity text, more\n  two\n"},
		{"one\ntwo", ""},
		{"one\n2\nthree", "activity text, changed from line 2\n  2\n  three\n"},
		{"one", "activity text, changed from line 2\n"},
		{"new", "activity text, changed from line 1\n  new\n"},
	} {
		content, err := json.Marshal(step.wantLine)
		if err != nil {
			t.Fatal(err)
		}
		b.Reset()
		p.show(dispatch.View{Activities: []dispatch.ActivityView{{Type: "text", Content: content, Audience: "user"}, {Type: "json", Content: content}}})
		if b.String() != step.want {
			t.Errorf("activity text %q: printed %q, want %q", step.wantLine, b.String(), step.want)
		}
	}
	event := dispatch.Event{Kind: dispatch.EventProgress}
	b.Reset()
	if err := p.showEvent(event, nil); err != nil || b.Len() > 0 {
		t.Errorf("progress report that is not for the user: printed %q, error %v; want nothing", b.String(), err)
	}
	now := time.Now()
	p.showEnd(&dispatch.View{Snapshot: dispatch.Snapshot{Progression: dispatch.Progression{Status: "done"}}, Ended: &now})
	if b.String() != "status     done after 0 s, 0 reports\n" {
		t.Errorf("end of a call whose last event was lost: printed %q; want %q", b.String(), "status     done after 0 s, 0 reports\n")
	}
	p.verbose = true
	if err := p.showEvent(event, nil); err != nil || !strings.HasSuffix(b.String(), "  progress\n") {
		t.Errorf("progress report with --verbose: printed %q, error %v; want a line that ends with \"progress\"", b.String(), err)
	}
}
