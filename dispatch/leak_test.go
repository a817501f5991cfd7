package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"opentabs/internal/leaktest"
	"opentabs/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type shortCallBridge struct{}

func (shortCallBridge) Targets(context.Context, TargetChoice) Targets {
	return Targets{BrowserCount: 1, LiveTargets: []Target{{Browser: "b", TabID: 1, DocumentID: "d"}}}
}

func (shortCallBridge) Start(_ context.Context, toolRun Run, s Sink) *wire.CallError {
	s.Reports([]wire.Report{{Message: "begun"}}, 0)
	switch toolRun.Args[0] % 4 {
	case 0:
		s.Finish(toolRun.Args, nil)
	case 1:
		s.Finish(nil, &wire.CallError{Code: wire.ErrTabClosed, Message: "closed"})
	case 2:
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: "invalid"}
	}
	return nil
}

func (shortCallBridge) Answer(string, int, json.RawMessage, *wire.CallError) {}

func (shortCallBridge) RequestActivityResync(string, string) {}

func (shortCallBridge) Cancel(_, _ string, onOutcome func(wire.CancelOutcome)) {
	onOutcome(wire.CancelAborted)
}

func TestCallsDoNotLeak(t *testing.T) {
	d := New(shortCallBridge{}, Options{MaxRunningCalls: 8, IdleLimit: time.Minute})
	f := d.Subscribe(SubscribeOptions{})
	f.Close()
	measureHeap := func(calls int) uint64 {
		var wg sync.WaitGroup
		for client := range 64 {
			wg.Go(func() {
				for i := range calls / 64 {
					ctx, disconnect := context.WithCancel(t.Context())
					if i%4 == 3 {
						disconnect()
					}
					args := make(json.RawMessage, 4000)
					args[0] = byte(i)
					_, _ = d.Call(ctx, Call{
						Tool: Tool{Plugin: fmt.Sprint("p", client%3), Name: "t"}, Args: args,
						Client: Client{Session: fmt.Sprint(client)}, Progress: func(Progress) {},
					})
					disconnect()
				}
			})
		}
		wg.Wait()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	heapBefore := measureHeap(6400)
	heapAfter := measureHeap(40000)
	if heapAfter > heapBefore+(2<<20) {
		t.Errorf("the heap grew from %d to %d bytes, want a growth of at most 2 MiB", heapBefore, heapAfter)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.liveCalls) != 0 {
		t.Errorf("the dispatcher still has %d live calls, want 0", len(d.liveCalls))
	}
	if len(d.endedCalls) != maxEndedCalls {
		t.Errorf("the dispatcher keeps %d ended calls, want %d", len(d.endedCalls), maxEndedCalls)
	}
}
