package wsbridge

import (
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
)

func TestCallWaitsForNavigatingTab(t *testing.T) {
	const loading = `,"loading":["chat"]`
	newTabSyncFrame := func(tabs ...string) string {
		return `{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`
	}
	firstTab, secondTab := newTabJSON(7, "af", 9, "d7", liveChatPluginsJSON), newTabJSON(8, "", 5, "d8", liveChatPluginsJSON)
	tests := []struct {
		name                  string
		textBefore, textAfter string
		want                  dispatch.TargetChoice
		at                    time.Duration
		nextDocument          string
		liveTargets           string
	}{
		{"the next document arrives", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", loading), secondTab), dispatch.TargetChoice{}, time.Second, newTabSyncFrame(newTabJSON(7, "af", 9, "d9", liveChatPluginsJSON), secondTab), "b1/7 b1/8"},
		{"the next document does not arrive", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", loading), secondTab), dispatch.TargetChoice{}, loadTimeout, "", "b1/8"},
		{"the navigating tab is closed", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", loading), secondTab), dispatch.TargetChoice{}, time.Second, newTabSyncFrame(secondTab), "b1/8"},
		{"the next document has no plugin", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", loading), secondTab), dispatch.TargetChoice{}, time.Second, newTabSyncFrame(newTabJSON(7, "af", 9, "", ""), secondTab), "b1/8"},
		{"a tab with a lower rank navigates", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(firstTab, newTabJSON(8, "", 5, "", loading)), dispatch.TargetChoice{}, 0, "", "b1/7"},
		{"the call wants another tab", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", loading), secondTab), dispatch.TargetChoice{TabID: 8}, 0, "", "b1/8"},
		{"the navigating tab is new", newTabSyncFrame(secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", loading), secondTab), dispatch.TargetChoice{}, 0, "", "b1/8"},
		{"the navigating tab is for another plugin", newTabSyncFrame(firstTab, secondTab), newTabSyncFrame(newTabJSON(7, "af", 9, "", `,"loading":["other"]`), secondTab), dispatch.TargetChoice{}, 0, "", "b1/8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hash := "h1"
			testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectBrowser("b1", "boot1")
				p.sendFrame(tt.textBefore)
				w.advanceTime(time.Second)
				p.sendFrame(tt.textAfter)
				p.readFrames()
				startTime := time.Now()
				go func() {
					want := tt.want
					want.Plugin = "chat"
					got := w.hub.Targets(w.t.Context(), want)
					w.recordEvent("%s after %v", targetNames(got.LiveTargets), time.Since(startTime))
				}()
				w.advanceTime(time.Second)
				if tt.nextDocument != "" {
					p.sendFrame(tt.nextDocument)
				}
				w.advanceTime(loadTimeout)
				w.wantEvents(tt.liveTargets + " after " + tt.at.String())
			})
		})
	}
}

func TestTabsKeepStateUntilPagesReport(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		tabs := func(p *browserPeer, doc, extraFields string) {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + newTabJSON(7, "af", 9, doc, extraFields) + `,` + newTabJSON(8, "", 5, "d8", liveChatPluginsJSON) + `]}}`)
			p.readFrames()
		}
		p := w.connectBrowser("b1", "boot1")
		tabs(p, "d7", liveChatPluginsJSON)
		p.closeAbruptly()
		p = w.dial()
		p.sendHello("b1", "boot1")
		tabs(p, "", `,"loading":["chat"]`)
		startTime := time.Now()
		if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != "b1/7 b1/8" || time.Since(startTime) > 0 {
			t.Errorf("live targets = %q after %v, want both tabs at once", targetNames(got.LiveTargets), time.Since(startTime))
		}
	})
}

func TestCallDoesNotWaitForLostTab(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		tab := func(p *browserPeer, id int, extraMembersJSON string) {
			p.sendFormattedFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":%d%s}}`, id, extraMembersJSON)
			p.readFrames()
		}
		p := w.connectBrowser("b1", "boot1")
		tab(p, 8, `,"tab":`+newTabJSON(8, "", 5, "d8", liveChatPluginsJSON))
		tab(p, 7, `,"tab":`+newTabJSON(7, "af", 9, "", `,"loading":["chat"]`))
		p.closeAbruptly()
		startTime := time.Now()
		if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != "b1/8" || time.Since(startTime) > 0 {
			t.Errorf("live targets = %q after %v, want b1/8 at once", targetNames(got.LiveTargets), time.Since(startTime))
		}
		p = w.dial()
		p.sendHello("b1", "boot1")
		p.readFrames()
		tab(p, 7, "")
		b := w.hub.registry.findBrowser("b1")
		b.tabs.mu.Lock()
		defer b.tabs.mu.Unlock()
		if len(b.tabs.navigationTimes) != 0 {
			t.Errorf("the hub still stores %d closed tabs, want 0", len(b.tabs.navigationTimes))
		}
	})
}
