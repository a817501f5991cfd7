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
	var spots []string
	for _, t := range targets {
		spots = append(spots, fmt.Sprintf("%d/%d", t.TabID, t.FrameID))
	}
	return strings.Join(spots, " ")
}

func TestRankOfReadiness(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
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
func TestFramesOfTabs(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
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
		where := w.hub.CurrentTargets("chat")
		if got := describeTargets(where.LiveTargets); got != "1/0 1/4 1/9 2/7 3/8 2/0" {
			t.Error(got)
		}
		frame := where.LiveTargets[3]
		if want := (dispatch.Target{
			Browser: "b1", BrowserName: "Chrome", TabID: 2, FrameID: 7, DocumentID: "f7", URL: "https://x/f7", Title: "T2", Readiness: dispatch.Ready,
		}); frame != want {
			t.Errorf("%+v, want %+v", frame, want)
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
			t.Errorf("the code is %q", code)
		}
	})
}

func TestStateOfAPlugin(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
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
				t.Errorf("%v: %s, want %s", tt.tabs, got, tt.want)
			}
		}
		if got := w.hub.CurrentTargets("other").State(); got != dispatch.StateClosed {
			t.Error(got)
		}
	})
}

func TestEqualTabsOfTwoBrowsers(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		for _, id := range []string{"b1", "b2"} {
			p := w.connectBrowser(id, "boot-"+id)
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + newTabJSON(7, "", 1, "d-"+id, ","+chatPluginState("true")) + `]}}`)
		}
		w.readEvents()
		liveTargets := w.hub.CurrentTargets("chat").LiveTargets
		if len(liveTargets) != 2 || liveTargets[0].DocumentID != "d-b1" || liveTargets[1].DocumentID != "d-b2" {
			t.Errorf("the live targets are %+v", liveTargets)
		}
		if err := w.hub.Start(w.t.Context(), dispatch.Run{ID: "r", Plugin: "chat", Tool: "t", Target: dispatch.Target{
			Browser: "b2", TabID: 7, DocumentID: "d-b1",
		}}, sink{w, "r"}); err == nil || err.Code != wire.ErrNavigated {
			t.Errorf("Start returned the error %+v", err)
		}
	})
}

func TestPagesOutsideOfAPluginsSites(t *testing.T) {
	hash := "h1"
	frames := true
	var log bytes.Buffer
	o := Options{Adapters: newOnePluginAdapters(&hash), Log: zerolog.New(&log), MayRunIn: func(plugin, url string, frame bool) bool {
		return plugin == "chat" && strings.HasPrefix(url, "https://x/") && (!frame || frames)
	}}
	withHub(t, o, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		evilTab := strings.Replace(newFrameJSON(4, "true"), "https://x/", "https://evil.example/", 1)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join([]string{
			newTabJSON(1, "af", 900, "d1", ","+chatPluginState("true")+`,"frames":[`+newFrameJSON(3, "true")+","+evilTab+`]`),
			strings.Replace(newTabJSON(2, "af", 900, "d2", ","+chatPluginState("true")), "https://x/", "https://evil.example/", 1),
			strings.Replace(newTabJSON(3, "af", 900, "", `,"needsReload":["chat"]`), "https://x/", "https://evil.example/", 1),
		}, ",") + `]}}`)
		w.readEvents()
		foundTargets := w.hub.CurrentTargets("chat")
		if got := describeTargets(foundTargets.LiveTargets); got != "1/0 1/3" || len(foundTargets.TabsToReload) != 0 {
			t.Error(got, foundTargets.TabsToReload)
		}
		if n := strings.Count(log.String(), "outside its sites"); n != 1 {
			t.Errorf("the problem was logged %d times; want 1", n)
		}
		frames = false
		if got := describeTargets(w.hub.CurrentTargets("chat").LiveTargets); got != "1/0" {
			t.Error(got)
		}
	})
}

func TestSilentTabs(t *testing.T) {
	hash := "h1"
	withHub(t, Options{Adapters: newOnePluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		listTabs := func(tabs ...string) {
			p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + strings.Join(tabs, ",") + `]}}`)
			w.readEvents()
		}
		silentTabs := newTabJSON(1, "af", 9, "d1", ","+chatPluginState("true")+`,"unresponsive":true`)
		listTabs(silentTabs, newTabJSON(2, "", 1, "d2", ","+chatPluginState("true")))
		foundTargets := w.hub.CurrentTargets("chat")
		if describeTargets(foundTargets.LiveTargets) != "2/0" || describeTargets(foundTargets.UnresponsiveTargets) != "1/0" {
			t.Errorf("the targets are live %q and silent %q", describeTargets(foundTargets.LiveTargets), describeTargets(foundTargets.UnresponsiveTargets))
		}
		listTabs(silentTabs)
		if startTime, foundTargets := time.Now(), w.hub.Targets(context.Background(), dispatch.TargetChoice{Plugin: "chat"}); len(foundTargets.LiveTargets) > 0 || time.Since(startTime) != loadTimeout {
			t.Errorf("the live targets are %q after %v", describeTargets(foundTargets.LiveTargets), time.Since(startTime))
		}
		if err := w.hub.ReloadTab(context.Background(), "", 7); err == nil || !strings.Contains(err.Error(), "no connected browser has a tab 7") {
			t.Errorf("the reload of tab 7 returned %v; want an error that contains %q", err, "no connected browser has a tab 7")
		}
		if err := w.hub.ReloadTab(context.Background(), "another", 1); err == nil {
			t.Error("a tab of another browser was reloaded")
		}
	})
}
