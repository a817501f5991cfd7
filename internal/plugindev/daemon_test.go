package plugindev

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

func TestPrintTabs(t *testing.T) {
	yes, no := true, false
	developedPlugin := &plugin.Plugin{Name: "a", Hash: "new", Dir: "/a"}
	tab := func(id int, hash string, isReady *bool, reload ...string) wire.TabInfo {
		return wire.TabInfo{TabID: id, URL: "u", Plugins: []wire.TabPlugin{{Name: "b", Hash: "new"}, {Name: "a", Hash: hash, IsReady: isReady}}, NeedsReload: reload}
	}
	for _, c := range []struct {
		name        string
		browsers    []httpapi.Browser
		wantSettled bool
		hasTimedOut bool
		want        string
	}{
		{"no browser", nil, true, false, "no browser is connected"},
		{"a disconnected browser", []httpapi.Browser{{Name: "B"}}, true, false, "no browser is connected"},
		{"no tab", []httpapi.Browser{{Connected: true}}, true, false, "no tab of its sites is open"},
		{"only other plugins", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{{TabID: 1, Plugins: []wire.TabPlugin{{Name: "b"}}}}}}, true, false, "no tab of its sites is open"},
		{"a document is loading", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{{TabID: 1, URL: "u", Loading: []string{"a"}}}}}, false, true, "tab 1 (u) in  still runs an older build or none: the page did not load the new build within 5 s; reload the tab, and run `opentabs doctor`"},
		{"live", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{tab(1, "new", &yes), tab(2, "new", &no)}}}, true, false, "live in 2 tabs after 1.0 s\n"},
		{"one tab is stale", []httpapi.Browser{{Connected: true, Tabs: []wire.TabInfo{tab(1, "new", nil), tab(2, "old", nil)}}}, false, true,
			"live in 1 tab after 1.0 s\nopentabs: tab 2 (u) in  still runs an older build or none: the page did not load the new build within 5 s; reload the tab, and run `opentabs doctor` if that does not help\n"},
		{"one tab needs a reload", []httpapi.Browser{{Connected: true, Name: "B", Tabs: []wire.TabInfo{tab(3, "old", nil, "a")}}}, true, false,
			"tab 3 (u) in B was open before; your next change reloads it\n"},
	} {
		tabs := findPluginTabs(httpapi.Status{Browsers: c.browsers}, developedPlugin)
		outBuffer := &bytes.Buffer{}
		s := &session{Options: Options{Out: terminal.New(outBuffer, outBuffer, os.Getenv)}, addedPlugin: developedPlugin}
		s.printTabs(tabs, c.hasTimedOut, time.Second)
		if tabs.isSettled(false) != c.wantSettled || tabs.isSettled(true) != (len(tabs.staleTabs) == 0) || !strings.HasPrefix(outBuffer.String(), "opentabs: "+c.want) {
			t.Errorf("%s: isSettled = %t, printed text = %q; want %t and the text %q", c.name, tabs.isSettled(false), outBuffer.String(), c.wantSettled, c.want)
		}
	}
}

func TestFindLoadingProblem(t *testing.T) {
	developedPlugin := &plugin.Plugin{Name: "a", Dir: "/a"}
	for _, c := range []struct {
		serverStatus httpapi.Status
		want         string
	}{
		{httpapi.Status{Plugins: []httpapi.Plugin{{Name: "a", Dir: "/a", Permission: "ask"}}}, ""},
		{httpapi.Status{Plugins: []httpapi.Plugin{{Name: "a", Dir: "/a", Permission: "off"}}}, "opentabs plugin permission a auto"},
		{httpapi.Status{Plugins: []httpapi.Plugin{{Name: "a", Dir: "/other"}}}, "opentabs plugin remove a"},
		{httpapi.Status{Failed: []httpapi.FailedPlugin{{Path: "/a", Error: "it is broken"}}}, "it is broken"},
		{httpapi.Status{Failed: []httpapi.FailedPlugin{{Path: "/b", Error: "it is broken"}}}, ""},
	} {
		if got := findLoadingProblem(c.serverStatus, developedPlugin); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("findLoadingProblem for the status %+v = %q, want %q", c.serverStatus, got, c.want)
		}
	}
}
