package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/metrics"
	"opentabs/wire"
)

func TestMetrics(t *testing.T) {
	m := metrics.New(func() metrics.Gauges {
		return metrics.Gauges{RunningCalls: 2, QueuedCalls: 3, WaitingCalls: 1, Browsers: 4}
	})
	endCall := func(plugin string, callStatus wire.CallStatus, code wire.ErrorCode, runMs float64) {
		createdTime := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		endedTime := createdTime.Add(20 * time.Second)
		callView := dispatch.View{Created: createdTime, Ended: &endedTime, RunMs: runMs, ErrorCode: code}
		callView.Status = callStatus
		m.AfterCall(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: plugin}}, dispatch.EndedCall{View: callView})
	}
	endCall("messages", wire.StatusDone, "", 40)
	endCall("messages", wire.StatusDone, "", 15_000)
	endCall("browser", wire.StatusFailed, wire.ErrDenied, 0)
	endCall("browser", wire.StatusTimedOut, wire.ErrApprovalTimeout, 0)

	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body := w.Body.String()
	for _, line := range []string{
		`opentabs_calls_total{plugin="messages",status="done",code=""} 2`,
		`opentabs_calls_total{plugin="browser",status="failed",code="denied"} 1`,
		`opentabs_calls_total{plugin="browser",status="timed out",code="approval_timeout"} 1`,
		"opentabs_calls_running 2", "opentabs_calls_queued 3", "opentabs_calls_waiting_for_user 1", "opentabs_browsers_connected 4",
		`opentabs_call_run_seconds_bucket{le="0.05"} 1`, `opentabs_call_run_seconds_bucket{le="30"} 2`, "opentabs_call_run_seconds_count 2",
		"opentabs_call_run_seconds_sum 15.04",
		`opentabs_call_wait_seconds_bucket{le="10"} 1`, "opentabs_call_wait_seconds_count 4",
		`opentabs_build_info{version="`, "process_resident_memory_bytes ", "go_goroutines ",
	} {
		if !strings.Contains("\n"+body, "\n"+line) {
			t.Errorf("the metrics lack the line %s", line)
		}
	}
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("Content-Type of the metrics = %q, want text/plain; version=0.0.4", got)
	}
	if t.Failed() {
		t.Log(body)
	}
}
