package wsbridge

import (
	"fmt"
	"testing"
	"time"
)

func TestCancelOutcomes(t *testing.T) {
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
		testWithHub(t, Options{}, func(w *hubFixture) {
			p := w.connectBrowser("b1", "boot1")
			w.run("b1", "c1")
			w.cancel("c1")
			p.wantFrames(newDispatchFrame("c1"), newCancelFrame("c1", "stop it"))
			w.wantEvents()
			for range 2 {
				p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"s/cancel/c1",%s}`, tt.cancelResponse)
			}
			w.wantEvents("c1 stopped: " + tt.want)
			p.respond("c1", "1")
			p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{}]}}`)
			w.advanceTime(time.Minute)
			w.wantEvents()
		})
	}
}

func TestUnansweredCancelTimesOut(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
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

func TestCancelOfUnknownRunReportsFinished(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
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

func TestCancelWhileDisconnectedIsSentOnce(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.closeAbruptly()
		w.cancel("c1")
		w.advanceTime(2 * time.Second)
		w.wantEvents("c1 stopped: ignored")
		w.advanceTime(7 * time.Second)
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, newCancelFrame("c1", "stop it"), emptySyncFrame)
		// The hub must not send a second tool.cancel for a call.
		p.closeAbruptly()
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, emptySyncFrame)
		w.wantEvents()
	})
}

func TestStopAnsweredAfterReconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		p.readFrames()
		p.closeAbruptly()
		w.advanceTime(time.Second)
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		p.wantFrames(helloResponse, newCancelFrame("c1", "stop it"), emptySyncFrame)
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents("c1 stopped: aborted")
	})
}

func TestCancelIsResentAfterReconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		p.readFrames()
		p.closeAbruptly()
		w.advanceTime(9 * time.Second)
		w.wantEvents("c1 stopped: ignored")
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, newCancelFrame("c1", "stop it"), emptySyncFrame)
	})
}

func TestCancelIsIgnoredAfterBrowserIsLost(t *testing.T) {
	testWithHub(t, Options{GracePeriod: time.Second}, func(w *hubFixture) {
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
	testWithHub(t, Options{}, func(w *hubFixture) {
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
				case newCancelFrame(id, "stop it"):
					if !startedRuns[id] {
						t.Errorf("the frame to stop %s came before the frame to start it, want the start first", id)
					}
				}
			}
		}
		if len(frames) != 2*runs || len(startedRuns) != runs {
			t.Errorf("the browser received %d frames and started %d runs, want %d and %d", len(frames), len(startedRuns), 2*runs, runs)
		}
	})
}
