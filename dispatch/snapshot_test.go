package dispatch_test

import (
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestSnapshotJSON(t *testing.T) {
	tests := []struct {
		name   string
		report wire.Report
		want   string
	}{
		{"a report without numbers", wire.Report{}, `"status":"running"}`},
		{"message", wire.Report{Message: "page 1"}, `"status":"running","message":"page 1"}`},
		{"loaded of a total", wire.Report{Progress: newFloatPointer(1), Total: newFloatPointer(4)}, `"status":"running","progress":0.25,"loaded":1,"total":4}`},
		{"no total", wire.Report{Progress: newFloatPointer(7)}, `"status":"running","loaded":7}`},
		{"percent", wire.Report{Percent: newFloatPointer(40)}, `"status":"running","progress":0.4,"loaded":40,"total":100}`},
		{"loaded", wire.Report{Progress: newFloatPointer(1), Total: newFloatPointer(2), Loaded: newFloatPointer(512)}, `"status":"running","progress":0.5,"loaded":512,"total":2}`},
		{"progress 0 of a total of 0", wire.Report{Progress: newFloatPointer(0), Total: newFloatPointer(0)}, `"status":"running","progress":1,"loaded":0,"total":0}`},
		{"invalid", wire.Report{Progress: newFloatPointer(9), Total: newFloatPointer(1), Message: "m"}, `"status":"running","message":"m"}`},
		{"a total that is not finite", wire.Report{Progress: newFloatPointer(1), Total: newFloatPointer(math.Inf(1))}, `"status":"running"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				p := &fakePage{handler: func(_ dispatch.Run, s dispatch.Sink) {
					s.Reports([]wire.Report{tt.report}, 0)
					<-release
					s.Finish(nil, nil)
				}}
				d := dispatch.New(p.bridge(), dispatch.Options{})
				callErrors := make(chan error, 1)
				go func() {
					_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool})
					callErrors <- err
				}()
				synctest.Wait()
				callView := d.Calls()[0]
				got, err := json.Marshal(callView.Snapshot)
				if err != nil {
					t.Fatal(err)
				}
				want := `{"schema":"tool-call-progress.v1","node_id":"` + callView.CallID + `","call_id":"` + callView.CallID +
					`","tool_name":"messages__export",` + tt.want
				if string(got) != want {
					t.Errorf("JSON of the snapshot:\n got %s\nwant %s", got, want)
				}
				close(release)
				if err := <-callErrors; err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestSnapshotOfANestedCall(t *testing.T) {
	got, err := json.Marshal(dispatch.Snapshot{ParentNodeID: "call_1", ParentCallID: "call_2"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"schema":"","node_id":"","call_id":"","tool_name":"","status":"","parent_node_id":"call_1","parent_call_id":"call_2"}`
	if string(got) != want {
		t.Errorf("JSON of the snapshot:\n got %s\nwant %s", got, want)
	}
}
