package wsbridge

import (
	"fmt"
	"testing"
	"time"
)

func TestStalledBrowserIsDisconnected(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		release := make(chan struct{})
		p.stallReads(release)
		startTime := time.Now()
		for i := range 5 {
			w.run("b1", fmt.Sprint("c", i))
		}
		w.cancel("c0")
		if d := time.Since(startTime); d != 0 {
			t.Errorf("Start and Cancel returned after %v, want 0", d)
		}
		w.advanceTime(writeTimeout - time.Nanosecond)
		if b := w.hub.Browsers(); !b[0].Connected {
			t.Error("the link closed before the write timeout, want an open link")
		}
		w.wantEvents("c0 stopped: ignored")
		w.advanceTime(time.Nanosecond)
		if b := w.hub.Browsers(); b[0].Connected {
			t.Error("the blocked link is still open, want it closed")
		}
		w.advanceTime(10 * time.Second)
		if got := w.readEvents(); len(got) != 4 {
			t.Errorf("events = %q, want the ends of four runs", got)
		}
		close(release)
	})
}

func TestOutboxIsBounded(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		release := make(chan struct{})
		p.stallReads(release)
		l := w.getOnlyLink()
		l.postFrame(make([]byte, maxWaitingBytes/2))
		l.postFrame(make([]byte, maxWaitingBytes/2))
		w.readEvents()
		if b := w.hub.Browsers(); !b[0].Connected {
			t.Error("the link closed before its limit, want an open link")
		}
		l.postFrame([]byte("x"))
		w.readEvents()
		if b := w.hub.Browsers(); b[0].Connected {
			t.Error("the blocked link is still open, want it closed")
		}
		close(release)
	})
}
