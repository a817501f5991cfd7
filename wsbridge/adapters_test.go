package wsbridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/requests"
)

func newSyncFrame(id int, plugins string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"s/%d","method":"plugin.sync","params":{%s}}`, id, plugins)
}

func newCodeFrame(id int, name, hash, code string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"s/%d","method":"plugin.code","params":{"name":%q,"hash":%q,"script":%q,"code":%q}}`, id, name, hash, "s-"+hash, code)
}

func pluginInfos(names ...string) []wire.PluginInfo {
	var infos []wire.PluginInfo
	for _, n := range names {
		infos = append(infos, wire.PluginInfo{Name: n, DisplayName: n, Hash: "h-" + n, World: wire.WorldMain, ScriptID: "s-h-" + n})
	}
	return infos
}

// If the code of one plugin cannot be loaded, the browser must still receive the code of the others.
func TestPluginCodeIsSentDespiteFailures(t *testing.T) {
	testWithHub(t, Options{Adapters: fakeAdapters{
		listPlugins: func() []wire.PluginInfo { return pluginInfos("a", "b", "c", "d") },
		code: func(name, hash string) (string, error) {
			if name == "b" {
				return "", errors.New("b has changed on disk")
			}
			return "run(" + name + ")", nil
		},
	}}, func(w *hubFixture) {
		p := w.dial()
		p.sendHello("b1", "boot1")
		pluginsJSON := `"plugins":[`
		for i, n := range []string{"a", "b", "c", "d"} {
			if i > 0 {
				pluginsJSON += ","
			}
			pluginsJSON += fmt.Sprintf(`{"name":%q,"displayName":%[1]q,"hash":"h-%[1]s","world":"main","script":"s-h-%[1]s"}`, n)
		}
		p.wantFrames(helloResponse, newSyncFrame(1, pluginsJSON+"]"))
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts","missing":["a","unknown","b","c","a","d"]}}`)
		p.wantFrames(newCodeFrame(2, "a", "h-a", "run(a)"), newCodeFrame(3, "c", "h-c", "run(c)"), newCodeFrame(4, "d", "h-d", "run(d)"))
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/3","error":{"code":-32603,"message":"does not parse"}}`)
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/2","result":{}}`)
		w.advanceTime(requests.Timeout)
		p.wantFrames()
		w.hub.Sync()
		p.wantFrames(newSyncFrame(5, pluginsJSON+"]"))
	})
}

func TestPluginCodeInFlightIsLimited(t *testing.T) {
	largeCode := strings.Repeat("x", maxCodeInFlight/2-1000)
	testWithHub(t, Options{Adapters: fakeAdapters{
		listPlugins: func() []wire.PluginInfo { return pluginInfos("a", "b", "c") },
		code:        func(string, string) (string, error) { return largeCode, nil },
	}}, func(w *hubFixture) {
		p := w.dial()
		p.sendHello("b1", "boot1")
		_ = p.readFrames()
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts","missing":["a","b","c"]}}`)
		p.wantFrames(newCodeFrame(2, "a", "h-a", largeCode), newCodeFrame(3, "b", "h-b", largeCode))
		w.advanceTime(29 * time.Second)
		p.wantFrames()
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/2","result":{}}`)
		p.wantFrames(newCodeFrame(4, "c", "h-c", largeCode))
	})
}

// After the list of plugins has changed, the hub must send no more code of plugins in the previous list.
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
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts","missing":["chat"]}}`)
		p.wantFrames(newSyncFrame(2, listPlugins()))
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/2","result":{"mode":"userScripts","missing":["chat"]}}`)
		p.wantFrames(newCodeFrame(3, "chat", "h11", "code of chat h11"))
		p.sendFrame(`{"jsonrpc":"2.0","id":"s/3","result":{}}`)
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
		q.sendFrame(`{"jsonrpc":"2.0","id":"s/1","result":{"mode":"userScripts","missing":["chat"]}}`)
		q.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7}]}}`)
		foundTargets := make(chan dispatch.Targets, 1)
		go func() { foundTargets <- w.hub.Targets(w.t.Context(), dispatch.TargetChoice{Plugin: "chat"}) }()
		w.advanceTime(time.Second)
		if len(foundTargets) > 0 {
			t.Fatalf("the call found the targets %+v before the browser had the adapter, want the call to wait", <-foundTargets)
		}
		q.sendFrame(`{"jsonrpc":"2.0","method":"tab.sync","params":{"tabs":[{"tabId":7,"documentId":"d7","plugins":[{"name":"chat","hash":"h1"}]}]}}`)
		if got := <-foundTargets; targetNames(got.LiveTargets) != "b1/7" {
			t.Errorf("live targets = %q, want b1/7", targetNames(got.LiveTargets))
		}
	})
}
