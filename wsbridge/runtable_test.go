package wsbridge

import (
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

func TestRunTableSendsAndEndsRuns(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		rt := &newBrowser(w.hub, "b1").runTable
		r := dispatch.Run{ID: "c1", MaxResultBytes: 10}
		if err := rt.startRun(&r, nil, make(callErrorSink, 1), false); err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("startRun in a closed document returned the error %v, want navigated", err)
		}
		runEnded := make(callErrorSink, 1)
		if err := rt.startRun(&r, nil, runEnded, true); err != nil || !rt.runs["c1"].isUnsent {
			t.Fatalf("startRun without a link returned the error %v, want nil and an unsent run", err)
		}
		l := newLink(w.hub, nil, nil)
		l.outbox.isWriting = true // no goroutine writes frames while isWriting is true, so the frames stay in the outbox
		runAll(rt.connect(l, nil))
		if len(l.outbox.frames) != 1 || rt.runs["c1"].isUnsent {
			t.Errorf("the outbox contains %d frames after connect, want 1", len(l.outbox.frames))
		}
		runAll(rt.close(inbound.NewInternalError("over")))
		if err := <-runEnded; err == nil || err.Message != "over" || rt.countRuns() != 0 {
			t.Errorf("the run ended with the error %v, and the table still has %d runs; want the error over and 0 runs", err, rt.countRuns())
		}
		if err := rt.startRun(&r, nil, runEnded, true); err == nil || err.Code != wire.ErrBrowserLost {
			t.Errorf("startRun after Close returned the error %v, want browser_lost", err)
		}
	})
}
