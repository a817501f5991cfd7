package wsbridge

import (
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
)

// TestPreviewHasNoEffect checks that the search for a target before an approval neither
// reloads the user's pages nor opens a tab. The search for a target reloads only tabs
// that show an error page of Chrome, to check whether the site responds again.
func TestPreviewHasNoEffect(t *testing.T) {
	hash := "h1"
	for _, tt := range []struct {
		name, tab, wantRequest string
	}{
		{"a tab needs a reload", newTabJSON(7, "", 1, "", `,"needsReload":["chat"]`), ""},
		{"no tab shows the site", "", ""},
		{"a tab shows an error page", newErrorPageJSON(7, connectionRefusedError, 1000), "tab.load"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
				p := w.connectSyncedBrowser(tt.tab)
				var requests []string
				w.findTargets(p, dispatch.TargetChoice{Plugin: "chat", URLToOpen: "https://x/7", IsPreview: true}, func(frame string) string {
					for _, method := range []string{"tab.load", "tab.open"} {
						if strings.Contains(frame, method) {
							requests = append(requests, method)
						}
					}
					return newMethodResponder("tab.load", `{"loading":true}`)(frame)
				}, newErrorPageJSON(7, connectionRefusedError, 2000))
				if got := strings.Join(requests, " "); got != tt.wantRequest {
					t.Errorf("requests to the browser = %q, want %q", got, tt.wantRequest)
				}
			})
		})
	}
}

// TestApprovedReloadIsForced checks that a tab whose reload could lose user input is
// reloaded only after the user has approved the reload.
func TestApprovedReloadIsForced(t *testing.T) {
	hash := "h1"
	for _, isApproved := range []bool{false, true} {
		testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
			p := w.connectSyncedBrowser(newTabJSON(7, "", 1, "", `,"needsReload":["chat"]`))
			var loadRequests []string
			targetChoice := dispatch.TargetChoice{Plugin: "chat", IsReloadApproved: isApproved}
			done := make(chan dispatch.Targets, 1)
			go func() { done <- w.hub.Targets(w.t.Context(), targetChoice) }()
			for range 10 {
				w.advanceTime(100 * time.Millisecond)
				for _, frame := range p.readFrames() {
					if !strings.Contains(frame, "tab.load") {
						continue
					}
					isForcedReload := strings.Contains(frame, `"force":true`)
					loadRequests = append(loadRequests, map[bool]string{false: "asked", true: "forced"}[isForcedReload])
					p.sendFrame(newMethodResponder("tab.load", map[bool]string{false: `{"loading":false}`, true: `{"loading":true}`}[isForcedReload])(frame))
					if isForcedReload {
						p.listTabs(newTabJSON(7, "", 1, "d7", ","+chatPluginState("true")))
					}
				}
			}
			foundTargets := <-done
			wantLoads, wantLiveTargets := "asked", ""
			if isApproved {
				wantLoads, wantLiveTargets = "asked forced", "b1/7"
			}
			if got := strings.Join(loadRequests, " "); got != wantLoads || targetNames(foundTargets.LiveTargets) != wantLiveTargets {
				t.Errorf("with the approval %t: tab.load requests = %q and live targets = %q; want %q and %q", isApproved, got, targetNames(foundTargets.LiveTargets), wantLoads, wantLiveTargets)
			}
		})
	}
}
