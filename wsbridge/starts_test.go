package wsbridge

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"opentabs/dispatch"
)

func TestAdapterStartsAreReported(t *testing.T) {
	hash := "h1"
	var mu sync.Mutex
	var startReports []AdapterStartReport
	takeReportedStarts := func() []AdapterStartReport {
		mu.Lock()
		defer mu.Unlock()
		newStartReports := startReports
		startReports = nil
		return newStartReports
	}
	o := Options{Adapters: newChatPluginAdapters(&hash), ReceiveStart: func(s AdapterStartReport) {
		mu.Lock()
		defer mu.Unlock()
		startReports = append(startReports, s)
	}}
	testWithHub(t, o, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.readEvents()
		takeReportedStarts()
		brokenTab := newTabJSON(1, "", 1, "", `,"broken":[{"name":"chat","hash":"h1","problem":"it threw\u202e"}]`)
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[` + brokenTab + `,` + newTabJSON(2, "", 1, "", `,"needsReload":["chat"]`) + `]}}`)
		w.readEvents()
		got := takeReportedStarts()
		if len(got) != 1 || got[0].Plugin != "chat" || got[0].Hash != "h1" || got[0].URL != "https://x/1" || got[0].Problem == "" || slices.Contains([]rune(got[0].Problem), '\u202e') {
			t.Errorf("reported starts = %+v, want one failed start without control characters", got)
		}
		startTime := time.Now()
		foundTargets := w.hub.Targets(context.Background(), dispatch.TargetChoice{Plugin: "chat"})
		if elapsedTime := time.Since(startTime); elapsedTime > 0 || len(foundTargets.BrokenTabs) != 1 || foundTargets.BrokenTabs[0].TabID != 1 || foundTargets.BrokenTabs[0].Problem == "" {
			t.Errorf("after %v the call found %+v, want one broken tab at once", elapsedTime, foundTargets)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"tab.changed","params":{"tabId":1,"tab":` + newTabJSON(1, "", 1, "d", ","+chatPluginState("true")) + `}}`)
		w.readEvents()
		if got := takeReportedStarts(); len(got) != 1 || got[0].Problem != "" || got[0].Hash != "h1" {
			t.Errorf("reported starts = %+v, want one start of h1 without a problem", got)
		}
	})
}
