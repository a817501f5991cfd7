// Package metrics counts calls and exports the counters in Prometheus text format.
package metrics

import (
	"fmt"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"opentabs/dispatch"
	"opentabs/internal/version"
)

// Gauges are metrics whose current values [Calls] reads at each scrape.
type Gauges struct {
	// RunningCalls, QueuedCalls and WaitingCalls are the numbers of calls with the status
	// running, queued, and waiting for the user.
	RunningCalls, QueuedCalls, WaitingCalls int
	// Browsers is the number of connected browsers.
	Browsers int
}

// Calls counts the calls that have ended since the start of the daemon. As an [http.Handler],
// Calls serves the counters to Prometheus. Calls implements [dispatch.AfterHook], and is safe
// for concurrent use.
type Calls struct {
	metricSet  *metrics.Set
	readGauges func() Gauges
}

var _ dispatch.AfterHook = (*Calls)(nil)

// durationBuckets are the upper bounds of the histogram buckets for call durations, in
// seconds. durationBuckets includes 30 s and 5 min, which are the default idle limit and hard
// limit of a call.
var durationBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}

// New returns a Calls whose counters are 0. Each time ServeHTTP writes the metrics, it
// calls readGauges once.
func New(readGauges func() Gauges) *Calls {
	c := &Calls{metricSet: metrics.NewSet(), readGauges: readGauges}
	c.metricSet.NewGauge(fmt.Sprintf(`opentabs_build_info{version=%q}`, version.Version), func() float64 { return 1 })
	return c
}

// AfterCall is a hook that counts each ended call, and records the call's running time and
// waiting time. AfterCall implements [dispatch.AfterHook].
func (c *Calls) AfterCall(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	v := &e.View
	c.metricSet.GetOrCreateCounter(fmt.Sprintf(`opentabs_calls_total{plugin=%q,status=%q,code=%q}`, callInfo.Tool.Plugin, v.Status, v.ErrorCode)).Inc()
	if v.RunMs > 0 {
		c.metricSet.GetOrCreatePrometheusHistogramExt("opentabs_call_run_seconds", durationBuckets).Update(v.RunMs / 1000)
	}
	if v.Ended != nil {
		waitTime := v.Ended.Sub(v.Created) - time.Duration(v.RunMs*float64(time.Millisecond))
		c.metricSet.GetOrCreatePrometheusHistogramExt("opentabs_call_wait_seconds", durationBuckets).Update(max(0, waitTime.Seconds()))
	}
}

// ServeHTTP writes all metrics in Prometheus text format, including Go's process metrics.
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
	c.metricSet.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}
