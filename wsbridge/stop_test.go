package wsbridge

import (
	"fmt"
	"testing"
	"time"
)

func TestStopOutcomes(t *testing.T) {
	tests := []struct {
		answer string
		want   string
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
		inWorld(t, Options{}, func(w *world) {
			p := w.browser("b1", "boot1")
			w.run("b1", "c1")
			w.cancel("c1")
			p.wantFrames(dispatchFrame("c1"), cancelText("c1", "stop it"))
			w.wantEvents()
			for range 2 { // exactly once
				p.sendf(`{"jsonrpc":"2.0","id":"s/cancel/c1",%s}`, tt.answer)
			}
			w.wantEvents("c1 stopped: " + tt.want)
			p.answer("c1", "1") // the run is gone
			p.send(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{}]}}`)
			w.pass(time.Minute)
			w.wantEvents()
		})
	}
}

func TestStopNotAnswered(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		w.pass(2*time.Second - time.Nanosecond)
		w.wantEvents()
		w.pass(time.Nanosecond)
		w.wantEvents("c1 stopped: ignored")
		p.send(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents()
	})
}

func TestStopUnknown(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.cancel("c1")
		w.wantEvents("c1 stopped: finished")
		p := w.browser("b1", "boot1")
		w.run("b1", "c2")
		p.readFrames()
		p.answer("c2", "1")
		w.wantEvents("c2 returned 1")
		w.cancel("c2")
		w.wantEvents("c2 stopped: finished")
		p.wantFrames()
	})
}

// TestStopWhileAway: a stop made while the link is lost is answered in time,
// and the page hears of it on the return.
func TestStopWhileAway(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "c1")
		p.drop()
		w.cancel("c1")
		w.pass(2 * time.Second)
		w.wantEvents("c1 stopped: ignored")
		w.pass(7 * time.Second)
		p = w.dial()
		p.hello("b1", "boot1")
		p.wantFrames(helloOK, cancelText("c1", "stop it"), syncNil)
		// It receives one tool.cancel, though the browser lists the call too.
		p.drop()
		p = w.dial()
		p.hello("b1", "boot1")
		p.wantFrames(helloOK, syncNil)
		w.wantEvents()
	})
}

// TestStopAnsweredAfterReturn: a link that is lost right after a stop was sent
// may have lost the stop too, so it is sent again; its answer still counts.
func TestStopAnsweredAfterReturn(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		p.readFrames()
		p.drop()
		w.pass(time.Second)
		p = w.dial()
		p.hello("b1", "boot1")
		p.send(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		p.wantFrames(helloOK, cancelText("c1", "stop it"), syncNil)
		p.send(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents("c1 stopped: aborted")
	})
}

// TestStopLostWithItsLink: a stop that was sent but not answered before the
// link was lost is sent again, however late the return.
func TestStopLostWithItsLink(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "c1")
		w.cancel("c1")
		p.readFrames()
		p.drop()
		w.pass(9 * time.Second)
		w.wantEvents("c1 stopped: ignored")
		p = w.dial()
		p.hello("b1", "boot1")
		p.wantFrames(helloOK, cancelText("c1", "stop it"), syncNil)
	})
}

// TestStopsOfLostBrowser: unanswered stops are settled once.
func TestStopsOfLostBrowser(t *testing.T) {
	inWorld(t, Options{Grace: time.Second}, func(w *world) {
		p := w.browser("b1", "boot1")
		w.run("b1", "c1")
		p.drop()
		w.cancel("c1")
		w.pass(time.Second)
		w.wantEvents("c1 stopped: ignored")
		w.pass(time.Minute)
		w.wantEvents()
	})
}

// TestStopNeverOvertakes: however many runs start and stop at once, the page
// hears of a stop after it has heard of the run.
func TestStopNeverOvertakes(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		const runs = 200
		for i := range runs {
			id := fmt.Sprint("c", i)
			go func() {
				w.run("b1", id)
				w.cancel(id)
			}()
		}
		started := map[string]bool{}
		frames := p.readFrames()
		for _, f := range frames {
			for i := range runs {
				id := fmt.Sprint("c", i)
				switch f {
				case dispatchFrame(id):
					started[id] = true
				case cancelText(id, "stop it"):
					if !started[id] {
						t.Errorf("%s was stopped before it was started", id)
					}
				}
			}
		}
		if len(frames) != 2*runs || len(started) != runs {
			t.Errorf("%d frames, %d runs started; want %d and %d", len(frames), len(started), 2*runs, runs)
		}
	})
}
