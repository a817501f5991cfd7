package wsbridge

import (
	"fmt"
	"testing"
	"time"
)

func TestStalledBrowser(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		release := make(chan struct{})
		p.stall(release)
		startTime := time.Now()
		for i := range 5 {
			w.run("b1", fmt.Sprint("c", i))
		}
		w.cancel("c0")
		if d := time.Since(startTime); d != 0 {
			t.Errorf("Start and Cancel took %v; want 0", d)
		}
		w.advanceTime(writeTimeout - time.Nanosecond)
		if b := w.hub.Browsers(); !b[0].Connected {
			t.Error("the link was closed too early")
		}
		w.wantEvents("c0 stopped: ignored")
		w.advanceTime(time.Nanosecond)
		if b := w.hub.Browsers(); b[0].Connected {
			t.Error("the blocked link was not closed")
		}
		w.advanceTime(10 * time.Second)
		if got := w.readEvents(); len(got) != 4 {
			t.Errorf("events %q, want four runs that ended", got)
		}
		close(release)
	})
}

func TestOutboxIsBounded(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		release := make(chan struct{})
		p.stall(release)
		l := w.onlyLink()
		l.postFrame(make([]byte, maxWaitingBytes/2))
		l.postFrame(make([]byte, maxWaitingBytes/2))
		w.readEvents()
		if b := w.hub.Browsers(); !b[0].Connected {
			t.Error("the link was closed too early")
		}
		l.postFrame([]byte("x"))
		w.readEvents()
		if b := w.hub.Browsers(); b[0].Connected {
			t.Error("the blocked link was not closed")
		}
		close(release)
	})
}
