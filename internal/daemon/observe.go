package daemon

import (
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/metrics"
	"opentabs/internal/otlp"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// observers receive ended calls and export them as metrics and traces.
type observers struct {
	metrics *metrics.Calls
	// traces is nil unless the environment variables contain an endpoint of
	// OpenTelemetry.
	traces *otlp.Exporter
}

func newObservers(getenv func(string) string, readGauges func() metrics.Gauges, log zerolog.Logger) observers {
	o := observers{metrics: metrics.New(readGauges)}
	otlpConfig, ok, err := otlp.ReadConfig(getenv)
	if err != nil {
		log.Error().Msg(err.Error())
	}
	if ok {
		o.traces = otlp.New(otlpConfig, log)
		log.Info().Str("endpoint", otlpConfig.EndpointWithoutPassword()).Msg("traces of calls are sent to the OpenTelemetry endpoint")
	}
	return o
}

// hooks returns the hooks that run after each call.
func (o observers) hooks() []dispatch.AfterHook {
	hooks := []dispatch.AfterHook{o.metrics}
	if o.traces != nil {
		hooks = append(hooks, o.traces)
	}
	return hooks
}

// sampler selects the calls that are traced. If an endpoint receives traces, sampler
// selects all calls.
func (o observers) sampler() *hops.Sampler { return &hops.Sampler{TracesAll: o.traces != nil} }

// traceIDs returns the function that returns the ID of the trace that is sent for a call of
// a client; nil if no traces are sent.
func (o observers) traceIDs() func(rootCallID string) string {
	if o.traces == nil {
		return nil
	}
	return otlp.TraceIDOf
}

// countGauges returns how many calls are in each state, and how many browsers are connected.
func countGauges(calls []dispatch.View, browsers []wsbridge.BrowserInfo) metrics.Gauges {
	var g metrics.Gauges
	for _, b := range browsers {
		if b.Connected {
			g.Browsers++
		}
	}
	for _, c := range calls {
		switch {
		case c.Waiting != nil:
			g.WaitingCalls++
		case c.Status == wire.StatusRunning:
			g.RunningCalls++
		case c.Status == wire.StatusPending:
			g.QueuedCalls++
		}
	}
	return g
}
