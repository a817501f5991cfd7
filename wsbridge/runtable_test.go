package wsbridge

import (
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

func TestRunTable(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		rt := &newBrowser(w.hub, "b1").runTable
		r := dispatch.Run{ID: "c1", MaxResultBytes: 10}
		if err := rt.startRun(&r, nil, make(endSink, 1), false); err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("startRun in a closed document returned %v", err)
		}
		runEnded := make(endSink, 1)
		if err := rt.startRun(&r, nil, runEnded, true); err != nil || !rt.runs["c1"].isUnsent {
			t.Fatalf("startRun without a link returned %v", err)
		}
		l := newLink(w.hub, nil, nil)
		l.outbox.isWriting = true // no goroutine writes frames while isWriting is true, so the frames stay in the outbox
		callAll(rt.connect(l, nil))
		if len(l.outbox.frames) != 1 || rt.runs["c1"].isUnsent {
			t.Errorf("%d frames after connect, want 1", len(l.outbox.frames))
		}
		callAll(rt.close(inbound.NewInternalError("over")))
		if err := <-runEnded; err == nil || err.Message != "over" || rt.countRuns() != 0 {
			t.Errorf("the run ended with %v, and the table still has %d runs", err, rt.countRuns())
		}
		if err := rt.startRun(&r, nil, runEnded, true); err == nil || err.Code != wire.ErrBrowserLost {
			t.Errorf("startRun after Close returned %v", err)
		}
	})
}
