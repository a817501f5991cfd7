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
func TestEveryCallFieldIsListed(t *testing.T) {
	projections := []struct {
		name         string
		toProjection func(dispatch.View) any
	}{
		{"view", func(v dispatch.View) any { return v }},
		{"panel", func(v dispatch.View) any { return removeTime(panelCall(v, "b1")) }},
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
			jsonBefore := encodeJSON(t, p.toProjection(v))
			field.SetZero()
			if encodeJSON(t, p.toProjection(v)) != jsonBefore {
				b.WriteString(" " + p.name)
			}
		}
		b.WriteString("\n")
	}
	goldentest.Compare(t, "testdata/fields.txt", []byte(b.String()))
}

// The path of a field in an embedded struct begins with the struct's name, as in Snapshot.CallID.
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

func removeTime(c wire.CallView) wire.CallView {
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

// The side panel receives the tab ID of the calling tool only if the tab is in the panel's own
// browser.
func TestPanelHidesTabsOfOtherBrowsers(t *testing.T) {
	v := dispatch.View{Waiting: &dispatch.WaitingTicket{
		Caller: &dispatch.Caller{Plugin: "tickets", Tool: "tickets__file", Browser: "b1", TabID: 7, Origin: "https://site.test"},
	}}
	want := wire.CallerView{Plugin: "tickets", Tool: "tickets__file", TabID: 7, Origin: "https://site.test"}
	if got := panelCall(v, "b1").Waiting.Caller; got == nil || *got != want {
		t.Errorf("caller in the panel of the call's browser = %+v, want %+v", got, want)
	}
	want.TabID = 0
	if got := panelCall(v, "b2").Waiting.Caller; got == nil || *got != want {
		t.Errorf("caller in the panel of another browser = %+v, want %+v", got, want)
	}
	v.Waiting.Caller = nil
	if got := panelCall(v, "b1").Waiting.Caller; got != nil {
		t.Errorf("caller in the panel for a call of a client = %+v, want none", got)
	}
}

// Agents must receive the status failed instead of timed out, because tool-call-progress.v1 has no status for a
// timeout.
func TestTimedOutCallIsFailedForAgents(t *testing.T) {
	v := dispatchtest.View()
	v.Status = wire.StatusTimedOut
	if got := panelCall(v, "b1").Status; got != wire.StatusTimedOut {
		t.Errorf("status in the panel = %q, want timed out", got)
	}
	if got := shape.CallForAudit(dispatch.EndedCall{View: v}).Status; got != wire.StatusTimedOut {
		t.Errorf("status in the audit log = %q, want timed out", got)
	}
	if got := shape.JobForAgent(joblist.View{View: v}).Status; got != wire.StatusFailed {
		t.Errorf("status for the agent = %q, want failed", got)
	}
}

func TestWaitingCallIsPendingInPanel(t *testing.T) {
	for _, callStatus := range []wire.CallStatus{"queued", "waiting for approval", "waiting for you"} {
		v := dispatchtest.View()
		v.Status = callStatus
		if got := panelCall(v, "b1").Status; got != wire.StatusPending {
			t.Errorf("call with the status %s: status in the panel = %q, want pending", callStatus, got)
		}
		if got := shape.JobForAgent(joblist.View{View: v}).Status; got != wire.StatusPending {
			t.Errorf("call with the status %s: status for the agent = %q, want pending", callStatus, got)
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
		// The call z ended after the list showed it as running, but before the call y, which the list shows as ended.
		{callListSource{{Snapshot: dispatch.Snapshot{CallID: "z"}}, endedView("y")}, "z; y"},
		{callListSource{endedView("y"), endedView("z")}, "; z"},
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
			t.Errorf("IDs of the calls in the side panel = %q, want %q", got, c.want)
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
		t.Errorf("the side panel received %d calls, the last %q, want 200 running calls and the waiting call", len(shownCalls), shownCalls[len(shownCalls)-1].CallID)
	}
}

type callListSource []dispatch.View

func (c callListSource) Calls() []dispatch.View { return c }

func (c callListSource) Find(string) (dispatch.View, bool) { return dispatch.View{}, false }
