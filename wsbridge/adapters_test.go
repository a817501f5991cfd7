package wsbridge

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
)

func newSyncFrame(id int, plugins string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"s/%d","method":"plugin.sync","params":{%s}}`, id, plugins)
}

func TestConcurrentChangesCauseOneSync(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.dial()
		p.sendHello("b1", "boot1")
		listPlugins := func() string {
			return fmt.Sprintf(`"plugins":[{"name":"chat","displayName":"Chat","hash":%[1]q,"world":"main","script":"s-%[1]s"}]`, hash)
		}
		p.wantFrames(helloResponse, newSyncFrame(1, listPlugins()))
		for i := range 10 {
			hash = fmt.Sprint("h", i+2)
			w.hub.Sync()
		}
		p.wantFrames()
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts"}}`)
		p.wantFrames(newSyncFrame(2, listPlugins()))
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/2","result":{"mode":"userScripts"}}`)
		p.wantFrames()
	})
}

func TestToolsRunDuringAdapterSync(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.run("b1", "c1")
		p.wantFrames(newDispatchFrame("c1"))
		p.respond("c1", "1")
		w.wantEvents("c1 returned 1")
	})
}

func TestCallsWaitForAdaptersAfterLostLink(t *testing.T) {
	hash := "h1"
	testWithHub(t, Options{Adapters: newChatPluginAdapters(&hash)}, func(w *hubFixture) {
		p := w.dial()
		p.sendHello("b1", "boot1")
		synctest.Wait()
		p.closeAbruptly()
		q := w.dial()
		q.sendHello("b1", "boot1")
		synctest.Wait()
		foundTargets := make(chan dispatch.Targets, 1)
		go func() { foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		w.advanceTime(time.Second)
		if len(foundTargets) > 0 {
			t.Fatalf("the call found the targets %+v before the browser had the adapter, want the call to wait", <-foundTargets)
		}
		q.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts"}}`)
		q.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h1"}]}]}}`)
		if got := <-foundTargets; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
	})
}
