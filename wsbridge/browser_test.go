package wsbridge

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	linkLostMessage         = "failed link_lost: the link to the browser was lost and did not come back within 10s"
	unknownCallMessage      = "failed link_lost: the link to the browser was lost, and the reconnected browser no longer has the call"
	restartedBrowserMessage = "failed browser_lost: the browser or its extension restarted"
)

func TestRunReportsAndReturnsResult(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.wantFrames(newDispatchFrame("c1"))
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"progress":1,"total":2,"message":"half"}],"skipped":3}}`)
		p.respond("c1", `{"id":9007199254740993,"f":1.10}`)
		w.wantEvents(`c1 reports [{"progress":1,"total":2,"message":"half"}] skipped 3`,
			`c1 returned {"id":9007199254740993,"f":1.10}`)
	})
}

func TestCallsFailAfterGracePeriod(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.closeAbruptly()
		w.advanceTime(10*time.Second - time.Nanosecond)
		w.wantEvents()
		w.advanceTime(time.Nanosecond)
		w.wantEvents("c1 " + linkLostMessage)
		if got := w.hub.Browsers(); len(got) != 0 {
			t.Errorf("connected browsers = %+v, want none", got)
		}
	})
}

func TestResultIsDeliveredAfterReconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.closeAbruptly()
		w.advanceTime(10*time.Second - time.Nanosecond)
		p = w.connectBrowser("b1", "boot1")
		p.respond("c1", `"kept"`)
		w.wantEvents(`c1 returned "kept"`)
		w.advanceTime(time.Minute)
		w.wantEvents()
	})
}

// After a reconnect, calls in the browser's list of running calls continue. Calls that the browser had confirmed but
// does not list after the reconnect fail after the grace period. If a browser lists a call that the server no longer
// has, the call is stopped in its page.
func TestRunsResumeAfterReconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		for _, id := range []string{"named", "reports", "answers", "parts", "forgotten"} {
			w.run("b1", id)
			p.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":%q}}`, id)
		}
		w.readEvents()
		p.closeAbruptly()
		w.advanceTime(4 * time.Second)
		p = w.connectBrowser("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["named","unknown"]}}`)
		p.wantFrames(newCancelFrame("unknown", "the server no longer has this call"))
		w.advanceTime(9 * time.Second)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"reports","reports":[{}]}}`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"parts","seq":0,"text":"12"}}`)
		p.respond("answers", "1")
		w.wantEvents("reports reports [{}] skipped 0", "answers returned 1")
		w.advanceTime(time.Second - time.Nanosecond)
		w.wantEvents()
		w.advanceTime(time.Nanosecond)
		w.wantEvents("forgotten " + unknownCallMessage)
		w.advanceTime(time.Hour)
		w.wantEvents()
		p.respond("named", "2")
		w.wantEvents("named returned 2")
	})
}

func TestUnconfirmedRunsAreResentAfterReconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		resentFrame := func(id string) string {
			return strings.Replace(newDispatchFrame(id), `,"args"`, `,"again":true,"args"`, 1)
		}
		for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
			w.run("b1", id)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c2"}}`)
		p.respond("c4", "4")
		p.readFrames()
		p.closeAbruptly()
		w.run("b1", "held")
		w.readEvents()
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, resentFrame("c1"), resentFrame("c3"), resentFrame("c5"), newDispatchFrame("held"), emptySyncFrame)
		w.advanceTime(9 * time.Second)
		p.closeAbruptly()
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.wantFrames(helloResponse, resentFrame("c1"), resentFrame("c3"), resentFrame("c5"), resentFrame("held"), emptySyncFrame)
		w.advanceTime(time.Minute)
		w.wantEvents("c2 " + unknownCallMessage)
	})
}

func TestSinkReceivesLinkState(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.closeAbruptly()
		w.run("b1", "c2")
		w.connectBrowser("b1", "boot1")
		w.mu.Lock()
		defer w.mu.Unlock()
		slices.Sort(w.links[2:])
		if got, want := strings.Join(w.links, ", "), "c1 lost, c2 lost, c1 back, c2 back"; got != want {
			t.Errorf("links of the browser = %s, want %s", got, want)
		}
	})
}

func TestEachLostLinkGetsGracePeriod(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		for range 3 {
			p.closeAbruptly()
			w.advanceTime(9 * time.Second)
			p = w.connectBrowser("b1", "boot1")
			w.advanceTime(9 * time.Second)
		}
		w.wantEvents()
		p.closeAbruptly()
		w.advanceTime(10 * time.Second)
		w.wantEvents("c1 " + linkLostMessage)
	})
}

// The server must ignore the later end of the replaced connection.
func TestLinkReplacedByNewLink(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		q := w.connectBrowser("b1", "boot1")
		if got := p.awaitClose(); got != `close 4002 "replaced by a newer connection of this browser"` {
			t.Errorf("the old connection ended with %s; want %q", got, `close 4002 "replaced by a newer connection of this browser"`)
		}
		q.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		w.advanceTime(time.Minute)
		w.wantEvents()
		q.respond("c1", "1")
		w.wantEvents("c1 returned 1")
		w.run("b1", "c2")
		q.wantFrames(newDispatchFrame("c2"))
	})
}

// TestReplacedUnresponsiveLinkIsClosed checks that a replaced connection is closed after 1 s if the
// browser does not answer the WebSocket close frame.
func TestReplacedUnresponsiveLinkIsClosed(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.dial()
		p.sendHello("b1", "boot1")
		p.readFrames()
		release := make(chan struct{})
		p.stallReads(release)
		w.connectBrowser("b1", "boot1")
		w.advanceTime(closeTimeout)
		w.hub.registry.mu.Lock()
		n := len(w.hub.registry.openLinksSet)
		w.hub.registry.mu.Unlock()
		if n != 1 {
			t.Errorf("the hub serves %d connections, want 1", n)
		}
		close(release)
	})
}

func TestRestartedBrowserEndsRuns(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		w.run("b1", "c2")
		p.readFrames()
		w.cancel("c2")
		p.closeAbruptly()
		w.connectBrowser("b1", "boot1").closeAbruptly()
		q := w.dial()
		q.sendHello("b1", "boot2")
		q.wantFrames(helloResponse, emptySyncFrame)
		w.wantEvents("c1 "+restartedBrowserMessage, "c2 stopped: ignored")
		if err := w.startTestRun("b1", "c3", 0); err == nil || err.Code != "navigated" {
			t.Errorf("error of a run in a document from before the restart = %v, want navigated", err)
		}
		w.advanceTime(time.Minute)
		w.wantEvents()
	})
}

func TestCopiedProfileGetsItsOwnBrowserID(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "original")
		w.run("b1", "c1")
		q := w.connectBrowser("b1", "copycopycopy")
		w.advanceTime(time.Minute)
		if p.awaitClose() != "" || q.awaitClose() != "" {
			t.Errorf("the link of the original ended with %q and the link of the copy with %q, want both open", p.awaitClose(), q.awaitClose())
		}
		got := w.hub.Browsers()
		if len(got) != 2 || got[0].ID != "b1" || got[1].ID != "b1~copycopy" {
			t.Errorf("connected browsers = %+v, want b1 and b1~copycopy", got)
		}
		w.run("b1~copycopy", "c2")
		p.wantFrames(newDispatchFrame("c1"))
		q.wantFrames(newDispatchFrame("c2"))
		p.closeAbruptly()
		q.closeAbruptly()
		q = w.connectBrowser("b1", "copycopycopy")
		q.respond("c2", "2")
		w.wantEvents("c2 returned 2")
		p = w.connectBrowser("b1", "original")
		p.respond("c1", "1")
		w.wantEvents("c1 returned 1")
	})
}

func TestBrowsersAreIndependent(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p, q := w.connectBrowser("b1", "boot1"), w.connectBrowser("b2", "boot2")
		w.run("b1", "c1")
		p.wantFrames(newDispatchFrame("c1"))
		q.wantFrames()
		q.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"c1","reports":[{"message":"forged"}]}}`)
		q.sendFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"c1","seq":0,"text":"1"}}`)
		q.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["c1"]}}`)
		q.respond("c1", `"forged"`)
		q.sendFrame(`{"jsonrpc":"2.0","id":"c1","error":{"code":-32000,"message":"x","data":{"code":"cancelled","message":"x"}}}`)
		q.wantFrames(newCancelFrame("c1", "the server no longer has this call"))
		w.wantEvents()
		w.cancel("c1")
		q.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents()
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/c1","result":{"outcome":"aborted"}}`)
		w.wantEvents("c1 stopped: aborted")
	})
}

func TestHubCloseEndsAllRuns(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p, q := w.connectBrowser("b1", "boot1"), w.connectBrowser("b2", "boot2")
		w.run("b1", "c1")
		w.run("b2", "c2")
		q.closeAbruptly()
		startTime := time.Now()
		w.hub.Close()
		if d := time.Since(startTime); d > closeTimeout {
			t.Errorf("Close returned after %v, want at most %v", d, closeTimeout)
		}
		got := w.readEvents()
		if len(got) != 2 || strings.Count(strings.Join(got, " "), "failed shutdown: the server is stopping") != 2 {
			t.Errorf("events of the runs = %q, want two runs that ended with shutdown", got)
		}
		if e := p.awaitClose(); e != `close 1001 "opentabs is stopping"` {
			t.Errorf("the connection ended with %s; want %q", e, `close 1001 "opentabs is stopping"`)
		}
		if err := w.startTestRun("b1", "c3", 0); err == nil || err.Code != "browser_lost" {
			t.Errorf("Start after Close returned the error %v, want browser_lost", err)
		}
		if e := w.open(browserNonce).awaitClose(); e != `close 1001 "opentabs is stopping"` {
			t.Errorf("a connection after Close ended with %s; want %q", e, `close 1001 "opentabs is stopping"`)
		}
		w.hub.Close()
	})
}

func TestCloseWithStalledBrowser(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		release := make(chan struct{})
		p.stallReads(release)
		w.run("b1", "c1")
		startTime := time.Now()
		w.hub.Close()
		if d := time.Since(startTime); d > closeTimeout {
			t.Errorf("Close returned after %v, want at most %v", d, closeTimeout)
		}
		w.wantEvents("c1 failed shutdown: the server is stopping")
		close(release)
	})
}

func TestStaleGracePeriodTimerIsIgnored(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		b := w.hub.registry.findBrowser("b1")
		p.closeAbruptly()
		linkGeneration := b.linkGeneration
		w.connectBrowser("b1", "boot1")
		w.hub.registry.removeLostBrowser(b, linkGeneration)
		oldGeneration := b.runTable.generation
		w.connectBrowser("b1", "boot1")
		b.runTable.endUnresumedRuns(oldGeneration)
		w.wantEvents()
		if got := w.hub.Browsers(); len(got) != 1 || got[0].RunCount != 1 {
			t.Errorf("listed browsers = %+v, want one browser with one run", got)
		}
	})
}
