package calldetails

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"opentabs/internal/pluginlog"
	"opentabs/wire"
)

func newLogEntryAt(d time.Duration, level wire.LogLevel, logMessage string) pluginlog.Entry {
	return pluginlog.Entry{Time: arrivalTime.Add(d), Plugin: "messages", Browser: "Work", Tab: 7, Level: level, Message: logMessage}
}

func inspectFailure(t *testing.T, callStatus wire.CallStatus, errorText string, logEntries ...pluginlog.Entry) *wire.CallFailure {
	t.Helper()
	v := callView("call_1", "", callStatus)
	v.Error = errorText
	packageSource := newTestSource(v, v, logEntries...)
	got, err := packageSource.Inspect(wire.CallInspectParams{CallID: "call_1"})
	if err != nil {
		t.Fatal(err)
	}
	return got.Failure
}

// TestFailureOfThrownError checks the stack trace, the hints and the log of a call whose
// tool threw an error.
func TestFailureOfThrownError(t *testing.T) {
	thrownEntry := newLogEntryAt(2050*time.Millisecond, wire.LogError, "export failed: Failed to fetch\nThe server is unreachable (CORS).")
	thrownEntry.Stack = []string{"load (src/load.ts:3:9)", "handle (src/export.ts:31:11)\u202e"}
	logData := newLogEntryAt(time.Second, wire.LogInfo, "page")
	logData.Data = json.RawMessage(`[3,{"a":1}]`)
	otherTab, otherBrowser := newLogEntryAt(time.Second, wire.LogInfo, "other tab"), newLogEntryAt(time.Second, wire.LogInfo, "other browser")
	otherTab.Tab, otherBrowser.Browser = 8, "Home"
	got := inspectFailure(t, wire.StatusFailed, "Failed to fetch",
		newLogEntryAt(-time.Second, wire.LogInfo, "before the call"), otherTab, otherBrowser, logData,
		newLogEntryAt(time.Second, wire.LogWarning, "export: $.node is a DOM node (DIV)."),
		thrownEntry, newLogEntryAt(2060*time.Millisecond, wire.LogInfo, "after the call"))
	want := &wire.CallFailure{
		Stack: []string{"load (src/load.ts:3:9)", "handle (src/export.ts:31:11)"},
		Hints: []string{"$.node is a DOM node (DIV).", "The server is unreachable (CORS)."},
		Log:   []wire.CallLogEntry{{AtMs: float64(arrivalTime.Add(time.Second).UnixMilli()), Level: wire.LogInfo, Message: `page  3,{"a":1}`}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("failure details = %+v\nwant %+v", got, want)
	}
}

func TestFindEntryOfThrownError(t *testing.T) {
	newStackEntry := func(d time.Duration, logMessage, frame string) pluginlog.Entry {
		e := newLogEntryAt(d, wire.LogError, logMessage)
		e.Stack = []string{frame}
		return e
	}
	for _, c := range []struct {
		name, errorText, want string
		logEntries            []pluginlog.Entry
	}{
		{"the entry with the error of the call", "a", "1", []pluginlog.Entry{newStackEntry(time.Second, "export failed: a", "1"), newStackEntry(time.Second, "export failed: b", "2")}},
		{"an error of several lines", "a b", "1", []pluginlog.Entry{newStackEntry(time.Second, "export failed: a\nb", "1")}},
		{"an error with a secret", "key-123", "1", []pluginlog.Entry{newStackEntry(time.Second, "export failed: [redacted]", "1")}},
		{"two other errors", "c", "", []pluginlog.Entry{newStackEntry(time.Second, "export failed: a", "1"), newStackEntry(time.Second, "export failed: b", "2")}},
		{"another tool", "a", "", []pluginlog.Entry{newStackEntry(time.Second, "import failed: a", "1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if f := inspectFailure(t, wire.StatusFailed, c.errorText, c.logEntries...); f != nil {
				got = strings.Join(f.Stack, " ")
			}
			if got != c.want {
				t.Errorf("stack trace of the failure = %q, want %q", got, c.want)
			}
		})
	}
}

// TestLogOfTimedOutCall checks that the details of a call that timed out include the last
// log entries of the plugin.
func TestLogOfTimedOutCall(t *testing.T) {
	var logEntries []pluginlog.Entry
	for range 30 {
		logEntries = append(logEntries, newLogEntryAt(time.Second, wire.LogInfo, strings.Repeat("x", 2000)))
	}
	logEntries[29].Message = "the last"
	f := inspectFailure(t, wire.StatusTimedOut, "no progress", logEntries...)
	if len(f.Log) != maxLogEntries || f.Log[maxLogEntries-1].Message != "the last" || len([]rune(f.Log[0].Message)) != maxLogChars {
		t.Errorf("failure has %d log entries: %+v\nwant the last %d entries, each with at most %d characters", len(f.Log), f.Log, maxLogEntries, maxLogChars)
	}
	for _, callStatus := range []wire.CallStatus{wire.StatusDone, wire.StatusCancelled} {
		if f := inspectFailure(t, callStatus, "", logEntries...); f != nil {
			t.Errorf("failure details of a call with the status %s = %+v; want none", callStatus, f)
		}
	}
	if f := inspectFailure(t, wire.StatusFailed, "denied"); f != nil {
		t.Errorf("failure details of a call without log entries = %+v; want none", f)
	}
}
