package wsbridge

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
)

func chatPluginState(isReady string) string {
	if isReady != "" {
		isReady = `,"ready":` + isReady
	}
	return `"plugins":[{"name":"chat","hash":"h1"` + isReady + `}]`
}

func newFrameJSON(id int, isReady string) string {
	return fmt.Sprintf(`{"frameId":%d,"url":"https://x/f%[1]d","documentId":"f%[1]d",%s}`, id, chatPluginState(isReady))
}

func describeTargets(targets []dispatch.Target) string {
	var targetTexts []string
	for _, t := range targets {
		targetTexts = append(targetTexts, fmt.Sprintf("%d/%d", t.TabID, t.FrameID))
	}
	return strings.Join(targetTexts, " ")
}

func TestTargetsAreRankedByReadiness(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join([]string{
			newTabJSON(1, "af", 900, "d1", ","+chatPluginState("false")),
			newTabJSON(2, "af", 900, "d2", ","+chatPluginState("")),
			newTabJSON(3, "", 100, "d3", ","+chatPluginState("true")),
			newTabJSON(4, "", 200, "d4", ","+chatPluginState("true")),
			newTabJSON(5, "a", 1, "d5", ","+chatPluginState("true")),
			newTabJSON(6, "a", 1, "d6", ","+chatPluginState("")),
		}, ",") + `]}}`)
		w.readEvents()
		if got := describeTargets(w.hub.CurrentTargets("chat").LiveTargets); got != "2/0 5/0 6/0 4/0 3/0 1/0" {
			t.Error(got)
		}
	})
}

// A top document ranks before its frames, but a ready frame ranks before a top document that is not ready.
func TestReadyFrameRanksBeforeUnreadyTopDocument(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		listTabs := func(tabs ...string) {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`)
			w.readEvents()
		}
		frames := func(frameList ...string) string { return `,"frames":[` + strings.Join(frameList, ",") + `]` }
		listTabs(
			newTabJSON(1, "af", 5, "d1", ","+chatPluginState("true")+frames(newFrameJSON(9, "true"), newFrameJSON(4, "true"))),
			newTabJSON(2, "", 9, "d2", ","+chatPluginState("false")+frames(newFrameJSON(7, "true"))),
			newTabJSON(3, "", 1, "", frames(newFrameJSON(8, "true"), `{"frameId":0,"url":"https://x/","documentId":"forged",`+chatPluginState("true")+`}`)),
		)
		currentTargets := w.hub.CurrentTargets("chat")
		if got := describeTargets(currentTargets.LiveTargets); got != "1/0 1/4 1/9 2/7 3/8 2/0" {
			t.Error(got)
		}
		frame := currentTargets.LiveTargets[3]
		if want := (dispatch.Target{
			Browser: "b1", BrowserName: "Chrome", TabID: 2, FrameID: 7, DocumentID: "f7", URL: "https://x/f7", Title: "T2", Readiness: dispatch.ReadinessReady,
		}); frame != want {
			t.Errorf("target of the frame = %+v, want %+v", frame, want)
		}
		start := func(id string) string {
			toolRun := dispatch.Run{ID: id, Plugin: "chat", Tool: "send", Target: frame}
			if err := w.hub.Start(w.t.Context(), toolRun, sink{w, id}); err != nil {
				return string(err.Code)
			}
			return ""
		}
		if code := start("r1"); code != "" {
			t.Error(code)
		}
		if got := p.readFrames(); len(got) == 0 || !strings.Contains(got[len(got)-1], `"tabId":2,"documentId":"f7"`) {
			t.Error(got)
		}
		p.sendFrame(`{"jsonrpc":"2.0","id":"r1","error":{"code":-32000,"message":"gone","data":{"code":"navigated","message":"gone","notStarted":true}}}`)
		w.readEvents()
		if got := describeTargets(w.hub.CurrentTargets("chat").LiveTargets); strings.Contains(got, "2/7") || !strings.Contains(got, "2/0") {
			t.Error(got)
		}
		if code := start("r2"); code != string(wire.ErrNavigated) {
			t.Errorf("error code of the run = %q, want navigated", code)
		}
	})
}

func TestPluginStateOfTabs(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		for _, tt := range []struct {
			tabs []string
			want dispatch.PluginState
		}{
			{nil, dispatch.StateClosed},
			{[]string{newTabJSON(1, "", 1, "", `,"needsReload":["chat"]`)}, dispatch.StateUnavailable},
			{[]string{newTabJSON(1, "", 1, "", `,"loading":["chat"]`)}, dispatch.StateUnavailable},
			{[]string{newTabJSON(1, "", 1, "", `,"loading":["other"]`)}, dispatch.StateClosed},
			{[]string{newTabJSON(1, "", 1, "", `,"broken":[{"name":"chat","hash":"h1","problem":"it threw"}]`)}, dispatch.StateFailed},
			{[]string{newTabJSON(1, "", 1, "", `,"broken":[{"name":"chat","hash":"old","problem":"it threw"}]`)}, dispatch.StateUnavailable},
			{[]string{newTabJSON(1, "", 1, "d", ","+chatPluginState(""))}, dispatch.StateUnavailable},
			{[]string{newTabJSON(1, "", 1, "d", ","+chatPluginState("false"))}, dispatch.StateUnavailable},
			{[]string{newTabJSON(1, "", 1, "d", ","+chatPluginState("false")), newTabJSON(2, "", 1, "e", ","+chatPluginState("true"))}, dispatch.StateReady},
		} {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tt.tabs, ",") + `]}}`)
			w.readEvents()
			if got := w.hub.CurrentTargets("chat").State(); got != tt.want {
				t.Errorf("state of the plugin with the tabs %v = %s, want %s", tt.tabs, got, tt.want)
			}
		}
		if got := w.hub.CurrentTargets("other").State(); got != dispatch.StateClosed {
			t.Error(got)
		}
	})
}

func TestTargetsWithSameTabIDInTwoBrowsers(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		for _, id := range []string{"b1", "b2"} {
			p := w.connectBrowser(id, "boot-"+id)
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + newTabJSON(7, "", 1, "d-"+id, ","+chatPluginState("true")) + `]}}`)
		}
		w.readEvents()
		liveTargets := w.hub.CurrentTargets("chat").LiveTargets
		if len(liveTargets) != 2 || liveTargets[0].DocumentID != "d-b1" || liveTargets[1].DocumentID != "d-b2" {
			t.Errorf("live targets = %+v, want the documents d-b1 and d-b2", liveTargets)
		}
		if err := w.hub.Start(w.t.Context(), dispatch.Run{ID: "r", Plugin: "chat", Tool: "t", Target: dispatch.Target{
			Browser: "b2", TabID: 7, DocumentID: "d-b1",
		}}, sink{w, "r"}); err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("Start returned the error %+v, want navigated", err)
		}
	})
}

func TestPagesOutsidePluginSitesAreNoTargets(t *testing.T) {
	hash := "h1"
	frames := true
	var log bytes.Buffer
	o := Options{Adapters: newChatPluginAdapters(&hash), Log: zerolog.New(&log), CanPluginRunIn: func(plugin, url string, frame bool) bool {
		return plugin == "chat" && strings.HasPrefix(url, "https://x/") && (!frame || frames)
	}}
	testWithHub(t, o, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		otherSiteFrameJSON := strings.Replace(newFrameJSON(4, "true"), "https://x/", "https://evil.example/", 1)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join([]string{
			newTabJSON(1, "af", 900, "d1", ","+chatPluginState("true")+`,"frames":[`+newFrameJSON(3, "true")+","+otherSiteFrameJSON+`]`),
			strings.Replace(newTabJSON(2, "af", 900, "d2", ","+chatPluginState("true")), "https://x/", "https://evil.example/", 1),
			strings.Replace(newTabJSON(3, "af", 900, "", `,"needsReload":["chat"]`), "https://x/", "https://evil.example/", 1),
		}, ",") + `]}}`)
		w.readEvents()
		foundTargets := w.hub.CurrentTargets("chat")
		if got := describeTargets(foundTargets.LiveTargets); got != "1/0 1/3" || len(foundTargets.TabsToReload) != 0 {
			t.Error(got, foundTargets.TabsToReload)
		}
		if n := strings.Count(log.String(), "outside its sites"); n != 1 {
			t.Errorf("the log contains the warning about a page outside the sites %d times, want 1", n)
		}
		frames = false
		if got := describeTargets(w.hub.CurrentTargets("chat").LiveTargets); got != "1/0" {
			t.Error(got)
		}
	})
}

func TestUnresponsiveTabsAreNotLiveTargets(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		listTabs := func(tabs ...string) {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`)
			w.readEvents()
		}
		unresponsiveTab := newTabJSON(1, "af", 9, "d1", ","+chatPluginState("true")+`,"unresponsive":true`)
		listTabs(unresponsiveTab, newTabJSON(2, "", 1, "d2", ","+chatPluginState("true")))
		foundTargets := w.hub.CurrentTargets("chat")
		if describeTargets(foundTargets.LiveTargets) != "2/0" || describeTargets(foundTargets.UnresponsiveTargets) != "1/0" {
			t.Errorf("live targets = %q and unresponsive targets = %q, want 2/0 and 1/0", describeTargets(foundTargets.LiveTargets), describeTargets(foundTargets.UnresponsiveTargets))
		}
		listTabs(unresponsiveTab)
		if startTime, foundTargets := time.Now(), w.hub.Targets(context.Background(), dispatch.TargetChoice{Plugin: "chat"}); len(foundTargets.LiveTargets) > 0 || time.Since(startTime) != loadTimeout {
			t.Errorf("live targets = %q after %v, want none after %v", describeTargets(foundTargets.LiveTargets), time.Since(startTime), loadTimeout)
		}
		if err := w.hub.ReloadTab(context.Background(), "", 7); err == nil || !strings.Contains(err.Error(), "no connected browser has a tab 7") {
			t.Errorf("the reload of tab 7 returned the error %v, want an error that contains %q", err, "no connected browser has a tab 7")
		}
		if err := w.hub.ReloadTab(context.Background(), "another", 1); err == nil {
			t.Error("ReloadTab reloaded a tab of another browser, want an error")
		}
	})
}
