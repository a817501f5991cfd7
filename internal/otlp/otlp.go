// Package otlp exports ended calls as OpenTelemetry traces. Each call is one span, with a
// child span for each phase of the call.
//
// The exporter sends traces as OTLP over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp). Traces are sent only if the user
// has set an endpoint. Spans contain no arguments, results or page URLs.
package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
)

const (
	// batchDelay is how long the exporter collects spans before it sends them in one
	// request.
	batchDelay = time.Second
	// maxQueuedSpans is the maximum number of queued spans.
	maxQueuedSpans = 4096
)

// Exporter sends a span for each ended call to an OpenTelemetry endpoint. Exporter
// implements [dispatch.AfterHook], and is safe for concurrent use.
type Exporter struct {
	config Config
	client *http.Client
	log    zerolog.Logger

	sendMu sync.Mutex // sendMu is locked during each HTTP request, so that only one request runs at a time

	mu              sync.Mutex // the mutex guards all fields below
	spans           []span
	droppedCount    int
	timer           *time.Timer // the timer runs while spans are queued; otherwise timer is nil
	isExportFailing bool
}

var _ dispatch.AfterHook = (*Exporter)(nil)

// New returns an exporter that sends spans to c.Endpoint.
func New(c Config, log zerolog.Logger) *Exporter {
	return &Exporter{config: c, client: &http.Client{Timeout: c.Timeout}, log: log}
}

// AfterCall implements [dispatch.AfterHook]. The method AfterCall queues the spans of an ended
// call, and does not wait for the network.
func (e *Exporter) AfterCall(callInfo dispatch.CallInfo, endedCall dispatch.EndedCall) {
	spans := spansOf(callInfo, &endedCall.View)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.spans)+len(spans) > maxQueuedSpans {
		e.droppedCount += len(spans)
		return
	}
	e.spans = append(e.spans, spans...)
	if e.timer == nil {
		e.timer = time.AfterFunc(batchDelay, func() { e.Flush(context.Background()) })
	}
}

// Flush sends all queued spans, and returns when the endpoint has responded. If the HTTP
// request fails, Flush drops the spans. Flush logs only the first of several consecutive
// failures.
func (e *Exporter) Flush(ctx context.Context) {
	e.sendMu.Lock()
	defer e.sendMu.Unlock()
	e.mu.Lock()
	spans, droppedCount := e.spans, e.droppedCount
	e.spans, e.droppedCount = nil, 0
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
	e.mu.Unlock()
	if len(spans) == 0 {
		return
	}
	err := e.send(ctx, spans)
	e.mu.Lock()
	wasExportFailing := e.isExportFailing
	e.isExportFailing = err != nil
	e.mu.Unlock()
	switch {
	case err != nil && !wasExportFailing:
		e.log.Warn().Err(err).Int("spans", len(spans)).Msg("traces could not be sent to the OpenTelemetry endpoint; further failures are not logged")
	case err == nil && wasExportFailing:
		e.log.Info().Msg("traces are sent to the OpenTelemetry endpoint again")
	}
	if droppedCount > 0 {
		e.log.Warn().Int("spans", droppedCount).Msg("traces were dropped because too many calls ended at once")
	}
}

func (e *Exporter) send(ctx context.Context, spans []span) error {
	body, err := json.Marshal(exportRequest{ResourceSpans: []resourceSpans{{
		Resource:   resource{Attributes: e.config.resourceAttributes()},
		ScopeSpans: []scopeSpans{{Scope: scope{Name: "opentabs"}, Spans: spans}},
	}}})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.config.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, headerValue := range e.config.Headers {
		request.Header.Set(name, headerValue)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the endpoint answers %s", response.Status)
	}
	return nil
}
