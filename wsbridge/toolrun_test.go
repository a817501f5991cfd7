package wsbridge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/wire"
)

func (w *hubFixture) startRunWithArgs(args string) *wire.CallError {
	return w.hub.Start(w.t.Context(), dispatch.Run{
		ID: "c1", Plugin: "chat", Tool: "export", Args: json.RawMessage(args),
		Target: dispatch.Target{Browser: "b1", TabID: 7, DocumentID: "d7"},
	}, sink{w, "c1"})
}

func TestTracedRunRecordsHops(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		trace := hops.FromContext(hops.NewContext(t.Context()))
		w.advanceTime(time.Second)
		r := dispatch.Run{ID: "c1", Plugin: "chat", Tool: "export", Trace: trace, Target: dispatch.Target{Browser: "b1", TabID: 7, DocumentID: "d7"}}
		if err := w.hub.Start(t.Context(), r, sink{w, "c1"}); err != nil {
			t.Fatal(err)
		}
		frame := strings.Join(p.readFrames(), "\n")
		if strings.Count(frame, `"trace":true`) != 1 {
			t.Errorf("frame that the browser received = %s, want one traced call", frame)
		}
		w.advanceTime(time.Second)
		p.sendFrame(`{"jsonrpc":"2.0","id":"c1","result":{"output":7,"hops":{"workerInUs":10,"documentUs":20,"workerOutUs":30,` +
			`"page":{"bridgeInUs":1,"hostInUs":2,"schemaUs":3,"handlerUs":4,"resultUs":5}}}}`)
		w.wantEvents("c1 returned 7")
		var stations []string
		for _, hop := range trace.Hops() {
			stations = append(stations, hop.Stage)
		}
		want := "hub websocket worker port bridge host schema handler result port worker websocket"
		if got := strings.Join(stations, " "); !strings.HasPrefix(got, want) {
			t.Errorf("stages in the trace = %s, want %s", got, want)
		}
		w.run("b1", "c2")
		if frame := strings.Join(p.readFrames(), "\n"); strings.Contains(frame, "trace") {
			t.Errorf("the browser received %s for a run that is not traced, want no trace in it", frame)
		}
		p.sendFrame(`{"jsonrpc":"2.0","id":"c2","result":{"output":8,"hops":"forged"}}`)
		w.wantEvents("c2 returned 8")
	})
}

func TestTracedRunFails(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		trace := hops.FromContext(hops.NewContext(t.Context()))
		w.advanceTime(time.Second)
		r := dispatch.Run{ID: "c1", Plugin: "chat", Tool: "export", Trace: trace, Target: dispatch.Target{Browser: "b1", TabID: 7, DocumentID: "d7"}}
		if err := w.hub.Start(t.Context(), r, sink{w, "c1"}); err != nil {
			t.Fatal(err)
		}
		w.advanceTime(time.Second)
		p.sendFrame(`{"jsonrpc":"2.0","id":"c1","error":{"code":-32000,"message":"no","data":{"code":"tool_error","message":"no"},` +
			`"hops":{"workerInUs":10,"documentUs":20,"workerOutUs":30,"page":{"bridgeInUs":1,"hostInUs":2,"schemaUs":3,"handlerUs":4,"resultUs":5}}}}`)
		w.wantEvents("c1 failed tool_error: no")
		if !slices.ContainsFunc(trace.Hops(), func(h hops.Hop) bool { return h.Stage == "handler" && h.Us == 4 }) {
			t.Errorf("hops of the trace = %v, want 4 µs in the handler", trace.Hops())
		}
	})
}

func TestStartRejectsInvalidTargets(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		want := func(err *wire.CallError, code wire.ErrorCode, errorMessage string) {
			t.Helper()
			if err == nil || err.Code != code || err.Message != errorMessage {
				t.Errorf("error of Start = %+v, want %s: %s", err, code, errorMessage)
			}
		}
		want(w.startTestRun("b2", "c1", 0), wire.ErrBrowserLost, `the browser "Chrome" is not connected`)
		w.run("b1", "c1")
		want(w.startTestRun("b1", "c1", 0), wire.ErrInternal, "a run with this ID already exists")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":{"tabId":7,"documentId":"d8"}}}`)
		p.readFrames()
		want(w.startTestRun("b1", "c2", 0), wire.ErrNavigated, "the tab navigated to another document")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7}}`)
		p.readFrames()
		want(w.startTestRun("b1", "c2", 0), wire.ErrNavigated, "the tab navigated to another document")
		p.closeAbruptly()
		w.advanceTime(10 * time.Second)
		want(w.startTestRun("b1", "c2", 0), wire.ErrBrowserLost, `the browser "Chrome" is not connected`)
		w.wantEvents("c1 " + linkLostMessage)
	})
}

func TestRunStartedWhileDisconnectedIsSentAfterReconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot1").closeAbruptly()
		w.advanceTime(9 * time.Second)
		w.run("b1", "c1")
		p := w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, newDispatchFrame("c1"), emptySyncFrame)
		w.advanceTime(time.Minute) // a call that was sent after the reconnect continues even if the browser does not list it
		w.wantEvents()
		p.closeAbruptly()
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, strings.Replace(newDispatchFrame("c1"), `,"args"`, `,"again":true,"args"`, 1), emptySyncFrame)
		p.respond("c1", "1")
		w.wantEvents("c1 returned 1")
	})
}

func TestNoCallStartsInRemovedBrowser(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot1").closeAbruptly()
		b := w.hub.registry.findBrowser("b1")
		w.advanceTime(10 * time.Second)
		r := dispatch.Run{ID: "c1", Target: dispatch.Target{TabID: 7, DocumentID: "d7"}}
		if err := b.startRun(&r, nil, sink{w, "c1"}); err == nil || err.Code != wire.ErrBrowserLost {
			t.Errorf("error of Start = %v, want browser_lost", err)
		}
	})
}

func TestStartWithoutDocumentFails(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":{"tabId":7}}}`)
		p.readFrames()
		err := w.hub.Start(w.t.Context(), dispatch.Run{ID: "c1", Target: dispatch.Target{Browser: "b1", TabID: 7}}, sink{w, "c1"})
		if err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("error of Start = %v, want navigated", err)
		}
	})
}

// If a call was never sent, the dispatcher can safely retry the call in another browser.
func TestUnsentRunEndsAsNotStarted(t *testing.T) {
	formatNotStartedEvent := func(outcomeText string) string { return "c1 " + strings.Replace(outcomeText, ":", ", not started:", 1) }
	tests := []struct {
		name    string
		runStep func(w *hubFixture)
		want    string
	}{
		{"the browser does not reconnect", func(w *hubFixture) { w.advanceTime(10 * time.Second) }, formatNotStartedEvent(linkLostMessage)},
		{"the browser restarts", func(w *hubFixture) { w.connectBrowser("b1", "boot2") }, formatNotStartedEvent(restartedBrowserMessage)},
		{"the call is cancelled", func(w *hubFixture) { w.cancel("c1"); w.connectBrowser("b1", "boot1") }, "c1 stopped: aborted"},
		{"the hub is closed", func(w *hubFixture) { w.hub.Close() }, formatNotStartedEvent("failed shutdown: the server is stopping")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testWithHub(t, Options{}, func(w *hubFixture) {
				w.connectBrowser("b1", "boot1").closeAbruptly()
				w.run("b1", "c1")
				tt.runStep(w)
				w.wantEvents(tt.want)
				w.advanceTime(time.Minute)
				w.wantEvents()
			})
		})
	}
}

func TestCallCanRestartWithSameID(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.sendFrame(`{"jsonrpc":"2.0","id":"c1","error":{"code":-32000,"message":"m","data":{"code":"not_ready","message":"log in"}}}`)
		w.wantEvents("c1 failed not_ready: log in")
		w.run("b1", "c1")
		p.respond("c1", "1")
		w.wantEvents("c1 returned 1")
	})
}

func TestTooLargeArgumentsAreRejected(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot1")
		err := w.startRunWithArgs(`{"x":"` + strings.Repeat("x", wire.MaxFrameBytes) + `"}`)
		if err == nil || err.Code != wire.ErrInvalidArguments || !strings.Contains(err.Message, fmt.Sprint(wire.MaxFrameBytes)) {
			t.Errorf("error of Start = %+v, want invalid_arguments with the limit in its text", err)
		}
	})
}
