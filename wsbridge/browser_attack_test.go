package wsbridge

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// attackFixture is a hub to which two browsers are connected, one of which attacks.
type attackFixture struct {
	*hubFixture
	otherBrowser, attackingBrowser *browserPeer
	log                            *warningCollector
}

type warningCollector struct{ lines []string }

// warningCollector needs no lock, because the attack tests read one connection at a time.
func (c *warningCollector) Write(p []byte) (int, error) {
	if strings.Contains(string(p), `"level":"warn"`) || strings.Contains(string(p), `"level":"error"`) {
		c.lines = append(c.lines, string(p))
	}
	return len(p), nil
}

func testAttack(t *testing.T, name string, do func(w *attackFixture)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		log := &warningCollector{}
		testWithHub(t, Options{Log: zerolog.New(log)}, func(w *hubFixture) {
			two := &attackFixture{hubFixture: w, otherBrowser: w.connectBrowser("good", "boot1"), attackingBrowser: w.connectBrowser("bad", "boot2"), log: log}
			w.run("good", "good")
			w.run("bad", "own")
			two.otherBrowser.readFrames()
			two.attackingBrowser.readFrames()
			do(two)
			for _, event := range w.readEvents() {
				if strings.HasPrefix(event, "good ") {
					t.Errorf("the good browser's call received the event %q, want no event from an attack", event)
				}
			}
			for _, frame := range two.otherBrowser.readFrames() {
				t.Errorf("the good browser received the frame %s, want no frame", frame)
			}
			two.otherBrowser.respond("good", `"its own"`)
			if got := strings.Join(w.readEvents(), "\n"); !strings.Contains(got, `good returned "its own"`) {
				t.Errorf("the good browser's call ended with %q; want a text that contains %q", got, `good returned "its own"`)
			}
			if n := len(log.lines); n > 6 {
				t.Errorf("the log has %d lines, want at most 6: %s", n, log.lines)
			}
		})
	})
}

func (w *attackFixture) checkClosed(code int) {
	w.t.Helper()
	if got := w.attackingBrowser.awaitClose(); !strings.HasPrefix(got, fmt.Sprintf("close %d ", code)) {
		w.t.Errorf("the link of the bad browser ended with %q, want the close code %d", got, code)
	}
}

func (w *attackFixture) checkConnected() {
	w.t.Helper()
	if got := w.attackingBrowser.awaitClose(); got != "" {
		w.t.Errorf("the link of the bad browser ended with %q, want an open link", got)
	}
}

// TestAttackByBrowser attacks the server from a compromised browser, which has the shared key. No
// attack by one browser may affect the server or the calls of other browsers.
func TestAttackByBrowser(t *testing.T) {
	testAttack(t, "progress for another browser's call", func(w *attackFixture) {
		for range 1000 {
			w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"good","reports":[{"progress":1,"total":1,"message":"forged"}]}}`)
		}
		w.checkConnected()
	})
	testAttack(t, "a result, an error and result parts for another browser's call", func(w *attackFixture) {
		w.attackingBrowser.respond("good", `"forged"`)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"good","seq":0,"text":"\"forged\""}}`)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"good","result":{"parts":1}}`)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"good","error":{"code":-32000,"message":"m","data":{"code":"tab_closed","message":"forged"}}}`)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"good","result":not json`)
		w.checkConnected()
	})
	testAttack(t, "the answer to a stop of another browser's call", func(w *attackFixture) {
		w.run("good", "stopped")
		w.cancel("stopped")
		w.otherBrowser.readFrames()
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/stopped","result":{"outcome":"finished"}}`)
		w.wantEvents()
		w.otherBrowser.sendFrame(`{"jsonrpc":"2.0","id":"s/cancel/stopped","result":{"outcome":"aborted"}}`)
		w.wantEvents("stopped stopped: aborted")
	})
	testAttack(t, "a list of resumed calls that the browser never had", func(w *attackFixture) {
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["good","never","never","own","s/1","` + strings.Repeat("x", 200) + `","a b","` + "\u202e" + `"]}}`)
		w.readEvents()
		w.checkConnected()
		// The attacker's browser reports calls that it does not run, and receives a tool.cancel for
		// each of them.
		w.attackingBrowser.wantFrames(newCancelFrame("good", "the server no longer has this call"), newCancelFrame("never", "the server no longer has this call"),
			newCancelFrame("never", "the server no longer has this call"), newCancelFrame("s/1", "the server no longer has this call"))
	})
	testAttack(t, "requests in the name of another browser's call, and their withdrawal", func(w *attackFixture) {
		w.otherBrowser.sendToolRequest("good", nestedCallParams(1))
		w.wantEvents(toolRequestFrame("good", 1))
		for n := range 1000 {
			w.attackingBrowser.sendToolRequest("good", nestedCallParams(n+2))
		}
		w.attackingBrowser.sendToolRequest("good", `"ask":1,"withdrawn":true`)
		w.hub.Answer("good", 1, []byte("1"), nil)
		w.otherBrowser.wantFrames(answerText("good", 1, `,"output":1`))
		w.attackingBrowser.confirmToolRequest("good", 1, true)
		w.attackingBrowser.wantFrames()
		w.otherBrowser.sendToolRequest("good", nestedCallParams(1))
		w.otherBrowser.wantFrames(answerText("good", 1, `,"output":1`))
		w.checkConnected()
	})
	testAttack(t, "20,000 requests of a tool, whose answers the browser never confirms", func(w *attackFixture) {
		largeAnswer := []byte(`"` + strings.Repeat("x", wire.MaxAnswerBytes-2) + `"`)
		var statsBefore, statsAfter runtime.MemStats
		runtime.ReadMemStats(&statsBefore)
		for n := range 20_000 {
			w.attackingBrowser.sendToolRequest("own", nestedCallParams(n+1))
			if n%1000 == 0 {
				w.attackingBrowser.readFrames()
			}
			if n < maxOpenRequests {
				w.readEvents()
				w.hub.Answer("own", n+1, largeAnswer, nil)
				w.attackingBrowser.readFrames()
				w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","id":"s/answer/%d/own","error":{"code":-32603,"message":"no"}}`, n+1)
			}
		}
		w.readEvents()
		runtime.GC()
		runtime.ReadMemStats(&statsAfter)
		if heapGrowth := int64(statsAfter.HeapAlloc) - int64(statsBefore.HeapAlloc); heapGrowth > 2*maxStoredAnswerBytes {
			t.Errorf("the server uses %d MiB for the bad browser, want at most %d MiB", heapGrowth>>20, 2*maxStoredAnswerBytes>>20)
		}
		w.checkConnected()
	})
	testAttack(t, "thousands of malformed decisions and permissions", func(w *attackFixture) {
		for range 2000 {
			w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"call.decide","params":{"callId":"good","ticketId":""}}`)
			w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"config.permission","params":{"plugin":"chat","permission":"all"}}`)
			w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"config.review","params":[]}`)
		}
		w.attackingBrowser.readFrames()
		w.checkConnected()
	})
	testAttack(t, "300,000 resumed calls", func(w *attackFixture) {
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["a"` + strings.Repeat(`,"a"`, 300_000) + `]}}`)
		if n := len(w.attackingBrowser.readFrames()); n > 20_000 {
			t.Errorf("the server answered with %d frames, want at most 20000", n)
		}
		w.checkConnected()
	})
	testAttack(t, "results that come twice, before the call starts, or for unknown calls", func(w *attackFixture) {
		for _, id := range []string{"own", "own", "later", "", "s/", "s/1", "s/99", "s/ping", "s/cancel/", "s/cancel/own", "\u202e\x1b"} {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","id":%q,"result":{"output":1}}`, id)
		}
		w.wantEvents("own returned 1")
		w.run("bad", "later")
		w.wantEvents()
		w.checkConnected()
	})
	testAttack(t, "result parts out of order, twice, and with invalid numbers", func(w *attackFixture) {
		for _, seq := range []string{"5", "1", "-1", "0", "0", "9223372036854775807", "1"} {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"own","seq":%s,"text":"7"}}`, seq)
		}
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"own","result":{"parts":2}}`)
		w.wantEvents("own returned 77")
		w.checkConnected()
	})
	testAttack(t, "counts of skipped reports that would overflow an integer", func(w *attackFixture) {
		for _, counts := range []string{`"seq":9223372036854775807`, `"seq":1073741825`, `"skipped":9223372036854775807`, `"seq":1,"skipped":9223372036854775807`} {
			w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"own","reports":[{"message":"m"}],` + counts + `}}`)
		}
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"own","reports":[{"message":"n"}],"seq":2}}`)
		w.wantEvents(
			`own reports [{"message":"m"}] skipped 1073741824`,
			`own reports [{"message":"m"}] skipped 1073741824`,
			`own reports [{"message":"n"}] skipped 0`)
		w.checkConnected()
	})
	testAttack(t, "a result with far fewer parts than announced", func(w *attackFixture) {
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"own","result":{"parts":107374182400}}`)
		w.wantEvents("own failed internal: 0 of 107374182400 parts of the result arrived")
		w.checkConnected()
	})
	testAttack(t, "result parts without end", func(w *attackFixture) {
		if err := w.startTestRun("bad", "endless", 1<<20); err != nil {
			t.Fatal(err.Message)
		}
		w.attackingBrowser.readFrames()
		longText := strings.Repeat("x", 64<<10)
		for seq := range 100 {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tool.part","params":{"dispatchId":"endless","seq":%d,"text":"%s"}}`, seq, longText)
		}
		w.wantEvents("endless failed result_too_large: the result is larger than 1048576 bytes")
		w.attackingBrowser.wantFrames(newCancelFrame("endless", "the result is too large"))
		w.checkConnected()
	})
	testAttack(t, "a second hello", func(w *attackFixture) {
		w.attackingBrowser.sendHello("good", "boot1")
		w.attackingBrowser.wantFrames(`{"jsonrpc":"2.0","id":"h","error":{"code":-32600,"message":"hello was already sent; open a new connection to send it again"}}`)
		w.checkConnected()
	})
	testForgedIdentity(t)
	testForgedTabs(t)
	testFrameFloods(t)
}

func testForgedIdentity(t *testing.T) {
	// The ID of a browser is not secret, because every client with the token receives the IDs of all browsers. A second
	// browser with an ID in use is listed as a separate browser, under a name that the user sees. Replacing a browser
	// requires its ID and its secret boot ID.
	testAttack(t, "the id of another browser", func(w *attackFixture) {
		p := w.dial()
		p.sendHello("good", "boot9")
		p.respond("good", `"forged"`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"call.resumed","params":{"dispatchIds":["good"]}}`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"good","reports":[{"message":"forged"}]}}`)
		for _, frame := range p.readFrames() {
			if strings.Contains(frame, `"tool.dispatch"`) {
				t.Errorf("the new browser received the frame %s, want no call of the other browser", frame)
			}
		}
		var ids []string
		for _, b := range w.hub.Browsers() {
			ids = append(ids, fmt.Sprint(b.ID, len(b.Tabs)))
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != "bad1 good1 good~boot90" {
			t.Errorf("names of the browsers for the user = %s, want %q", got, "bad1 good1 good~boot90")
		}
	})
	t.Run("names and ids that imitate another browser or contain control characters", func(t *testing.T) {
		testWithHub(t, Options{}, func(w *hubFixture) {
			for _, id := range []string{"", "a b", "\u202eab", "a\x1b[2J", "\u0430dmin", strings.Repeat("x", 129)} {
				p := w.dial()
				p.sendHello(id, "boot")
				if got := p.awaitClose(); !strings.HasPrefix(got, "close 1008 ") {
					t.Errorf("the link of the browser with the ID %q ended with %q; want a text that begins with %q", id, got, "close 1008 ")
				}
			}
			p := w.dial()
			p.sendFrame(`{"jsonrpc":"2.0","id":"h","method":"hello","params":{"protocol":1,"browserId":"b","browserName":"\u001b[2J\u202eevil\u0000` + strings.Repeat("x", 5000) + `","bootId":"b","extensionVersion":"\u009b1","proof":"` + browserProof + `"}}`)
			p.readFrames()
			b := w.hub.Browsers()[0]
			if !strings.HasPrefix(b.Name, "[2Jevilxxx") || len(b.Name) > 120 || b.ExtensionVersion != "1" {
				t.Errorf("name of the browser = %q and version = %q; want a short name without control characters and the version 1", b.Name, b.ExtensionVersion)
			}
		})
	})
}

func testForgedTabs(t *testing.T) {
	testAttack(t, "tabs of the good browser in the bad browser's list", func(w *attackFixture) {
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7}}`)
		w.readEvents()
		for _, b := range w.hub.Browsers() {
			if b.ID == "good" && len(b.Tabs) != 1 {
				t.Errorf("the good browser has %d tabs, want 1", len(b.Tabs))
			}
		}
	})
	testAttack(t, "a list of 50,000 tabs with long texts and control characters", func(w *attackFixture) {
		longText := strings.Repeat("y", 2000)
		var tabs strings.Builder
		for i := range 50_000 {
			if i > 0 {
				tabs.WriteByte(',')
			}
			if i < 200 {
				fmt.Fprintf(&tabs, `{"tabId":%d,"url":"http://x/\u001b]8;;\u0007\u202e%s","title":"\u009b\u2066%s","documentId":"\u001b%s","plugins":[{"name":"%s\u0000","hash":"h"},{"name":"chat","hash":"\u001b"}],"loading":["\u202e"],"needsReload":["\u001b[2J%s"]}`, i, longText, longText, longText, longText, longText)
			} else {
				fmt.Fprintf(&tabs, `{"tabId":%d,"url":"u","title":"t"}`, -i)
			}
		}
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + tabs.String() + `]}}`)
		w.readEvents()
		w.checkConnected()
		for _, b := range w.hub.Browsers() {
			if len(b.Tabs) > maxTabs {
				t.Errorf("the hub stores %d tabs, want at most %d", len(b.Tabs), maxTabs)
			}
			for _, tab := range b.Tabs {
				checkTabIsCleaned(t, tab)
			}
		}
	})
}

func checkTabIsCleaned(t *testing.T, tab wire.TabInfo) {
	t.Helper()
	wantedTexts := append(append([]string{tab.URL, tab.Title, tab.DocumentID}, tab.Loading...), tab.NeedsReload...)
	for _, p := range tab.Plugins {
		wantedTexts = append(wantedTexts, p.Name, p.Hash)
	}
	for i, tabText := range wantedTexts {
		if inbound.CleanText(tabText, 8192) != tabText || i > 1 && len(tabText) > 128 {
			t.Errorf("text of tab %d = %.80q, want a short text without control characters", tab.TabID, tabText)
		}
	}
}

func testFrameFloods(t *testing.T) {
	testAttack(t, "a report with a message of 5 MB, and 100,000 reports in one frame", func(w *attackFixture) {
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"own","reports":[{"message":"` + strings.Repeat("m", 5<<20) + `"}]}}`)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"own","reports":[{}` + strings.Repeat(",{}", 100_000) + `]}}`)
		for _, event := range w.readEvents() {
			if strings.Contains(event, "mmm") && len(event) > 10_000 {
				t.Errorf("the call received a message of %d characters, want at most 10000", len(event))
			}
		}
		w.checkConnected()
	})
	testAttack(t, "a flood of pings", func(w *attackFixture) {
		for i := range 20_000 {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","id":"p%d","method":"ping","params":{}}`, i)
		}
		if n := len(w.attackingBrowser.readFrames()); n != 20_000 {
			t.Errorf("the server answered %d pings, want 20000", n)
		}
		w.checkConnected()
	})
	testAttack(t, "a browser that sends requests but never reads the answers", func(w *attackFixture) {
		release := make(chan struct{})
		defer close(release)
		w.attackingBrowser.stallReads(release)
		for i := range 1000 {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","id":"p%d","method":"ping","params":{}}`, i)
		}
		w.advanceTime(writeTimeout)
		for _, b := range w.hub.Browsers() {
			if b.ID == "bad" && b.Connected {
				t.Errorf("after %v the browser is still connected, want its link closed", writeTimeout)
			}
		}
		w.readEvents()
	})
	testAttack(t, "a side panel that opens and closes without end", func(w *attackFixture) {
		goroutinesBefore := runtime.NumGoroutine()
		for i := range 20_000 {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","method":"state.watch","params":{"on":%v}}`, i%2 == 0)
		}
		w.readEvents()
		if goroutinesAfter := runtime.NumGoroutine(); goroutinesAfter > goroutinesBefore+20 {
			t.Errorf("the process has %d goroutines, and had %d before; want at most 20 more", goroutinesAfter, goroutinesBefore)
		}
		if n := len(w.attackingBrowser.readFrames()); n > 20_000 {
			t.Errorf("the browser received %d frames, want at most 20000", n)
		}
	})
	testAttack(t, "deep JSON", func(w *attackFixture) {
		deeplyNestedJSON := strings.Repeat("[", 2_000_000)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","method":"tool.progress","params":{"dispatchId":"own","reports":` + deeplyNestedJSON + strings.Repeat("]", 2_000_000) + `}}`)
		w.attackingBrowser.sendFrame(deeplyNestedJSON)
		w.attackingBrowser.sendFrame(`{"jsonrpc":"2.0","id":"own","result":{"output":` + strings.Repeat(`{"a":`, 100_000))
		w.readEvents()
		w.checkConnected()
	})
	testAttack(t, "texts that are not valid UTF-8", func(w *attackFixture) {
		w.attackingBrowser.sendFrame("{\"jsonrpc\":\"2.0\",\"method\":\"tool.progress\",\"params\":{\"dispatchId\":\"own\",\"reports\":[{\"message\":\"a\xff\xfe\"}]}}")
		w.attackingBrowser.sendFrame("\xff\xfe\x00")
		w.attackingBrowser.sendFrame("{\"jsonrpc\":\"2.0\",\"id\":\"own\",\"result\":{\"output\":\"\xff\"}}")
		for _, event := range w.readEvents() {
			if strings.ToValidUTF8(event, "") != event {
				t.Errorf("the call received the event %q, want valid UTF-8", event)
			}
		}
	})
	testAttack(t, "malformed frames without end", func(w *attackFixture) {
		for range 200 {
			w.attackingBrowser.sendFrame("\x1b]0;title\x07 no frame")
		}
		w.readEvents()
		w.checkClosed(1008)
	})
	testAttack(t, "unknown requests and notifications, without end", func(w *attackFixture) {
		for i := range 200 {
			w.attackingBrowser.sendFormattedFrame(`{"jsonrpc":"2.0","method":"shell.run","params":{"n":%d}}`, i)
		}
		w.readEvents()
		w.checkClosed(1008)
	})
}
