package otlp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/otlp"
	"opentabs/wire"
)

type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano, EndTimeUnixNano string

	Kind       int
	Status     struct{ Code int }
	Attributes []struct {
		Key   string
		Value struct{ StringValue string }
	}
}

type collector struct {
	*httptest.Server
	httpStatus int
	headers    http.Header
	bodies     []string
}

func newCollector(t *testing.T) *collector {
	c := &collector{httpStatus: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.headers, c.bodies = r.Header, append(c.bodies, r.URL.Path+" "+string(body))
		w.WriteHeader(c.httpStatus)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) spans(t *testing.T) []sentSpan {
	t.Helper()
	var request struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []sentSpan }
		}
	}
	_, body, _ := strings.Cut(c.bodies[len(c.bodies)-1], " ")
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		t.Fatal(err)
	}
	return request.ResourceSpans[0].ScopeSpans[0].Spans
}

func newTestConfig(t *testing.T, endpoint string, variables map[string]string) otlp.Config {
	t.Helper()
	variables = maps.Clone(variables)
	if variables == nil {
		variables = map[string]string{}
	}
	variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
	c, ok, err := otlp.ReadConfig(func(name string) string { return variables[name] })
	if err != nil || !ok {
		t.Fatalf("ReadConfig: ok = %v, error %v; want true and no error", ok, err)
	}
	return c
}

var startTime = time.Unix(1700000000, 0)

func endedCall(callID, parentID string, callStatus wire.CallStatus) dispatch.EndedCall {
	endedTime := startTime.Add(10 * time.Millisecond)
	v := dispatch.View{Created: startTime, Ended: &endedTime, Plugin: "messages", ErrorCode: "denied"}
	v.CallID, v.ParentCallID, v.ToolName, v.Status = callID, parentID, "messages__export", callStatus
	v.Trace = &hops.View{Start: startTime, Hops: []hops.Hop{{Stage: "guard", Us: 2000}, {Stage: "handler", StartUs: 2000, Us: 7000}, {Stage: "reply", StartUs: 9000, Us: 2000}}}
	return dispatch.EndedCall{View: v}
}

func TestExportedSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t)
		e := otlp.New(newTestConfig(t, c.URL, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b", "OTEL_RESOURCE_ATTRIBUTES": "team=web"}), zerolog.Nop())
		parentDir := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		e.AfterCall(dispatch.CallInfo{RootCallID: "c1", TraceParent: parentDir}, endedCall("c2", "c1", wire.StatusTimedOut))
		e.AfterCall(dispatch.CallInfo{RootCallID: "c1", TraceParent: parentDir}, endedCall("c1", "", wire.StatusDone))
		e.AfterCall(dispatch.CallInfo{RootCallID: "c3"}, endedCall("c3", "", wire.StatusDone))
		e.Flush(t.Context())

		spans := c.spans(t)
		if len(spans) != 12 {
			t.Fatalf("the endpoint received %d spans, want 3 calls with 3 phases each: %s", len(spans), c.bodies)
		}
		nestedSpan, call, callWithoutTrace := spans[0], spans[4], spans[8]
		if call.TraceID != "0af7651916cd43dd8448eb211c80319c" || call.ParentSpanID != "b7ad6b7169203331" || nestedSpan.TraceID != call.TraceID || nestedSpan.ParentSpanID != call.SpanID {
			t.Errorf("want the trace ID of the client in both spans, and the call as the parent of the nested call; span of the call = %+v\nspan of the nested call = %+v", call, nestedSpan)
		}
		if len(callWithoutTrace.TraceID) != 32 || len(callWithoutTrace.SpanID) != 16 || callWithoutTrace.TraceID == call.TraceID || callWithoutTrace.ParentSpanID != "" {
			t.Errorf("span of a call without a trace context of the client = %+v, want a new trace ID and no parent", callWithoutTrace)
		}
		if call.Kind != 2 || nestedSpan.Kind != 1 || call.Status.Code != 0 || nestedSpan.Status.Code != 2 {
			t.Errorf("span of the call = %+v, span of the nested call = %+v; want the kinds 2 and 1, and the status codes 0 and 2", call, nestedSpan)
		}
		if call.StartTimeUnixNano != "1700000000000000000" || call.EndTimeUnixNano != "1700000000011000000" {
			t.Errorf("span of the call from %s to %s, want 11 s from 1700000000000000000", call.StartTimeUnixNano, call.EndTimeUnixNano)
		}
		if handlerSpan := spans[6]; handlerSpan.Name != "handler" || handlerSpan.ParentSpanID != call.SpanID || handlerSpan.StartTimeUnixNano != "1700000000002000000" || handlerSpan.EndTimeUnixNano != "1700000000009000000" {
			t.Errorf("span of the phase = %+v, want the phase handler of the call from 2 s to 9 s", handlerSpan)
		}
		if got := c.headers.Get("X-Key"); got != "a b" || c.headers.Get("Content-Type") != "application/json" {
			t.Errorf("headers of the request = %v, want X-Key \"a b\" and the type application/json", c.headers)
		}
		for _, want := range []string{"/v1/traces ", `{"key":"team","value":{"stringValue":"web"}}`, `{"key":"service.name","value":{"stringValue":"opentabs"}}`, `"error.type"`} {
			if !strings.Contains(c.bodies[0], want) {
				t.Errorf("the request does not contain %s", want)
			}
		}
		e.Flush(t.Context())
		if len(c.bodies) != 1 {
			t.Error("the exporter sent a request without spans, want no further request")
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
}

func TestExportFailuresAreLoggedOnce(t *testing.T) {
	// The test runs in fake time, so that the exporter does not send a batch before all 2,000
	// calls have ended.
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(t)
		var log bytes.Buffer
		e := otlp.New(newTestConfig(t, c.URL, nil), zerolog.New(&log))
		for _, httpStatus := range []int{500, 500, 200, 200} {
			c.httpStatus = httpStatus
			e.AfterCall(dispatch.CallInfo{}, endedCall("c1", "", wire.StatusDone))
			e.Flush(t.Context())
		}
		if got := strings.Count(log.String(), "could not be sent"); got != 1 || strings.Count(log.String(), "sent to the OpenTelemetry endpoint again") != 1 {
			t.Errorf("log of the exporter = %s, want one line about the failure and one about the recovery", log.String())
		}
		for range 2000 {
			e.AfterCall(dispatch.CallInfo{}, endedCall("c1", "", wire.StatusDone))
		}
		e.Flush(t.Context())
		if got := len(c.spans(t)); got != 4096 || !strings.Contains(log.String(), `"spans":3904`) {
			t.Errorf("the exporter sent %d of 8000 spans, want 4096; log = %s", got, log.String())
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
}

func TestLoggedEndpointHasNoPassword(t *testing.T) {
	if got := newTestConfig(t, "https://ann:hunter2@collector.example", nil).EndpointWithoutPassword(); got != "https://ann:xxxxx@collector.example/v1/traces" {
		t.Errorf("endpoint in the log = %q, want the password masked", got)
	}
}

func TestReadConfig(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, testCase := range []struct {
		variables map[string]string
		url       string
		err       string
	}{
		{nil, "", ""},
		{map[string]string{endpoint: "http://127.0.0.1:4318/"}, "http://127.0.0.1:4318/v1/traces", ""},
		{map[string]string{endpoint: "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://b/x"}, "https://b/x", ""},
		{map[string]string{endpoint: "http://a", "OTEL_SDK_DISABLED": "true"}, "", ""},
		{map[string]string{endpoint: "http://a", "OTEL_TRACES_EXPORTER": "none"}, "", ""},
		{map[string]string{endpoint: "http://a", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "", "http/json"},
		{map[string]string{endpoint: "a:4318"}, "", "not a URL"},
	} {
		c, ok, err := otlp.ReadConfig(func(name string) string { return testCase.variables[name] })
		if c.Endpoint != testCase.url || ok != (testCase.url != "") || (err == nil) != (testCase.err == "") || err != nil && !strings.Contains(err.Error(), testCase.err) {
			t.Errorf("configuration from the variables %v: endpoint %q, ok = %v, error %v; want the endpoint %q and the error %q", testCase.variables, c.Endpoint, ok, err, testCase.url, testCase.err)
		}
	}
}
