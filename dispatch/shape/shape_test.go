package shape_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/dispatch/shape"
	"opentabs/internal/audit"
	"opentabs/internal/goldentest"
	"opentabs/wire"
)

// If a new field of a call is not listed in testdata/fields.txt, the test fails, so that the author decides which
// surfaces show the field.
func TestFieldsOfProjections(t *testing.T) {
	projections := []struct {
		name    string
		project func(dispatch.View) any
	}{
		{"view", func(v dispatch.View) any { return v }},
		{"panel", func(v dispatch.View) any { return withoutTime(panelCall(v, "b1")) }},
		{"job", func(v dispatch.View) any { return shape.JobForAgent(joblist.View{View: v}) }},
		{"audit", func(v dispatch.View) any { return audit.RecordOfCall(dispatch.EndedCall{View: v}) }},
	}
	var b strings.Builder
	for _, path := range fieldPaths(reflect.TypeFor[dispatch.View](), "") {
		fmt.Fprintf(&b, "%-20s", path[strings.LastIndex(path, ".")+1:])
		for _, p := range projections {
			v := dispatchtest.View()
			field := reflect.ValueOf(&v).Elem()
			for name := range strings.SplitSeq(path, ".") {
				field = field.FieldByName(name)
			}
			jsonBefore := encodeJSON(t, p.project(v))
			field.SetZero()
			if encodeJSON(t, p.project(v)) != jsonBefore {
				b.WriteString(" " + p.name)
			}
		}
		b.WriteString("\n")
	}
	goldentest.Compare(t, "testdata/fields.txt", []byte(b.String()))
}

// A field of an embedded struct has a path such as Snapshot.CallID.
func fieldPaths(t reflect.Type, prefix string) []string {
	var paths []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			paths = append(paths, fieldPaths(f.Type, prefix+f.Name+".")...)
			continue
		}
		paths = append(paths, prefix+f.Name)
	}
	return paths
}

func withoutTime(c wire.CallView) wire.CallView {
	if c.Waiting != nil {
		c.Waiting.LeftMs = 0
	}
	return c
}

func encodeJSON(t *testing.T, v any) string {
	t.Helper()
	encodedJSON, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encodedJSON)
}

// The tab of the calling tool is omitted if the tab is in another browser.
func TestPanelCaller(t *testing.T) {
	v := dispatch.View{Waiting: &dispatch.WaitingTicket{
		Caller: &dispatch.Caller{Plugin: "tickets", Tool: "tickets__file", Browser: "b1", TabID: 7, Origin: "https://site.test"},
	}}
	want := wire.CallerView{Plugin: "tickets", Tool: "tickets__file", TabID: 7, Origin: "https://site.test"}
	if got := panelCall(v, "b1").Waiting.Caller; got == nil || *got != want {
		t.Errorf("the panel of the call's browser gets %+v", got)
	}
	want.TabID = 0
	if got := panelCall(v, "b2").Waiting.Caller; got == nil || *got != want {
		t.Errorf("the panel of another browser gets %+v", got)
	}
	v.Waiting.Caller = nil
	if got := panelCall(v, "b1").Waiting.Caller; got != nil {
		t.Errorf("the panel gets %+v for a call of a client", got)
	}
}

// Agents must receive the status failed instead of timed out, because tool-call-progress.v1 has no status for a
// timeout.
func TestTimedOutCall(t *testing.T) {
	v := dispatchtest.View()
	v.Status = wire.StatusTimedOut
	if got := panelCall(v, "b1").Status; got != wire.StatusTimedOut {
		t.Errorf("the panel shows %q", got)
	}
	if got := shape.CallForAudit(dispatch.EndedCall{View: v}).Status; got != wire.StatusTimedOut {
		t.Errorf("the audit has %q", got)
	}
	if got := shape.JobForAgent(joblist.View{View: v}).Status; got != wire.StatusFailed {
		t.Errorf("the agent gets %q", got)
	}
}

func TestWaitingCall(t *testing.T) {
	for _, callStatus := range []wire.CallStatus{"queued", "waiting for approval", "waiting for you"} {
		v := dispatchtest.View()
		v.Status = callStatus
		if got := panelCall(v, "b1").Status; got != wire.StatusPending {
			t.Errorf("%s: the panel gets %q", callStatus, got)
		}
		if got := shape.JobForAgent(joblist.View{View: v}).Status; got != wire.StatusPending {
			t.Errorf("%s: the agent gets %q", callStatus, got)
		}
	}
}

type singleCallSource struct{ view dispatch.View }

func (c singleCallSource) Calls() []dispatch.View { return []dispatch.View{c.view} }

func (c singleCallSource) Find(string) (dispatch.View, bool) { return c.view, true }

func panelCall(v dispatch.View, browserID string) wire.CallView {
	panelCalls := shape.PanelCalls{BrowserID: browserID}
	params := panelCalls.Next(singleCallSource{v})
	return append(params.Calls, params.Ended...)[0]
}

func TestEndedCallsAreSentOnce(t *testing.T) {
	now := time.Now()
	endedView := func(id string) dispatch.View {
		return dispatch.View{Snapshot: dispatch.Snapshot{CallID: id}, Ended: &now}
	}
	runningView := dispatch.View{Snapshot: dispatch.Snapshot{CallID: "running"}}
	panelCalls := shape.PanelCalls{}
	for _, c := range []struct {
		calls callListSource
		want  string
	}{
		{callListSource{runningView}, "running;"},
		{callListSource{runningView, endedView("b"), endedView("a")}, "running; b a"},
		{callListSource{runningView, endedView("b"), endedView("a")}, "running;"},
		{callListSource{endedView("d"), endedView("c"), endedView("b"), endedView("a")}, "; d c"},
		{callListSource{endedView("f"), endedView("e")}, "; f e"},
		{callListSource{}, ";"},
		{callListSource{endedView("f")}, ";"},
	} {
		params := panelCalls.Next(c.calls)
		got := ""
		for _, v := range params.Calls {
			got += v.CallID
		}
		got += ";"
		for _, v := range params.Ended {
			got += " " + v.CallID
		}
		if got != c.want || params.Running != len(params.Calls) {
			t.Errorf("the side panel gets %q, want %q", got, c.want)
		}
	}
}

func TestWaitingCallsAreAlwaysShown(t *testing.T) {
	var calls callListSource
	for i := range 500 {
		calls = append(calls, dispatch.View{Snapshot: dispatch.Snapshot{CallID: fmt.Sprint(i)}})
	}
	waitingView := dispatch.View{Snapshot: dispatch.Snapshot{CallID: "waiting"}, Waiting: &dispatch.WaitingTicket{TicketID: "ticket"}}
	calls = append(calls, waitingView)
	panelCalls := shape.PanelCalls{}
	shownCalls := panelCalls.Next(calls).Calls
	if len(shownCalls) != 201 || shownCalls[200].CallID != "waiting" {
		t.Errorf("the side panel gets %d calls, last %q, want 200 running calls and the waiting call", len(shownCalls), shownCalls[len(shownCalls)-1].CallID)
	}
}

type callListSource []dispatch.View

func (c callListSource) Calls() []dispatch.View { return c }

func (c callListSource) Find(string) (dispatch.View, bool) { return dispatch.View{}, false }
