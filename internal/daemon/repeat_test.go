package daemon

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/recorder"
	"opentabs/plugin"
)

// The test e2e/panel/history.test.ts covers calls that can be repeated.
func TestUnrepeatableCallsAreRejected(t *testing.T) {
	entries := map[string]recorder.Record{
		"prompt":     {View: dispatch.View{Prompt: true}},
		"incomplete": {Args: json.RawMessage(`{"token":"[redacted]"}`), IsArgsIncomplete: true},
		"unrecorded": {ArgsBytes: 70_000},
		"unknown":    {View: dispatch.View{Snapshot: dispatch.Snapshot{ToolName: "gone__post"}}, Args: json.RawMessage(`{}`)},
	}
	r := callRepeater{
		findRecord: func(callID string) (recorder.Entry, bool, error) {
			if callID == "unreadable" {
				return recorder.Entry{}, false, errors.New("the records cannot be read")
			}
			callRecord, ok := entries[callID]
			return recorder.Entry{Record: callRecord}, ok, nil
		},
		plugins: func() *plugin.Set { return &plugin.Set{} },
	}
	for callID, want := range map[string]string{
		"unreadable": "cannot be read",
		"missing":    "not recorded any more",
		"prompt":     "a prompt cannot be run again",
		"incomplete": "not all arguments",
		"unrecorded": "not all arguments",
		"unknown":    "there is no tool gone__post any more",
	} {
		if err := r.repeatCall(callID); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("repeating the call %s returned the error %v, want %q", callID, err, want)
		}
	}
}
