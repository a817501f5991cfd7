// Package metrics counts calls, and serves the numbers in the text format of Prometheus.
package metrics

import (
	"fmt"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"opentabs/dispatch"
	"opentabs/internal/version"
)

// Gauges are metrics whose current values are read at each scrape.
type Gauges struct {
	// RunningCalls counts the calls that run, QueuedCalls counts the queued calls, and
	// WaitingCalls counts the calls that wait for the user.
	RunningCalls, QueuedCalls, WaitingCalls int
	// Browsers counts the connected browsers.
	Browsers int
}

// Calls counts all calls since the start of the daemon. Calls implements
// dispatch.AfterHook and is safe for concurrent use.
type Calls struct {
	set        *metrics.Set
	readGauges func() Gauges
}

var _ dispatch.AfterHook = (*Calls)(nil)

// durationBuckets are the upper bounds of the histogram buckets for durations of calls,
// in seconds. By default, the idle limit is 30 s and the hard limit 5 min.
var durationBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}

// New returns metrics with all counters at 0. The function readGauges is called at each
// scrape.
func New(readGauges func() Gauges) *Calls {
	c := &Calls{set: metrics.NewSet(), readGauges: readGauges}
	c.set.NewGauge(fmt.Sprintf(`opentabs_build_info{version=%q}`, version.Version), func() float64 { return 1 })
	return c
}

// After implements the method of dispatch.AfterHook, and counts an ended call.
func (c *Calls) After(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	v := &e.View
	c.set.GetOrCreateCounter(fmt.Sprintf(`opentabs_calls_total{plugin=%q,status=%q,code=%q}`, callInfo.Tool.Plugin, v.Status, v.ErrorCode)).Inc()
	if v.RunMs > 0 {
		c.set.GetOrCreatePrometheusHistogramExt("opentabs_call_run_seconds", durationBuckets).Update(v.RunMs / 1000)
	}
	if v.Ended != nil {
		wait := v.Ended.Sub(v.Created) - time.Duration(v.RunMs*float64(time.Millisecond))
		c.set.GetOrCreatePrometheusHistogramExt("opentabs_call_wait_seconds", durationBuckets).Update(max(0, wait.Seconds()))
	}
}

// ServeHTTP sends the metrics in the text format of Prometheus.
func (c *Calls) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	g := c.readGauges()
	for _, gauge := range []struct {
		name  string
		value int
	}{
		{"opentabs_calls_running", g.RunningCalls}, {"opentabs_calls_queued", g.QueuedCalls},
		{"opentabs_calls_waiting_for_user", g.WaitingCalls}, {"opentabs_browsers_connected", g.Browsers},
	} {
		metrics.WriteGaugeUint64(w, gauge.name, uint64(gauge.value))
	}
	c.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}
