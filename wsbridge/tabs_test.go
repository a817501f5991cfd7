package wsbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

type fakeAdapters struct {
	listPlugins func() []wire.PluginInfo
}

var _ Adapters = fakeAdapters{}

func (f fakeAdapters) List() []wire.PluginInfo {
	listPlugins := f.listPlugins()
	for i := range listPlugins {
		listPlugins[i].ScriptID = "s-" + listPlugins[i].Hash
	}
	return listPlugins
}

func (f fakeAdapters) Hashes() map[string]string {
	hashes := map[string]string{}
	for _, p := range f.listPlugins() {
		hashes[p.Name] = p.Hash
	}
	return hashes
}

func newChatPluginAdapters(hash *string) fakeAdapters {
	return fakeAdapters{
		listPlugins: func() []wire.PluginInfo {
			return []wire.PluginInfo{{Name: "chat", DisplayName: "Chat", Hash: *hash, World: wire.WorldMain}}
		},
	}
}

func newTabJSON(id int, marks string, lastAccessedMs float64, doc, plugins string) string {
	return fmt.Sprintf(`{"tabId":%d,"windowId":1,"url":"https://x/%[1]d","title":"T%[1]d","active":%v,"focused":%v,"lastAccessedMs":%v,"documentId":%q%s}`,
		id, strings.Contains(marks, "a"), strings.Contains(marks, "f"), lastAccessedMs, doc, plugins)
}

const liveChatPluginsJSON = `,"plugins":[{"name":"other","hash":"h9"},{"name":"chat","hash":"h1"}]`

func targetNames(targets []dispatch.Target) string {
	var names []string
	for _, t := range targets {
		names = append(names, fmt.Sprintf("%s/%d", t.Browser, t.TabID))
	}
	return strings.Join(names, " ")
}

// A call that is made while a tab finishes a navigation finds the tab's new document or waits for it.
func TestTargetsAtEndOfNavigation(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot1")
		tabs := &w.hub.registry.listBrowsers()[0].tabs
		browserLink := w.hub.registry.openLinks()[0]
		changeTab := func(tabJSON string) {
			var tab wire.TabInfo
			if err := json.Unmarshal([]byte(tabJSON), &tab); err != nil {
				t.Error(err)
			}
			tabs.applyTabChange(browserLink, wire.TabChangedParams{TabID: tab.TabID, Tab: &tab})
		}
		changeTab(newTabJSON(8, "", 1, "d8", liveChatPluginsJSON))
		for range 2000 {
			changeTab(newTabJSON(7, "af", 2, "d7", liveChatPluginsJSON))
			changeTab(newTabJSON(7, "af", 2, "", `,"loading":["chat"]`))
			var endOfNavigation sync.WaitGroup
			endOfNavigation.Go(func() { changeTab(newTabJSON(7, "af", 2, "d9", liveChatPluginsJSON)) })
			targets, waitTime, _ := w.hub.currentTargets(dispatch.TargetChoice{Plugin: "chat"})
			endOfNavigation.Wait()
			if waitTime == 0 && targetNames(targets.LiveTargets) != "b1/7 b1/8" {
				t.Fatalf("live targets = %q without a wait, want b1/7 b1/8 or a wait for tab 7", targetNames(targets.LiveTargets))
			}
		}
	})
}

func TestTargetsAreRankedAndFiltered(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		want := func(liveTargets, reload string, browsers int) {
			t.Helper()
			w.readEvents()
			got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"})
			if targetNames(got.LiveTargets) != liveTargets || targetNames(got.TabsToReload) != reload || got.BrowserCount != browsers {
				t.Errorf("live targets %q, tabs to reload %q and %d browsers; want %q, %q and %d", targetNames(got.LiveTargets), targetNames(got.TabsToReload), got.BrowserCount, liveTargets, reload, browsers)
			}
		}
		want("", "", 0)
		p := w.connectBrowser("b1", "boot1")
		want("b1/7", "", 1)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join([]string{
			newTabJSON(1, "", 900, "d1", liveChatPluginsJSON),
			newTabJSON(2, "f", 100, "d2", liveChatPluginsJSON),
			newTabJSON(3, "f", 200, "d3", liveChatPluginsJSON),
			newTabJSON(4, "a", 50, "d4", liveChatPluginsJSON),
			newTabJSON(5, "af", 0.5, "d5", liveChatPluginsJSON),
			newTabJSON(6, "", 900, "d6", liveChatPluginsJSON),
			newTabJSON(8, "af", 999, "d8", `,"plugins":[{"name":"other","hash":"h9"}]`),
			newTabJSON(9, "af", 999, "d9", `,"plugins":[{"name":"chat","hash":"old"}]`),
			newTabJSON(10, "", 5, "", `,"needsReload":["other","chat"]`),
			newTabJSON(11, "", 6, "", liveChatPluginsJSON),
		}, ",") + `]}}`)
		want("b1/5 b1/4 b1/3 b1/2 b1/1 b1/6", "b1/9 b1/11 b1/10", 1)
		got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}).LiveTargets[0]
		if want := (dispatch.Target{Browser: "b1", BrowserName: "Chrome", TabID: 5, DocumentID: "d5", URL: "https://x/5", Title: "T5"}); got != want {
			t.Errorf("target of the call = %+v, want %+v", got, want)
		}
		q := w.connectBrowser("b2", "boot2")
		want("b2/7 b1/5 b1/4 b1/3 b1/2 b1/1 b1/6", "b1/9 b1/11 b1/10", 2)
		q.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":` + newTabJSON(7, "", 0, "d7", liveChatPluginsJSON) + `}}`)
		want("b1/5 b1/4 b1/3 b1/2 b1/1 b1/6 b2/7", "b1/9 b1/11 b1/10", 2)
		q.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7}}`)
		want("b1/5 b1/4 b1/3 b1/2 b1/1 b1/6", "b1/9 b1/11 b1/10", 2)
		// The plugin now has a newer version, but all tabs still run adapters of the older version.
		hash = "h2"
		w.hub.Sync()
		want("", "b1/9 b1/5 b1/4 b1/3 b1/2 b1/1 b1/6 b1/11 b1/10", 2)
		if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "unknown"}); targetNames(got.LiveTargets)+targetNames(got.TabsToReload) != "" || got.BrowserCount != 2 {
			t.Errorf("targets of an unknown plugin = %+v, want no tabs and 2 browsers", got)
		}
	})
}

// TestTargetsAfterServiceWorkerRestart checks that adapters that were live before a service
// worker restarted remain targets for reconnectedTabsTime. A restarted service worker lists
// its tabs before the pages have reported their adapters.
func TestTargetsAfterServiceWorkerRestart(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		listTabs := func(p *browserPeer, tabs ...string) {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`)
			p.readFrames()
		}
		want := func(liveTargets, reload string) {
			t.Helper()
			if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != liveTargets || targetNames(got.TabsToReload) != reload {
				t.Errorf("after %v: live targets %q and tabs to reload %q; want %q and %q", time.Since(w.startedAt), targetNames(got.LiveTargets), targetNames(got.TabsToReload), liveTargets, reload)
			}
		}
		reconnect := func() *browserPeer {
			p := w.dial()
			p.sendHello("b1", "boot1")
			p.readFrames()
			return p
		}
		p := w.connectBrowser("b1", "boot1")
		listTabs(p, newTabJSON(6, "", 0, "d6", liveChatPluginsJSON), newTabJSON(7, "a", 0, "d7", liveChatPluginsJSON), newTabJSON(8, "", 0, "d8", liveChatPluginsJSON))
		want("b1/7 b1/6 b1/8", "")
		p.closeAbruptly()
		w.advanceTime(time.Second)
		p = reconnect()
		listTabs(p)
		want("b1/7 b1/6 b1/8", "")
		w.run("b1", "c1")
		p.wantFrames(newDispatchFrame("c1"))
		listTabs(p, newTabJSON(6, "", 0, "", `,"needsReload":["chat"]`), newTabJSON(7, "a", 0, "d9", liveChatPluginsJSON))
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":8}}`)
		p.readFrames()
		want("b1/7 b1/6", "")
		if err := w.startTestRun("b1", "c2", 0); err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("error of a run in the earlier document = %v, want navigated", err)
		}
		p.closeAbruptly()
		want("b1/7 b1/6", "")
		p = reconnect()
		w.advanceTime(reconnectedTabsTime - time.Nanosecond)
		want("b1/7 b1/6", "")
		w.advanceTime(time.Nanosecond)
		want("b1/7", "b1/6")
		p.closeAbruptly()
		reconnect()
		w.advanceTime(time.Minute)
		want("b1/7", "b1/6")
	})
}

func TestDisconnectedBrowserKeepsTargetsForGracePeriod(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		want := func(liveTargets string, browsers int) {
			t.Helper()
			if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != liveTargets || got.BrowserCount != browsers {
				t.Errorf("live targets %q and %d browsers; want %q and %d", targetNames(got.LiveTargets), got.BrowserCount, liveTargets, browsers)
			}
		}
		p, q := w.connectBrowser("b1", "boot1"), w.connectBrowser("b2", "boot2")
		p.closeAbruptly()
		want("b2/7", 2)
		q.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		q.readFrames()
		want("b1/7", 2)
		w.advanceTime(10 * time.Second)
		want("", 1)
	})
}

func TestTabReportsOnOldLinkAreIgnored(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		b := newBrowser(w.hub, "b1")
		oldLink, currentLink := &link{hub: w.hub}, &link{hub: w.hub}
		b.tabs.connect(currentLink, "", true)
		b.tabs.replaceTabs(oldLink, []wire.TabInfo{{TabID: 1}})
		b.tabs.applyTabChange(oldLink, wire.TabChangedParams{TabID: 2, Tab: &wire.TabInfo{TabID: 2}})
		if len(b.tabs.tabs) != 0 {
			t.Errorf("stored tabs of the browser = %+v, want none", b.tabs.tabs)
		}
	})
}

func TestTabsAreBounded(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		b := newBrowser(w.hub, "b1")
		currentLink := &link{hub: w.hub}
		b.tabs.connect(currentLink, "", true)
		manyTabs := make([]wire.TabInfo, maxTabs+5)
		for i := range manyTabs {
			manyTabs[i].TabID = i
		}
		b.tabs.replaceTabs(currentLink, manyTabs)
		b.tabs.applyTabChange(currentLink, wire.TabChangedParams{TabID: -1, Tab: &wire.TabInfo{}})
		if len(b.tabs.tabs) != maxTabs {
			t.Errorf("the hub stores %d tabs, want %d", len(b.tabs.tabs), maxTabs)
		}
		// The tab keeps the ID in TabChangedParams.TabID, even if TabChangedParams.Tab contains another ID.
		b.tabs.applyTabChange(currentLink, wire.TabChangedParams{TabID: 3, Tab: &wire.TabInfo{TabID: 4, Title: "a\x1b" + strings.Repeat("x", 2*1000)}})
		if got := b.tabs.tabs[3]; got.TabID != 3 || len([]rune(got.Title)) != 1000 || strings.Contains(got.Title, "\x1b") {
			t.Errorf("the stored tab 3 has the ID %d and a title of %d characters; want 3 and 1000", got.TabID, len([]rune(got.Title)))
		}
	})
}

func TestBrowsersAreListedAfterDisconnect(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b2", "boot1")
		w.connectBrowser("b1", "boot2")
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts"}}`)
		w.run("b2", "c1")
		w.advanceTime(time.Second)
		p.closeAbruptly()
		got := w.hub.Browsers()
		if len(got) != 2 || got[0].ID != "b1" || got[1].ID != "b2" {
			t.Fatalf("listed browsers = %+v, want b1 and b2", got)
		}
		b := got[1]
		if b.Connected || b.RunCount != 1 || b.InjectMode != wire.InjectUserScripts || time.Since(b.LinkChangedAt) != 0 || len(b.Tabs) != 1 || !got[0].Connected {
			t.Errorf("browser b2 = %+v, want it disconnected with 1 run and 1 tab, and b1 connected", b)
		}
	})
}

func TestTargetsWaitForTheFirstBrowser(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash), MaxFirstBrowserWait: 3 * time.Second}, func(w *hubFixture) {
		foundTargets := make(chan dispatch.Targets, 1)
		go func() { foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		w.advanceTime(time.Second)
		w.connectBrowser("b1", "boot1")
		if got := <-foundTargets; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
	})
	testWithHub(t, Options{MaxFirstBrowserWait: 3 * time.Second}, func(w *hubFixture) {
		startTime := time.Now()
		if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); got.BrowserCount != 0 || time.Since(startTime) != 3*time.Second {
			t.Errorf("the call found %d browsers after %v, want 0 after 3s", got.BrowserCount, time.Since(startTime))
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		startTime = time.Now()
		w.hub.Targets(ctx, dispatch.TargetChoice{Plugin: "chat"})
		if time.Since(startTime) != 0 {
			t.Error("a call still waits for the first browser after the time for it, want no wait")
		}
	})
	testWithHub(t, Options{MaxFirstBrowserWait: 3 * time.Second}, func(w *hubFixture) {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		startTime := time.Now()
		if w.hub.Targets(ctx, dispatch.TargetChoice{Plugin: "chat"}); time.Since(startTime) != time.Second {
			t.Errorf("the call waited %v, want 1s, when its client disconnected", time.Since(startTime))
		}
	})
}

func TestTargetsWaitForNewBrowser(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot1").closeAbruptly()
		w.advanceTime(time.Minute)
		p := w.dial()
		p.sendHello("b1", "boot2")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		foundTargets := make(chan dispatch.Targets, 1)
		want := func(plugin string) time.Duration {
			startTime := time.Now()
			foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: plugin})
			return time.Since(startTime)
		}
		go want("chat")
		w.advanceTime(2 * time.Second)
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts"}}`)
		synctest.Wait()
		if len(foundTargets) > 0 {
			t.Fatalf("the call found the targets %+v before the browser had listed its tabs, want the call to wait", <-foundTargets)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h1"}]}]}}`)
		if got := <-foundTargets; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		synctest.Wait()
		if elapsedTime := want("chat"); elapsedTime != 0 {
			t.Errorf("the call waited %v for a browser that has listed its tabs, want 0", elapsedTime)
		}
	})
}

func TestTargetsWaitForNewAdapters(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.advanceTime(time.Minute)
		hash = "h2"
		w.hub.Sync()
		foundTargets := make(chan dispatch.Targets, 1)
		want := func() time.Duration {
			startTime := time.Now()
			foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"})
			return time.Since(startTime)
		}
		go want()
		w.advanceTime(time.Second)
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/2","result":{"mode":"userScripts"}}`)
		synctest.Wait()
		if len(foundTargets) > 0 {
			t.Fatalf("the call found the targets %+v before the browser had listed its tabs again, want the call to wait", <-foundTargets)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h2"}]}]}}`)
		if got := <-foundTargets; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		w.hub.Sync()
		synctest.Wait()
		if elapsedTime := want(); elapsedTime != 0 {
			t.Errorf("the call waited %v although the plugins did not change, want 0", elapsedTime)
		}
	})
}

func TestTargetsWaitForTheLatestPlugins(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.advanceTime(time.Minute)
		for _, hash = range []string{"h2", "h3"} {
			w.hub.Sync()
			synctest.Wait()
		}
		foundTargets := make(chan dispatch.Targets, 1)
		go func() { foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":"s/2","result":{"mode":"userScripts"}}`,
			`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7}]}}`,
			`{"jsonrpc":"2.0","id":"s/3","result":{"mode":"userScripts"}}`,
		} {
			p.sendFrame(frame)
			synctest.Wait()
			if len(foundTargets) > 0 {
				t.Fatalf("the call found the targets %+v after the frame %s; want none before the browser lists its tabs for plugin hash h3", <-foundTargets, frame)
			}
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h3"}]}]}}`)
		if got := <-foundTargets; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
	})
}

func TestTargetsWaitForALoadingTab(t *testing.T) {
	hash := "h1"
	loading := `{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":{"tabId":7,"windowId":1,"url":"https://chat.example/","title":"Chat","active":true,"focused":true,"lastAccessedMs":1,"loading":["chat"]}}}`
	readyTab := strings.Replace(loading, `"loading":["chat"]`, `"documentId":"d8","plugins":[{"name":"chat","hash":"h1"}]`, 1)
	for _, tt := range []struct {
		name         string
		want         dispatch.TargetChoice
		textAfter    string
		liveTargets  string
		waitDuration time.Duration
	}{
		{"the tab becomes ready", dispatch.TargetChoice{Plugin: "chat"}, readyTab, "b1/7", time.Second},
		{"the tab that the call names becomes ready", dispatch.TargetChoice{Plugin: "chat", TabID: 7}, readyTab, "b1/7", time.Second},
		{"the tab never becomes ready", dispatch.TargetChoice{Plugin: "chat"}, "", "", loadTimeout},
		{"the call names another tab", dispatch.TargetChoice{Plugin: "chat", TabID: 8}, readyTab, "", 0},
		{"the call names another browser", dispatch.TargetChoice{Plugin: "chat", Browser: "Phone"}, readyTab, "", 0},
		{"the call is for another plugin", dispatch.TargetChoice{Plugin: "mail"}, readyTab, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectBrowser("b1", "boot1")
				p.sendFrame(loading)
				w.advanceTime(defaultMaxFirstBrowserWait) // from here on, calls do not wait for the browser's first sync
				startTime := time.Now()
				foundTargets := make(chan dispatch.Targets, 1)
				go func() { foundTargets <- w.hub.Targets(w.t.Context(), tt.want) }()
				if tt.waitDuration > 0 && tt.textAfter != "" {
					w.advanceTime(time.Second)
					p.sendFrame(tt.textAfter)
				}
				if got := <-foundTargets; targetNames(got.LiveTargets) != tt.liveTargets || time.Since(startTime) != tt.waitDuration {
					t.Errorf("live targets = %q after %v, want %q after %v", targetNames(got.LiveTargets), time.Since(startTime), tt.liveTargets, tt.waitDuration)
				}
			})
		})
	}
}

func TestUnloadedDocumentIsNotATarget(t *testing.T) {
	for _, code := range documentGoneCodes {
		t.Run(string(code), func(t *testing.T) {
			hash := "h1"
			testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectBrowser("b1", "boot1")
				w.run("b1", "r1")
				p.readFrames()
				p.sendFormattedFrame(`{"jsonrpc":"2.0","id":"r1","error":{"code":-32000,"message":"gone","data":{"code":%q,"message":"gone","notStarted":true}}}`, code)
				w.wantEvents(fmt.Sprintf("r1 failed %s, not started: gone", code))
				ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
				defer cancel()
				if got := w.hub.Targets(ctx, dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != "" {
					t.Errorf("live targets = %q, want none", targetNames(got.LiveTargets))
				}
			})
		})
	}
}
