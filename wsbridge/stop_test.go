package wsbridge

import (
	"fmt"
	"testing"
	"time"
)

func TestStopOutcomes(t *testing.T) {
	tests := []struct {
		cancelResponse string
		want           string
	}{
		{`"result":{"outcome":"aborted"}`, "aborted"},
		{`"result":{"outcome":"finished"}`, "finished"},
		{`"result":{"outcome":"ignored"}`, "ignored"},
		{`"result":{"outcome":"exploded"}`, "ignored"},
		{`"result":{"outcome":7}`, "ignored"},
		{`"result":null`, "ignored"},
		{`"error":{"code":-32601,"message":"what?"}`, "ignored"},
	}
	for _, tt := range tests {
		withHub(t, Options{}, func(w *hubFixture) {
			p := w.connectBrowser("b1", "boot1")
			w.run("b1", "c1")
			w.cancel("c1")
			p.wantFrames(newDispatchFrame("c1"), newCancelText("c1", "stop it"))
			w.wantEvents()
			for range 2 {
				p.sendFormat(`{"jsonrpc":"2.0","id":"s/cancel/c1",%s}`, tt.cancelResponse)
			}
			w.wantEvents("c1 stopped: " + tt.want)
			p.respond("c1", "1")
			p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{}]}}`)
			w.advanceTime(time.Minute)
			w.wantEvents()
		})
	}
}

func TestStopNotAnswered(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		w.advanceTime(2*time.Second - time.Nanosecond)
		w.wantEvents()
		w.advanceTime(time.Nanosecond)
		w.wantEvents("c1 stopped: ignored")
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents()
	})
}

func TestStopUnknown(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		w.cancel("c1")
		w.wantEvents("c1 stopped: finished")
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c2")
		p.readFrames()
		p.respond("c2", "1")
		w.wantEvents("c2 returned 1")
		w.cancel("c2")
		w.wantEvents("c2 stopped: finished")
		p.wantFrames()
	})
}

func TestStopWhileDisconnected(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.closeAbruptly()
		w.cancel("c1")
		w.advanceTime(2 * time.Second)
		w.wantEvents("c1 stopped: ignored")
		w.advanceTime(7 * time.Second)
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloOK, newCancelText("c1", "stop it"), syncNil)
		// The hub must not send a second tool.cancel for a call.
		p.closeAbruptly()
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloOK, syncNil)
		w.wantEvents()
	})
}

func TestStopAnsweredAfterReconnect(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		p.readFrames()
		p.closeAbruptly()
		w.advanceTime(time.Second)
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		p.wantFrames(helloOK, newCancelText("c1", "stop it"), syncNil)
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents("c1 stopped: aborted")
	})
}

func TestStopLostWithItsLink(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		p.readFrames()
		p.closeAbruptly()
		w.advanceTime(9 * time.Second)
		w.wantEvents("c1 stopped: ignored")
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloOK, newCancelText("c1", "stop it"), syncNil)
	})
}

func TestStopsOfLostBrowser(t *testing.T) {
	withHub(t, Options{GracePeriod: time.Second}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.closeAbruptly()
		w.cancel("c1")
		w.advanceTime(time.Second)
		w.wantEvents("c1 stopped: ignored")
		w.advanceTime(time.Minute)
		w.wantEvents()
	})
}

func TestCancelFollowsDispatch(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		const runs = 200
		for i := range runs {
			id := fmt.Sprint("c", i)
			go func() {
				w.run("b1", id)
				w.cancel(id)
			}()
		}
		startedRuns := map[string]bool{}
		frames := p.readFrames()
		for _, f := range frames {
			for i := range runs {
				id := fmt.Sprint("c", i)
				switch f {
				case newDispatchFrame(id):
					startedRuns[id] = true
				case newCancelText(id, "stop it"):
					if !startedRuns[id] {
						t.Errorf("%s was stopped before it was started", id)
					}
				}
			}
		}
		if len(frames) != 2*runs || len(startedRuns) != runs {
			t.Errorf("%d frames, %d runs started; want %d and %d", len(frames), len(startedRuns), 2*runs, runs)
		}
	})
}
