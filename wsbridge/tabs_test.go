package wsbridge

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

type fakeAdapters struct {
	list func() []wire.PluginInfo
	code func(name, hash string) (string, error)
}

var _ Adapters = fakeAdapters{}

func (f fakeAdapters) List() []wire.PluginInfo {
	list := f.list()
	for i := range list {
		list[i].ScriptID = "s-" + list[i].Hash
	}
	return list
}

func (f fakeAdapters) Hashes() map[string]string {
	hashes := map[string]string{}
	for _, p := range f.list() {
		hashes[p.Name] = p.Hash
	}
	return hashes
}

func (f fakeAdapters) Code(name, script string) (wire.PluginCodeParams, error) {
	hash := strings.TrimPrefix(script, "s-")
	code, err := f.code(name, hash)
	return wire.PluginCodeParams{Name: name, Hash: hash, ScriptID: script, Code: code}, err
}

func newOnePluginAdapters(hash *string) fakeAdapters {
	return fakeAdapters{
		list: func() []wire.PluginInfo {
			return []wire.PluginInfo{{Name: "chat", DisplayName: "Chat", Hash: *hash, World: wire.WorldMain}}
		},
		code: func(name, hash string) (string, error) { return "code of " + name + " " + hash, nil },
	}
}

func newTabJSON(id int, marks string, used float64, doc, plugins string) string {
	return fmt.Sprintf(`{"tabId":%d,"windowId":1,"url":"https://x/%[1]d","title":"T%[1]d","active":%v,"focused":%v,"lastAccessedMs":%v,"documentId":%q%s}`,
		id, strings.Contains(marks, "a"), strings.Contains(marks, "f"), used, doc, plugins)
}

const liveChatPlugins = `,"plugins":[{"name":"other","hash":"h9"},{"name":"chat","hash":"h1"}]`

func targetNames(targets []dispatch.Target) string {
	var names []string
	for _, t := range targets {
		names = append(names, fmt.Sprintf("%s/%d", t.Browser, t.TabID))
	}
	return strings.Join(names, " ")
}

func TestTargets(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		want := func(live, reload string, browsers int) {
			t.Helper()
			w.readEvents()
			got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"})
			if targetNames(got.LiveTargets) != live || targetNames(got.TabsToReload) != reload || got.BrowserCount != browsers {
				t.Errorf("live %q, reload %q, %d browsers; want %q, %q, %d", targetNames(got.LiveTargets), targetNames(got.TabsToReload), got.BrowserCount, live, reload, browsers)
			}
		}
		want("", "", 0)
		p := w.connectBrowser("b1", "boot1")
		want("b1/7", "", 1)
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join([]string{
			newTabJSON(1, "", 900, "d1", liveChatPlugins),
			newTabJSON(2, "f", 100, "d2", liveChatPlugins),
			newTabJSON(3, "f", 200, "d3", liveChatPlugins),
			newTabJSON(4, "a", 50, "d4", liveChatPlugins),
			newTabJSON(5, "af", 0.5, "d5", liveChatPlugins),
			newTabJSON(6, "", 900, "d6", liveChatPlugins),
			newTabJSON(8, "af", 999, "d8", `,"plugins":[{"name":"other","hash":"h9"}]`),
			newTabJSON(9, "af", 999, "d9", `,"plugins":[{"name":"chat","hash":"old"}]`),
			newTabJSON(10, "", 5, "", `,"needsReload":["other","chat"]`),
			newTabJSON(11, "", 6, "", liveChatPlugins),
		}, ",") + `]}}`)
		want("b1/5 b1/4 b1/3 b1/2 b1/1 b1/6", "b1/9 b1/11 b1/10", 1)
		got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}).LiveTargets[0]
		if want := (dispatch.Target{Browser: "b1", BrowserName: "Chrome", TabID: 5, DocumentID: "d5", URL: "https://x/5", Title: "T5"}); got != want {
			t.Errorf("target = %+v, want %+v", got, want)
		}
		q := w.connectBrowser("b2", "boot2")
		want("b2/7 b1/5 b1/4 b1/3 b1/2 b1/1 b1/6", "b1/9 b1/11 b1/10", 2)
		q.send(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":` + newTabJSON(7, "", 0, "d7", liveChatPlugins) + `}}`)
		want("b1/5 b1/4 b1/3 b1/2 b1/1 b1/6 b2/7", "b1/9 b1/11 b1/10", 2)
		q.send(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7}}`)
		want("b1/5 b1/4 b1/3 b1/2 b1/1 b1/6", "b1/9 b1/11 b1/10", 2)
		// The plugin now has a newer version, but all tabs still run adapters of the older version.
		hash = "h2"
		w.hub.Sync()
		want("", "b1/9 b1/5 b1/4 b1/3 b1/2 b1/1 b1/6 b1/11 b1/10", 2)
		if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "unknown"}); targetNames(got.LiveTargets)+targetNames(got.TabsToReload) != "" || got.BrowserCount != 2 {
			t.Errorf("an unknown plugin has the targets %+v", got)
		}
	})
}

// TestTargetsAfterServiceWorkerRestart checks that adapters that were live before a service
// worker restarted remain targets for reconnectedTabsTime. A restarted service worker lists
// its tabs before the pages have reported their adapters.
func TestTargetsAfterServiceWorkerRestart(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		listTabs := func(p *browserPeer, tabs ...string) {
			p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`)
			p.readFrames()
		}
		want := func(live, reload string) {
			t.Helper()
			if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != live || targetNames(got.TabsToReload) != reload {
				t.Errorf("after %v: live %q, reload %q; want %q, %q", time.Since(w.start), targetNames(got.LiveTargets), targetNames(got.TabsToReload), live, reload)
			}
		}
		back := func() *browserPeer {
			p := w.dial()
			p.sendHello("b1", "boot1")
			p.readFrames()
			return p
		}
		p := w.connectBrowser("b1", "boot1")
		listTabs(p, newTabJSON(6, "", 0, "d6", liveChatPlugins), newTabJSON(7, "a", 0, "d7", liveChatPlugins), newTabJSON(8, "", 0, "d8", liveChatPlugins))
		want("b1/7 b1/6 b1/8", "")
		p.closeAbruptly()
		w.advanceTime(time.Second)
		p = back()
		listTabs(p)
		want("b1/7 b1/6 b1/8", "")
		w.run("b1", "c1")
		p.wantFrames(newDispatchFrame("c1"))
		listTabs(p, newTabJSON(6, "", 0, "", `,"needsReload":["chat"]`), newTabJSON(7, "a", 0, "d9", liveChatPlugins))
		p.send(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":8}}`)
		p.readFrames()
		want("b1/7 b1/6", "")
		if err := w.tryRun("b1", "c2", 0); err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("a run in the document of before: %v, want navigated", err)
		}
		p.closeAbruptly()
		want("b1/7 b1/6", "")
		p = back()
		w.advanceTime(reconnectedTabsTime - time.Nanosecond)
		want("b1/7 b1/6", "")
		w.advanceTime(time.Nanosecond)
		want("b1/7", "b1/6")
		p.closeAbruptly()
		back()
		w.advanceTime(time.Minute)
		want("b1/7", "b1/6")
	})
}

func TestTargetsOfDisconnectedBrowser(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		want := func(live string, browsers int) {
			t.Helper()
			if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != live || got.BrowserCount != browsers {
				t.Errorf("live %q, %d browsers; want %q, %d", targetNames(got.LiveTargets), got.BrowserCount, live, browsers)
			}
		}
		p, q := w.connectBrowser("b1", "boot1"), w.connectBrowser("b2", "boot2")
		p.closeAbruptly()
		want("b2/7", 2)
		q.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		q.readFrames()
		want("b1/7", 2)
		w.advanceTime(10 * time.Second)
		want("", 1)
	})
}

func TestTabsOfOldLink(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		b := newBrowser(w.hub, "b1")
		old, current := &link{hub: w.hub}, &link{hub: w.hub}
		b.tabs.connect(current, "", true)
		b.tabs.replaceTabs(old, []wire.TabInfo{{TabID: 1}})
		b.tabs.changeTab(old, wire.TabChangedParams{TabID: 2, Tab: &wire.TabInfo{TabID: 2}})
		if len(b.tabs.tabs) != 0 {
			t.Errorf("tabs = %+v, want none", b.tabs.tabs)
		}
	})
}

func TestTabsAreBounded(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		b := newBrowser(w.hub, "b1")
		current := &link{hub: w.hub}
		b.tabs.connect(current, "", true)
		many := make([]wire.TabInfo, maxTabs+5)
		for i := range many {
			many[i].TabID = i
		}
		b.tabs.replaceTabs(current, many)
		b.tabs.changeTab(current, wire.TabChangedParams{TabID: -1, Tab: &wire.TabInfo{}})
		if len(b.tabs.tabs) != maxTabs {
			t.Errorf("%d tabs, want %d", len(b.tabs.tabs), maxTabs)
		}
		// The tab keeps the ID in TabChangedParams.TabID, even if TabChangedParams.Tab contains another ID.
		b.tabs.changeTab(current, wire.TabChangedParams{TabID: 3, Tab: &wire.TabInfo{TabID: 4, Title: "a\x1b" + strings.Repeat("x", 2*1000)}})
		if got := b.tabs.tabs[3]; got.TabID != 3 || len([]rune(got.Title)) != 1000 || strings.Contains(got.Title, "\x1b") {
			t.Errorf("tab 3 = %d, %d characters", got.TabID, len([]rune(got.Title)))
		}
	})
}

func TestBrowsers(t *testing.T) {
	withHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b2", "boot1")
		w.connectBrowser("b1", "boot2")
		p.send(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts"}}`)
		w.run("b2", "c1")
		w.advanceTime(time.Second)
		p.closeAbruptly()
		got := w.hub.Browsers()
		if len(got) != 2 || got[0].ID != "b1" || got[1].ID != "b2" {
			t.Fatalf("browsers = %+v, want b1 and b2", got)
		}
		b := got[1]
		if b.Connected || b.RunCount != 1 || b.InjectMode != wire.InjectUserScripts || time.Since(b.LinkChangedAt) != 0 || len(b.Tabs) != 1 || !got[0].Connected {
			t.Errorf("b2 = %+v", b)
		}
	})
}

func TestTargetsWaitForTheFirstBrowser(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash), FirstBrowserWait: 3 * time.Second}, func(w *hubFixture) {
		found := make(chan dispatch.Targets, 1)
		go func() { found <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		w.advanceTime(time.Second)
		w.connectBrowser("b1", "boot1")
		if got := <-found; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live %q, want b1/7", targetNames(got.LiveTargets))
		}
	})
	withHub(t, Options{FirstBrowserWait: 3 * time.Second}, func(w *hubFixture) {
		startTime := time.Now()
		if got := w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}); got.BrowserCount != 0 || time.Since(startTime) != 3*time.Second {
			t.Errorf("%d browsers after %v, want none after 3s", got.BrowserCount, time.Since(startTime))
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		startTime = time.Now()
		w.hub.Targets(ctx, dispatch.TargetChoice{Plugin: "chat"})
		if time.Since(startTime) != 0 {
			t.Error("a call waits although the wait for the first browser is over")
		}
	})
	withHub(t, Options{FirstBrowserWait: 3 * time.Second}, func(w *hubFixture) {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		defer cancel()
		startTime := time.Now()
		if w.hub.Targets(ctx, dispatch.TargetChoice{Plugin: "chat"}); time.Since(startTime) != time.Second {
			t.Errorf("the call waited %v although its client disconnected after 1s", time.Since(startTime))
		}
	})
}

func TestTargetsWaitForNewBrowser(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		w.connectBrowser("b1", "boot1").closeAbruptly()
		w.advanceTime(time.Minute)
		p := w.dial()
		p.sendHello("b1", "boot2")
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		found := make(chan dispatch.Targets, 1)
		want := func(plugin string) time.Duration {
			startTime := time.Now()
			found <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: plugin})
			return time.Since(startTime)
		}
		go want("chat")
		w.advanceTime(2 * time.Second)
		p.send(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts"}}`)
		synctest.Wait()
		if len(found) > 0 {
			t.Fatalf("targets %+v before the tabs were listed", <-found)
		}
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h1"}]}]}}`)
		if got := <-found; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live %q, want b1/7", targetNames(got.LiveTargets))
		}
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		synctest.Wait()
		if elapsed := want("chat"); elapsed != 0 {
			t.Errorf("the call waited %v for a browser that has listed its tabs; want 0", elapsed)
		}
	})
}

func TestTargetsWaitForNewAdapters(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.advanceTime(time.Minute)
		hash = "h2"
		w.hub.Sync()
		found := make(chan dispatch.Targets, 1)
		want := func() time.Duration {
			startTime := time.Now()
			found <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"})
			return time.Since(startTime)
		}
		go want()
		w.advanceTime(time.Second)
		p.send(`{"jsonrpc":"2.0","id":"s/2","result":{"mode":"userScripts"}}`)
		synctest.Wait()
		if len(found) > 0 {
			t.Fatalf("targets %+v before the tabs were listed", <-found)
		}
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h2"}]}]}}`)
		if got := <-found; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live %q, want b1/7", targetNames(got.LiveTargets))
		}
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{}}`)
		w.hub.Sync()
		synctest.Wait()
		if elapsed := want(); elapsed != 0 {
			t.Errorf("the call waited %v although the plugins did not change", elapsed)
		}
	})
}

func TestTargetsWaitForTheLatestPlugins(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.advanceTime(time.Minute)
		for _, hash = range []string{"h2", "h3"} {
			w.hub.Sync()
			synctest.Wait()
		}
		found := make(chan dispatch.Targets, 1)
		go func() { found <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		for _, frame := range []string{
			`{"jsonrpc":"2.0","id":"s/2","result":{"mode":"userScripts"}}`,
			`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7}]}}`,
			`{"jsonrpc":"2.0","id":"s/3","result":{"mode":"userScripts"}}`,
		} {
			p.send(frame)
			synctest.Wait()
			if len(found) > 0 {
				t.Fatalf("targets %+v after %s; want none before the tabs of the plugins h3 were listed", <-found, frame)
			}
		}
		p.send(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h3"}]}]}}`)
		if got := <-found; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
	})
}

func TestTargetsWaitForALoadingTab(t *testing.T) {
	hash := "h1"
	loading := `{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":7,"tab":{"tabId":7,"windowId":1,"url":"https://chat.example/","title":"Chat","active":true,"focused":true,"lastAccessedMs":1,"loading":["chat"]}}}`
	ready := strings.Replace(loading, `"loading":["chat"]`, `"documentId":"d8","plugins":[{"name":"chat","hash":"h1"}]`, 1)
	for _, tt := range []struct {
		name   string
		want   dispatch.TargetChoice
		after  string
		live   string
		waited time.Duration
	}{
		{"it comes", dispatch.TargetChoice{Plugin: "chat"}, ready, "b1/7", time.Second},
		{"that very tab comes", dispatch.TargetChoice{Plugin: "chat", TabID: 7}, ready, "b1/7", time.Second},
		{"it never comes", dispatch.TargetChoice{Plugin: "chat"}, "", "", loadTimeout},
		{"another tab is wanted", dispatch.TargetChoice{Plugin: "chat", TabID: 8}, ready, "", 0},
		{"another browser is wanted", dispatch.TargetChoice{Plugin: "chat", Browser: "Phone"}, ready, "", 0},
		{"another plugin is wanted", dispatch.TargetChoice{Plugin: "mail"}, ready, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectBrowser("b1", "boot1")
				p.send(loading)
				w.advanceTime(defaultFirstBrowserWait) // later calls do not wait for the browser's first sync
				startTime := time.Now()
				found := make(chan dispatch.Targets, 1)
				go func() { found <- w.hub.Targets(w.t.Context(), tt.want) }()
				if tt.waited > 0 && tt.after != "" {
					w.advanceTime(time.Second)
					p.send(tt.after)
				}
				if got := <-found; targetNames(got.LiveTargets) != tt.live || time.Since(startTime) != tt.waited {
					t.Errorf("live %q after %v, want %q after %v", targetNames(got.LiveTargets), time.Since(startTime), tt.live, tt.waited)
				}
			})
		})
	}
}

func TestGoneDocumentIsNoLongerATarget(t *testing.T) {
	for _, code := range documentGoneCodes {
		t.Run(string(code), func(t *testing.T) {
			hash := "h1"
			withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectBrowser("b1", "boot1")
				w.run("b1", "r1")
				p.readFrames()
				p.sendFormat(`{"jsonrpc":"2.0","id":"r1","error":{"code":-32000,"message":"gone","data":{"code":%q,"message":"gone","notStarted":true}}}`, code)
				w.wantEvents(fmt.Sprintf("r1 failed %s, not started: gone", code))
				ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
				defer cancel()
				if got := w.hub.Targets(ctx, dispatch.TargetChoice{Plugin: "chat"}); targetNames(got.LiveTargets) != "" {
					t.Errorf("live %q, want none", targetNames(got.LiveTargets))
				}
			})
		})
	}
}
