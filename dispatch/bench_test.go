package dispatch

import (
	"context"
	"encoding/json"
	"testing"

	"opentabs/wire"
)

type instantBridge struct{}

func (instantBridge) Targets(context.Context, TargetChoice) Targets {
	return Targets{BrowserCount: 1, LiveTargets: []Target{{Browser: "b", TabID: 1, DocumentID: "d"}}}
}

func (instantBridge) Start(_ context.Context, _ Run, s Sink) *wire.CallError {
	s.Finish(json.RawMessage(`{}`), nil)
	return nil
}

func (instantBridge) Answer(string, int, json.RawMessage, *wire.CallError) {}

func (instantBridge) RequestActivityResync(string, string) {}

func (instantBridge) Cancel(_, _ string, onOutcome func(wire.CancelOutcome)) {
	onOutcome(wire.CancelFinished)
}

func BenchmarkReport(b *testing.B) {
	d := New(instantBridge{}, Options{})
	c := newLiveCall(d, Call{Tool: Tool{Plugin: "p", Name: "t"}, Progress: func(Progress) {}})
	c.beginRunning()
	defer c.clock.Stop()
	progress, totalProgress := 0.0, 1e18
	reports := []wire.Report{{Progress: &progress, Total: &totalProgress, Message: "page"}}
	b.ReportAllocs()
	for b.Loop() {
		progress++
		sink{c}.Reports(reports, 0)
	}
}

func BenchmarkCall(b *testing.B) {
	d := New(instantBridge{}, Options{})
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Call(context.Background(), req); err != nil {
			b.Fatal(err)
		}
	}
}
