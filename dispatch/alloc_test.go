package dispatch

import (
	"context"
	"encoding/json"
	"testing"

	"opentabs/internal/alloctest"
	"opentabs/wire"
)

type allocFreeBridge struct {
	instantBridge
	targets []Target
	output  json.RawMessage
}

func (b *allocFreeBridge) Targets(context.Context, TargetChoice) Targets {
	return Targets{BrowserCount: 1, LiveTargets: b.targets}
}

func (b *allocFreeBridge) Start(_ context.Context, _ Run, s Sink) *wire.CallError {
	s.Finish(b.output, nil)
	return nil
}

func newAllocFreeBridge() *allocFreeBridge {
	return &allocFreeBridge{targets: []Target{{Browser: "b", TabID: 1, DocumentID: "d"}}, output: json.RawMessage(`{}`)}
}

func TestCallAllocations(t *testing.T) {
	d := New(newAllocFreeBridge(), Options{})
	req := Call{Tool: Tool{Plugin: "p", Name: "t"}, Args: json.RawMessage(`{}`)}
	alloctest.Check(t, "one call", 11, 1, func() {
		if _, err := d.Call(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReportAllocations checks that a progress report allocates no memory if a client
// wants notifications and no subscriber exists.
func TestReportAllocations(t *testing.T) {
	d := New(newAllocFreeBridge(), Options{})
	c := newLiveCall(d, Call{Tool: Tool{Plugin: "p", Name: "t"}, Progress: func(Progress) {}})
	c.beginRunning()
	defer c.clock.Stop()
	progress, totalProgress := 0.0, 1e18
	reports := []wire.Report{{Progress: &progress, Total: &totalProgress, Message: "page"}}
	alloctest.Check(t, "one report", 0, 0, func() {
		progress++
		sink{c}.Reports(reports, 0)
	})
}
