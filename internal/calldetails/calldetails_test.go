package calldetails

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/pluginlog"
	"opentabs/wire"
)

var arrivalTime = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func callView(callID, parentCallID string, callStatus wire.CallStatus) dispatch.View {
	endedTime := arrivalTime.Add(2 * time.Second)
	v := dispatch.View{Plugin: "messages", Tool: "export", BrowserName: "Work", TabID: 7, Created: arrivalTime, Ended: &endedTime}
	v.CallID, v.ParentCallID, v.Status = callID, parentCallID, callStatus
	v.Timeline = []dispatch.TimelineEntry{{Kind: dispatch.EventCreated, Time: arrivalTime}, {Kind: dispatch.EventRunning, Time: arrivalTime.Add(time.Second)}, {Kind: dispatch.EventEnded, Time: endedTime}}
	return v
}

func newTestSource(liveView, recordedView dispatch.View, logEntries ...pluginlog.Entry) *Source {
	return &Source{
		Find: func(callID string) (dispatch.View, bool) { return liveView, callID == liveView.CallID },
		FindRecord: func(callID string) (dispatch.View, bool, error) {
			if callID == "unreadable" {
				return dispatch.View{}, false, errors.New("the records cannot be read")
			}
			return recordedView, callID == recordedView.CallID, nil
		},
		ReadLog: func(f pluginlog.Filter, from, to time.Time) (selectedEntries []pluginlog.Entry, err error) {
			for _, e := range logEntries {
				if f.Matches(e) && !e.Time.Before(from) && !e.Time.After(to) {
					selectedEntries = append(selectedEntries, e)
				}
			}
			return selectedEntries, nil
		},
		UndoOf: func(string, time.Time) (*wire.CallUndo, error) { return nil, nil },
	}
}

func TestUndoOfCall(t *testing.T) {
	s := newTestSource(callView("call_1", "", wire.StatusDone), callView("call_2", "", wire.StatusDone))
	s.UndoOf = func(callID string, createdTime time.Time) (*wire.CallUndo, error) {
		if callID != "call_2" || createdTime != arrivalTime {
			return nil, nil
		}
		return &wire.CallUndo{State: wire.UndoDone, By: "call_9"}, nil
	}
	for callID, want := range map[string]string{"call_1": "", "call_2": "call_9"} {
		r, err := s.Inspect(wire.CallInspectParams{CallID: callID})
		if by := r.Undo; err != nil || (by != nil) != (want != "") || by != nil && by.By != want {
			t.Errorf("undo of %s = %+v, error %v; want the undo call %q", callID, by, err, want)
		}
	}
}

func TestPhasesOfLiveAndRecordedCalls(t *testing.T) {
	liveView, recordedView := callView("call_1", "", wire.StatusDone), callView("call_2", "", wire.StatusDone)
	liveView.Trace = &hops.View{Start: arrivalTime, Hops: []hops.Hop{{Stage: "gates", Us: 1500}, {Stage: "handler", StartUs: 1500, Us: 1_998_500}}, TraceID: "0af7"}
	s := newTestSource(liveView, recordedView)
	for callID, want := range map[string]wire.CallInspectResult{
		"call_1": {Phases: []wire.CallPhase{{Name: "gates", Ms: 1.5}, {Name: "handler", StartMs: 1.5, Ms: 1998.5}}, HasTrace: true, TraceID: "0af7"},
		"call_2": {Phases: []wire.CallPhase{{Name: "queue", Ms: 1000}, {Name: "running", StartMs: 1000, Ms: 1000}}},
	} {
		if got, err := s.Inspect(wire.CallInspectParams{CallID: callID}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("details of %s = %+v, error %v\nwant %+v", callID, got, err, want)
		}
	}
	for callID, want := range map[string]string{"call_3": "the call is not recorded any more", "unreadable": "the records cannot be read"} {
		if _, err := s.Inspect(wire.CallInspectParams{CallID: callID}); err == nil || err.Error() != want {
			t.Errorf("Inspect of %s returned the error %v, want %q", callID, err, want)
		}
	}
}

// TestNestedCallHasClientTraceID checks that a nested call belongs to the trace of the client's call if the
// server exports traces.
func TestNestedCallHasClientTraceID(t *testing.T) {
	liveView, recordedView := callView("call_1", "call_2", wire.StatusDone), callView("call_2", "", wire.StatusDone)
	liveView.Trace = &hops.View{Start: arrivalTime}
	s := newTestSource(liveView, recordedView)
	checkTraceID := func(want string) {
		t.Helper()
		if got, err := s.Inspect(wire.CallInspectParams{CallID: "call_1"}); err != nil || got.TraceID != want {
			t.Errorf("trace ID of the nested call = %q, error %v; want %q", got.TraceID, err, want)
		}
	}
	checkTraceID("")
	s.TraceIDOf = func(rootCallID string) string { return "trace of " + rootCallID }
	checkTraceID("trace of call_2")
	s.FindRecord = func(string) (dispatch.View, bool, error) { return dispatch.View{}, false, nil }
	checkTraceID("")
}
