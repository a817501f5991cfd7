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

// The type observers receives every ended call, and exports metrics and traces.
type observers struct {
	metrics *metrics.Calls
	traces  *otlp.Exporter
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

func (o observers) hooks() []dispatch.AfterHook {
	hooks := []dispatch.AfterHook{o.metrics}
	if o.traces != nil {
		hooks = append(hooks, o.traces)
	}
	return hooks
}

// If traces are exported, the sampler selects all calls.
func (o observers) sampler() *hops.Sampler { return &hops.Sampler{TracesAll: o.traces != nil} }

func (o observers) traceIDFunc() func(rootCallID string) string {
	if o.traces == nil {
		return nil
	}
	return otlp.TraceIDOf
}

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
