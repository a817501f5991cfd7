package wsbridge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
)

func newErrorPageJSON(id int, name string, atMs int) string {
	return newTabJSON(id, "", 1, "", fmt.Sprintf(`,"needsReload":["chat"],"loadError":%q,"loadFailedMs":%d`, name, atMs))
}

func (w *hubFixture) connectSyncedBrowser(tabs ...string) *browserPeer {
	w.t.Helper()
	p := w.connectBrowser("b1", "boot1")
	p.answersPings = false
	p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{}}`)
	p.listTabs(tabs...)
	return p
}

func (p *browserPeer) listTabs(tabs ...string) {
	p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`)
	p.readFrames()
}

func (w *hubFixture) findTargets(p *browserPeer, want dispatch.TargetChoice, respond func(frame string) string, steps ...string) (dispatch.Targets, time.Duration) {
	w.t.Helper()
	done := make(chan dispatch.Targets, 1)
	startTime := time.Now()
	var elapsedTime time.Duration
	go func() {
		foundTargets := w.hub.Targets(w.t.Context(), want)
		elapsedTime = time.Since(startTime)
		done <- foundTargets
	}()
	for range 600 {
		w.advanceTime(100 * time.Millisecond)
		for _, frame := range p.readFrames() {
			if a := respond(frame); a != "" {
				p.sendFrame(a)
				w.readEvents()
				for _, stepName := range steps {
					w.advanceTime(100 * time.Millisecond)
					p.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":` + stepName + `}}`)
					w.readEvents()
				}
			}
		}
		select {
		case foundTargets := <-done:
			return foundTargets, elapsedTime
		default:
		}
	}
	w.t.Fatal("the call still waits after a minute, want its end")
	return dispatch.Targets{}, 0
}

func newMethodResponder(method, result string) func(string) string {
	return func(frame string) string {
		if !strings.Contains(frame, `"method":"`+method+`"`) {
			return ""
		}
		_, textAfterID, _ := strings.Cut(frame, `"id":"`)
		id, _, _ := strings.Cut(textAfterID, `"`)
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, id, result)
	}
}

const connectionRefusedError = "net::ERR_CONNECTION_REFUSED"

func TestOpenedPageCannotLoad(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectSyncedBrowser()
		foundTargets, elapsedTime := w.findTargets(p, dispatch.TargetChoice{Plugin: "chat", URLToOpen: "https://x/7"}, newMethodResponder("tab.open", `{"tabId":7}`),
			newTabJSON(7, "", 1, "", `,"loading":["chat"]`), newErrorPageJSON(7, connectionRefusedError, 1000))
		if elapsedTime > time.Second {
			t.Errorf("the call waited %v, want at most 1 s", elapsedTime)
		}
		if foundTargets.OpenedTab == nil || foundTargets.OpenedTab.TabID != 7 || len(foundTargets.ErrorPages) != 1 || foundTargets.ErrorPages[0].Problem != connectionRefusedError {
			t.Errorf("the call opened tab %+v and found the error pages %+v, want tab 7 and one refused connection", foundTargets.OpenedTab, foundTargets.ErrorPages)
		}
		if state := w.hub.CurrentTargets("chat").State(); state != dispatch.StateUnavailable {
			t.Errorf("state of the plugin = %s, want unavailable", state)
		}
	})
}

func TestErrorPageIsReloadedOnce(t *testing.T) {
	hash := "h1"
	loading := newTabJSON(7, "", 1, "", `,"loading":["chat"]`)
	for _, tt := range []struct {
		name        string
		steps       []string
		liveTargets string
		limit       time.Duration
	}{
		{"the reload fails again", []string{loading, newErrorPageJSON(7, connectionRefusedError, 2000)}, "", time.Second},
		{"the browser reports the second failure alone", []string{newErrorPageJSON(7, connectionRefusedError, 2000)}, "", time.Second},
		{"the site is back", []string{loading, newTabJSON(7, "", 1, "d7", ","+chatPluginState("true"))}, "b1/7", time.Second},
		{"the browser reports nothing more", nil, "", loadTimeout + time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectSyncedBrowser(newErrorPageJSON(7, connectionRefusedError, 1000))
				loadCount := 0
				respond := newMethodResponder("tab.load", `{"loading":true}`)
				foundTargets, elapsedTime := w.findTargets(p, dispatch.TargetChoice{Plugin: "chat", URLToOpen: "https://x/7"}, func(frame string) string {
					if strings.Contains(frame, "tab.open") {
						t.Error("the call opened another tab, want only the reload")
					}
					if strings.Contains(frame, "tab.load") {
						loadCount++
					}
					return respond(frame)
				}, tt.steps...)
				if elapsedTime > tt.limit || loadCount != 1 || targetNames(foundTargets.LiveTargets) != tt.liveTargets || (tt.liveTargets == "") != (targetNames(foundTargets.ErrorPages) == "b1/7") {
					t.Errorf("after %[4]v there were %[1]d loads, live targets %[2]q and error pages %+[3]v; want 1 load within %[5]v and the live targets %[6]q", loadCount, targetNames(foundTargets.LiveTargets), foundTargets.ErrorPages, elapsedTime, tt.limit, tt.liveTargets)
				}
			})
		})
	}
}

func TestLoadFailsWhileACallWaits(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		newLoadingTab := func(id int) string { return newTabJSON(id, "", 1, "", `,"loading":["chat"]`) }
		p := w.connectSyncedBrowser(newLoadingTab(7), newLoadingTab(8))
		foundTargets := make(chan dispatch.Targets, 1)
		go func() { foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		w.advanceTime(time.Second)
		p.listTabs(newErrorPageJSON(7, "<b>ERR_", 1000), newLoadingTab(8))
		w.advanceTime(time.Second)
		select {
		case foundTargets := <-foundTargets:
			t.Fatalf("the call returned the targets %+v, want it to wait for tab 8", foundTargets)
		default:
		}
		p.listTabs(newErrorPageJSON(7, "<b>ERR_", 1000), newErrorPageJSON(8, connectionRefusedError, 2000))
		w.advanceTime(100 * time.Millisecond)
		select {
		case foundTargets := <-foundTargets:
			if len(foundTargets.ErrorPages) != 2 || foundTargets.ErrorPages[0].Problem != "net::ERR_FAILED" || foundTargets.ErrorPages[1].Problem != connectionRefusedError {
				t.Errorf("the call found the error pages %+v, want two with different errors", foundTargets.ErrorPages)
			}
		default:
			t.Error("the call still waits after both tabs failed to load, want its end")
		}
		if frames := p.readFrames(); len(frames) > 0 {
			t.Errorf("the browser received the request %q, want none", frames)
		}
	})
}

// While a matching tab is still loading, the hub must not open a second tab for the call.
func TestUnansweredSiteOpensNoSecondTab(t *testing.T) {
	hash := "h1"
	loading := newTabJSON(7, "", 1, "", `,"loading":["chat"]`)
	t.Run("a tab that was opened for the call fails to load", func(t *testing.T) {
		testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
			p := w.connectSyncedBrowser()
			foundTargets, elapsedTime := w.findTargets(p, dispatch.TargetChoice{Plugin: "chat", URLToOpen: "https://x/7"}, newMethodResponder("tab.open", `{"tabId":7}`),
				loading, newErrorPageJSON(7, "no_answer", 8000))
			if elapsedTime > time.Second || foundTargets.OpenedTab == nil || len(foundTargets.ErrorPages) != 1 || foundTargets.ErrorPages[0].Problem != "no_answer" {
				t.Errorf("after %v the call had opened tab %+v and found the error pages %+v; want one tab and one error page within 1 s", elapsedTime, foundTargets.OpenedTab, foundTargets.ErrorPages)
			}
		})
	})
	t.Run("a tab that already loads", func(t *testing.T) {
		testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
			p := w.connectSyncedBrowser(loading)
			foundTargets, elapsedTime := w.findTargets(p, dispatch.TargetChoice{Plugin: "chat", URLToOpen: "https://x/7"}, func(frame string) string {
				if strings.Contains(frame, "tab.") {
					t.Errorf("the browser received the request %s, want no request about tabs", frame)
				}
				return ""
			})
			if elapsedTime > loadTimeout+time.Second || targetNames(foundTargets.LoadingTabs) != "b1/7" {
				t.Errorf("after %v the loading tabs are %+v, want only tab 7 of b1", elapsedTime, foundTargets.LoadingTabs)
			}
		})
	})
}
