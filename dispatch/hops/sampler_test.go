package hops_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch/hops"
)

func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sampler hops.Sampler
		firstTrace := sampler.TraceOf(t.Context())
		if firstTrace == nil || firstTrace.IsRequested() {
			t.Fatalf("the first trace is %+v, want one that no client requested", firstTrace)
		}
		if secondTrace := sampler.TraceOf(t.Context()); secondTrace != nil {
			t.Error("two traces start at the same time")
		}
		time.Sleep(99 * time.Millisecond)
		if secondTrace := sampler.TraceOf(t.Context()); secondTrace != nil {
			t.Error("a second trace starts after 99 ms")
		}
		time.Sleep(time.Millisecond)
		if sampler.TraceOf(t.Context()) == nil {
			t.Error("no second trace starts after 100 ms")
		}
		sampler.TracesAll = true
		if sampler.TraceOf(t.Context()) == nil {
			t.Error("a call is not traced although all calls are traced")
		}
		ctx := hops.NewContext(t.Context())
		if got := sampler.TraceOf(ctx); got != hops.FromContext(ctx) || !got.IsRequested() {
			t.Errorf("a requested trace is replaced by %+v", got)
		}
	})
}

func TestSetParent(t *testing.T) {
	const span = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for value, want := range map[string]string{
		`"` + span + `"`: span, `"01-` + span[3:] + `"`: "", `"` + span[:50] + `"`: "", `7`: "", ``: "", `null`: "",
	} {
		trace := newTrace()
		trace.SetParent(json.RawMessage(value))
		if got := trace.Parent(); got != want {
			t.Errorf("the parent of %s is %q, want %q", value, got, want)
		}
	}
	root := newTrace()
	root.SetParent(json.RawMessage(`"` + span + `"`))
	if id := newTrace().View(root).TraceID; id != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("a nested call has the trace ID %q", id)
	}
	if id := newTrace().View(newTrace()).TraceID; id != "" {
		t.Errorf("a call without a span of a client has the trace ID %q", id)
	}
	var untraced *hops.Trace
	untraced.SetParent(json.RawMessage(`"` + span + `"`))
	if untraced.Parent() != "" {
		t.Error("a call without a trace has a parent")
	}
}
