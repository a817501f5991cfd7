package statusview

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

func TestPrintStatus(t *testing.T) {
	yes := true
	since := time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)
	var b bytes.Buffer
	serverStatus := httpapi.Status{
		Version: "1.2.3", PID: 42, Address: "127.0.0.1:9527", UptimeMs: 70_400, Home: httpapi.Home{Config: "/c", State: "/c"},
		Limits: httpapi.Limits{IdleTimeoutMs: 60_000, HardTimeoutMs: 3_600_000}, Calls: httpapi.CallCount{Running: 1, Queued: 4, WaitingForApproval: 2, WaitingForYou: 1},
		Browsers: []httpapi.Browser{{Name: "Work\x1b", ID: "b1", Version: "9", Connected: true, InjectMode: wire.InjectFiles, Tabs: []wire.TabInfo{
			{TabID: 7, URL: "https://a.example/", Plugins: []wire.TabPlugin{{Name: "a", IsReady: &yes}, {Name: "b"}},
				Frames: []wire.FrameInfo{{FrameID: 3, Plugins: []wire.TabPlugin{{Name: "c", IsReady: &yes}}}}, IsFrozen: true},
			{TabID: 8, URL: "https://b.example/", NeedsReload: []string{"a"}, Unresponsive: true},
			{TabID: 9, NeedsReload: []string{"a"}, LoadError: wire.LoadErrorNoAnswer},
			{TabID: 10, NeedsReload: []string{"a"}, LoadError: "net::ERR_FAILED"},
			{TabID: 11, NeedsReload: []string{"a"}, Discarded: true},
		}, HeldTabs: []httpapi.HeldTab{{TabID: 12, Site: "https://c.example", Client: "claude\x1b", EndsAt: since}, {TabID: 13, Site: "https://d.example", Client: "cursor\x1b", EndsAt: since, IsTakenBack: true}}}, {Name: "Home", ID: "b2", Version: "9", InjectMode: wire.InjectNone}},
		Plugins:     []httpapi.Plugin{{Name: "a", Version: "1", Tools: []string{"a__x"}, Reviewed: true, Permission: wire.PermissionAuto, State: "ready"}},
		Failed:      []httpapi.FailedPlugin{{Path: "/p", Error: "is broken"}},
		Permissions: []string{"one entry was dropped"},
		Clients:     []httpapi.MCPClient{{Name: "desk", Version: "2", Transport: "stdio", Since: since}},
	}
	Print(terminal.New(&b, &b, func(string) string { return "" }), serverStatus)
	const want = `server    opentabs 1.2.3, pid 42, on 127.0.0.1:9527, up 1 min 10 s
files     /c
limits    idle 1 min, hard 1 h
calls     1 running, 4 queued, 2 waiting for approval, 1 waiting for you
browsers  2
  Work\x1b (b1), extension 9, connected
    optional: turn on "Allow User Scripts" to update plugins without reloading the extension
    tab 7  https://a.example/  a, b (not ready), c in frame 3
      Chrome has suspended it to save resources: nothing runs in this tab until you switch to it
    tab 8  https://b.example/  a (reload the tab)
      the page does not respond: a script blocks it (opentabs browser reload-tab 8)
    tab 9    a (the site does not answer)
    tab 10    a (the page can't be loaded: net::ERR_FAILED)
    tab 11    a (unloaded by the browser; a call loads it)
    tab 12  https://c.example  held by claude\x1b until 03:02:01
    tab 13  https://d.example  you took it back from cursor\x1b, which must read the page before it acts again
      to stop a client in a tab, run ` + "`opentabs browser release 12`" + `
  Home (b2), extension 9, link lost
    it cannot run plugins: turn on "Allow User Scripts" in the extension's details in chrome://extensions
plugins   2
  a 1, 1 tool, auto, ready
  permissions: one entry was dropped
  /p failed: is broken
clients   1
  desk 2, by stdio, since 2026-05-04 03:02:01
`
	if got := b.String(); got != want {
		t.Errorf("printed status:\n%s\nwant\n%v", got, want)
	}
	var screenBuffer bytes.Buffer
	Print(terminal.NewTerminal(&screenBuffer, func() (int, int) { return 60, 24 }), serverStatus)
	for line := range strings.Lines(screenBuffer.String()) {
		if len(line) > 60+len("\n") {
			t.Errorf("on a terminal of 60 columns, Print wrote the longer line %q; want at most 60 columns", line)
		}
	}
	if got, want := strings.Fields(screenBuffer.String()), strings.Fields(b.String()); !slices.Equal(got, want) {
		t.Errorf("words on a terminal:\n%q\nwant the words in a pipe:\n%q", got, want)
	}
}

func TestPrintWithoutBrowsers(t *testing.T) {
	var b bytes.Buffer
	Print(terminal.New(&b, &b, func(string) string { return "" }), httpapi.Status{})
	if !bytes.Contains(b.Bytes(), []byte("browsers  none\n  open Chrome with the opentabs extension; run `opentabs extension install` for the steps\nplugins   none\nclients   none\n")) {
		t.Errorf("status without browsers:\n%s\nwant the advice to open Chrome with the extension", b.String())
	}
}

func TestFormatCallCount(t *testing.T) {
	for want, c := range map[string]httpapi.CallCount{
		"none":                   {},
		"2 running":              {Running: 2},
		"1 waiting for you":      {WaitingForYou: 1},
		"1 running, 3 queued":    {Running: 1, Queued: 3},
		"1 waiting for approval": {WaitingForApproval: 1},
	} {
		if got := formatCallCount(c); got != want {
			t.Errorf("the text for %+v is %q, want %q", c, got, want)
		}
	}
}
