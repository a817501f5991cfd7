package wsbridge

import (
	"encoding/json"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/alloctest"
	"opentabs/wire"
)

type finishCountingSink struct {
	callErrorSink
	finishCount int
}

func (s *finishCountingSink) Finish(json.RawMessage, *wire.CallError) { s.finishCount++ }

func TestRunAllocations(t *testing.T) {
	h := New(Options{Key: testKey, Origins: []string{testOrigin}})
	defer h.Close()
	l := newLink(h, nil, nil)
	l.outbox.isWriting = true // no goroutine writes frames while isWriting is true, so the frames stay in the outbox
	b := &browser{id: "b1", runTable: runTable{hub: h, link: l, runs: map[string]*toolRun{}}}
	request := dispatch.Run{
		ID: "call_1", Plugin: "chat", Tool: "export", Args: json.RawMessage(`{"text":"hello"}`), MaxResultBytes: 1 << 20,
		Target: dispatch.Target{Browser: "b1", TabID: 7, DocumentID: "d7"},
	}
	responseFrame := wire.AppendResult(nil, request.ID, []byte(`{"output":{"text":"hello"}}`))
	sink := &finishCountingSink{}
	alloctest.Check(t, "one run", 4, 3, func() {
		r := request
		if err := b.runTable.startRun(&r, encodeRun(&r, false), sink, true); err != nil {
			t.Fatal(err.Message)
		}
		l.inbox.handleFrame(b, responseFrame)
		l.outbox.frames, l.outbox.waitingBytes = l.outbox.frames[:0], 0
	})
	if sink.finishCount == 0 {
		t.Error("the sink received no end of the run, want one")
	}
}

func TestProgressAllocations(t *testing.T) {
	h := New(Options{Key: testKey})
	defer h.Close()
	l := newLink(h, nil, nil)
	b := &browser{id: "b1", runTable: runTable{hub: h, runs: map[string]*toolRun{"call_1": {sink: make(callErrorSink, 1)}}}}
	frame := []byte(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"call_1","reports":[{"progress":1,"total":2,"message":"page"}]}}`)
	alloctest.Check(t, "one progress frame", 12, 4, func() { l.inbox.handleFrame(b, frame) })
}
