package hops_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch/hops"
)

func TestSamplerSelectsOneCallPerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sampler hops.Sampler
		firstTrace := sampler.TraceOf(t.Context())
		if firstTrace == nil || firstTrace.IsRequested() {
			t.Fatalf("first trace = %+v, want a trace that no client requested", firstTrace)
		}
		if secondTrace := sampler.TraceOf(t.Context()); secondTrace != nil {
			t.Error("the sampler selected two calls at the same time, want one")
		}
		time.Sleep(99 * time.Millisecond)
		if secondTrace := sampler.TraceOf(t.Context()); secondTrace != nil {
			t.Error("the sampler selected a second call after 99 ms, want none before 100 ms")
		}
		time.Sleep(time.Millisecond)
		if sampler.TraceOf(t.Context()) == nil {
			t.Error("the sampler selected no second call after 100 ms, want a trace")
		}
		sampler.TracesAll = true
		if sampler.TraceOf(t.Context()) == nil {
			t.Error("the sampler did not trace a call while TracesAll was set, want a trace")
		}
		ctx := hops.NewContext(t.Context())
		if got := sampler.TraceOf(ctx); got != hops.FromContext(ctx) || !got.IsRequested() {
			t.Errorf("TraceOf replaced the requested trace with %+v, want the requested trace", got)
		}
	})
}

func TestSetParentSpanRejectsInvalidSpans(t *testing.T) {
	const parentSpan = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for value, want := range map[string]string{
		`"` + parentSpan + `"`: parentSpan, `"01-` + parentSpan[3:] + `"`: "", `"` + parentSpan[:50] + `"`: "", `7`: "", ``: "", `null`: "",
	} {
		trace := newTrace()
		trace.SetParentSpan(json.RawMessage(value))
		if got := trace.ParentSpan(); got != want {
			t.Errorf("parent span for the value %s = %q, want %q", value, got, want)
		}
	}
	root := newTrace()
	root.SetParentSpan(json.RawMessage(`"` + parentSpan + `"`))
	if id := newTrace().View(root).TraceID; id != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("trace ID of a nested call = %q, want the trace ID of the client", id)
	}
	if id := newTrace().View(newTrace()).TraceID; id != "" {
		t.Errorf("trace ID of a call without a client's span = %q, want none", id)
	}
	var nilTrace *hops.Trace
	nilTrace.SetParentSpan(json.RawMessage(`"` + parentSpan + `"`))
	if nilTrace.ParentSpan() != "" {
		t.Error("a nil Trace has a parent span, want none")
	}
}
