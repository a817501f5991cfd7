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

// observers receive every ended call, and export metrics and traces.
type observers struct {
	metrics *metrics.Calls
	// traces is nil unless the environment variables configure an OpenTelemetry endpoint.
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

// hooks returns the hooks through which the observers receive ended calls.
func (o observers) hooks() []dispatch.AfterHook {
	hooks := []dispatch.AfterHook{o.metrics}
	if o.traces != nil {
		hooks = append(hooks, o.traces)
	}
	return hooks
}

// sampler returns a sampler that decides which calls are traced. If traces are exported,
// the sampler selects all calls.
func (o observers) sampler() *hops.Sampler { return &hops.Sampler{TracesAll: o.traces != nil} }

// traceIDs returns a function that maps the ID of a client's call to its trace ID.
// traceIDs returns nil if no traces are exported.
func (o observers) traceIDs() func(rootCallID string) string {
	if o.traces == nil {
		return nil
	}
	return otlp.TraceIDOf
}

// countGauges counts the calls in each state and the connected browsers.
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
		case !c.Status.HasEnded():
			g.QueuedCalls++
		}
	}
	return g
}
