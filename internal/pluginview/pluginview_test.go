package pluginview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"opentabs/internal/httpapi"
	"opentabs/internal/pluginlog"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/wire"
)

var testTime = time.Date(2026, 5, 4, 3, 2, 1, 0, time.Local)

func TestCandidateState(t *testing.T) {
	for want, p := range map[string]httpapi.Plugin{
		"changed since it was reviewed (opentabs plugin review a), an agent recommends it": {HasChanged: true, Recommendation: &httpapi.Recommendation{ChangeOrigin: httpapi.ChangeOrigin{By: "an agent"}}},
		"not reviewed (opentabs plugin review a)":                                          {Permission: wire.PermissionOff},
		"auto, failed: it threw":                                                           {Reviewed: true, Permission: wire.PermissionAuto, Fault: &httpapi.Fault{Text: "it\nthrew"}},
		"needs settings: key, url (opentabs plugin configure a)":                           {Reviewed: true, MissingSettings: []string{"key", "url"}},
		"ask, closed, may call b and c, late access":                                       {Reviewed: true, Permission: wire.PermissionAsk, State: "closed", Calls: []string{"b", "c"}, HasLateStartAccess: true},
		"ask": {Reviewed: true, Permission: wire.PermissionAsk},
	} {
		p.Name = "a"
		if got := State(p); got != want {
			t.Errorf("State = %q, want %q", got, want)
		}
	}
}

func TestEntryLines(t *testing.T) {
	p := &plugin.Plugin{Name: "a", Version: "1.0.0", DisplayName: "A\x1b", Dir: "/a", Package: "opentabs-plugin-a"}
	status := httpapi.Plugin{Reviewed: true, Permission: wire.PermissionAuto}
	for packageSource, want := range map[plugin.Source]string{
		plugin.SourceNPM: "installed from opentabs-plugin-a", plugin.SourceGlobal: "installed with npm: /a", "": "/a",
	} {
		p.Source = packageSource
		if got := Line(p, status); got != `a 1.0.0 (A\x1b), auto, `+want {
			t.Errorf("Line of a plugin from %s = %q, want the source at its end", packageSource, got)
		}
	}
	if got := Version(p); got != `1.0.0 (A\x1b), 0 tools` {
		t.Errorf("Version = %q; want %q", got, `1.0.0 (A\x1b), 0 tools`)
	}
	if got := FailedLine(httpapi.FailedPlugin{Path: "/b", Error: "one\ntwo"}); got != "/b failed: one two" {
		t.Errorf("FailedLine = %q; want %q", got, "/b failed: one two")
	}
}

func TestPluginChanges(t *testing.T) {
	pluginBefore := &plugin.Plugin{Name: "a", Matches: []string{"one", "two"}, Tools: []*plugin.Tool{{Name: "x", Plugin: &plugin.Plugin{Name: "a"}}}}
	pluginAfter := &plugin.Plugin{Name: "a", Matches: []string{"two", "three"}, PreScript: true}
	want := "new sites: three\nremoved sites: one\nremoved tools: a__x\nnew pre-script, which runs before the page's own scripts"
	if got := strings.Join(DescribeChanges(pluginBefore, pluginAfter), "\n"); got != want {
		t.Errorf("DescribeChanges returned\n%s\nwant\n%v", got, want)
	}
	if got := DescribeChanges(pluginBefore, pluginBefore); len(got) > 0 {
		t.Errorf("DescribeChanges of equal versions = %q, want none", got)
	}
}

func TestPrintReview(t *testing.T) {
	yes := true
	p := &plugin.Plugin{
		Name: "a", Version: "2", DisplayName: "A", Description: "Reads.\x1b[2J", Dir: "/none", Matches: []string{"*://a.example/*"},
		Excludes: []string{"*://a.example/x"}, PreScript: true, World: wire.WorldMain,
		Tools: []*plugin.Tool{{Plugin: &plugin.Plugin{Name: "a"}, Name: "x", Description: "Does x.", Annotations: plugin.Annotations{ReadOnly: &yes, Idempotent: &yes}}},
	}
	changeOrigin := httpapi.ChangeOrigin{At: testTime, By: "the terminal"}
	var b bytes.Buffer
	PrintReview(terminal.New(&b, &b, func(string) string { return "" }), p, httpapi.PluginPermissions{
		Hash: "h", StartsAfterPageScripts: true, HasLateStartAccess: true, StoredPermission: wire.PermissionAuto, StoredCalls: []httpapi.AllowedCall{{Plugin: "b"}, {Plugin: "c"}},
		Review: &httpapi.Review{Version: "1", Dir: "/old", ChangeOrigin: changeOrigin}, Fault: &httpapi.Fault{Text: "it threw"},
		Recommendation: &httpapi.Recommendation{Permission: wire.PermissionAsk, Note: "fine", ChangeOrigin: httpapi.ChangeOrigin{By: "desk"}},
		Tools:          []httpapi.ToolPermissions{{Name: "x", PermissionOverride: wire.PermissionOff, Limit: "1/1m"}},
	})
	got := b.String()
	for _, want := range []string{
		"a 2 (A)\n  Reads.\\x1b[2J\n  folder    /none\n  sites     *://a.example/*\n  but not   *://a.example/x\n  code      ",
		"\n  before it dist/pre-script.iife.js, which runs before all scripts of the page and in its frames\n  world     ",
		plugin.LateStartDescription + " You have allowed both.\n",
		"\n  calls     none; before it changed it might call b, c, which you can allow again\n  hash      h\n",
		"\n  reviewed  version 1 on 2026-05-04 03:02:01 by the terminal; CHANGED SINCE, it was in /old; its permission was auto\n",
		"\n  failed    it threw\n  advised   an agent by desk recommends the permission ask; only you can enable the plugin; it writes: \"fine\"\n1 tool:\n",
		"\n  a__x  (its author claims: only reads, may be repeated)  off  limit 1/1m\n      Does x.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want the text %q in the review, got\n%s", want, got)
		}
	}
}

func TestPrintCandidatesIsComplete(t *testing.T) {
	candidates := []Candidate{
		{Name: "a", Version: "1.0.0", State: stateNew, ReadTools: 1, WriteTools: 2, Sites: []string{"*://a.example/*"}, BrowserFeatures: []string{"Function", "context.call", "fetch", "sendBeacon"}},
		{Name: "a-plugin-with-a-long-name", Version: "2.0.0", State: stateChanged, Warnings: []string{"changed since your review of 1.0.0, was ask", "runs in frames"}},
	}
	for _, columns := range []int{40, 80, 100, 200} {
		var b bytes.Buffer
		PrintCandidates(terminal.NewTerminal(&b, func() (int, int) { return columns, 24 }), candidates)
		got := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{
			"Function, context.call, fetch, sendBeacon", "changed since your review of 1.0.0, was ask; runs in frames", "1.0.0", "2.0.0", "new", "changed", "a.example",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("terminal of %d columns: want the text %q in\n%s", columns, want, b.String())
			}
		}
		for line := range strings.Lines(b.String()) {
			if len(strings.TrimSuffix(line, "\n")) > columns && !strings.Contains(line, "`") {
				t.Errorf("terminal of %d columns: want no longer line, got %q", columns, line)
			}
		}
	}
	var b bytes.Buffer
	PrintCandidates(terminal.NewTerminal(&b, func() (int, int) { return 80, 24 }), candidates[:1])
	want := "a 1.0.0, new, READ 1, WRITE 2\n  sites          a.example\n  code mentions  Function, context.call, fetch, sendBeacon\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("printed candidates:\n%s\nwant a text that begins with\n%s", b.String(), want)
	}
}

func TestPermissionRows(t *testing.T) {
	changeOrigin := httpapi.ChangeOrigin{At: testTime, By: "the terminal"}
	views := []httpapi.PluginPermissions{{
		Plugin: "a", Permission: wire.PermissionAsk, Reviewed: true, ChangeOrigin: changeOrigin, MayOpenTab: true, OpensURL: "https://a.example/", StartsAfterPageScripts: true,
		Calls: []httpapi.AllowedCall{{Plugin: "b"}},
		Tools: []httpapi.ToolPermissions{
			{Name: "x", Permission: wire.PermissionAuto, PermissionOverride: wire.PermissionAuto, Limit: "1/1m", ChangeOrigin: changeOrigin, Grants: []httpapi.Grant{
				{Scope: wire.ScopeSession, Client: "desk"}, {Scope: wire.ScopeAlways, Caller: "b", Client: "desk"}, {Scope: wire.ScopeTime, Caller: "b", ExpiresAt: testTime, ChangeOrigin: changeOrigin},
			}},
			{Name: "y", Permission: wire.PermissionAsk},
		},
	}, {Plugin: "b", Permission: wire.PermissionOff}, {Plugin: "c", Permission: wire.PermissionOff, Review: &httpapi.Review{}}}
	var lines []string
	for _, tableRow := range PermissionRows(views, "x") {
		lines = append(lines, strings.Join(tableRow, "|"))
	}
	want := `TOOL|PERMISSION|LIMIT|SET BY|
a|ask||on 2026-05-04 03:02:01 by the terminal|may open https://a.example/; may call b; but not without late access
a__x|auto|1/1m|on 2026-05-04 03:02:01 by the terminal|allowed for this session to desk; allowed always to the plugin b for desk; allowed until 03:02:01 to the plugin b on 2026-05-04 03:02:01 by the terminal
b|off|||not reviewed: opentabs plugin review b
c|off|||changed since its review: opentabs plugin review c`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("PermissionRows returned\n%s\nwant\n%v", got, want)
	}
	if tableRows := PermissionRows(views[:1], ""); len(tableRows) != 4 {
		t.Errorf("PermissionRows without a tool returned %d rows, want 4", len(tableRows))
	}
}

func TestReviewHint(t *testing.T) {
	for want, currentPermissions := range map[string]httpapi.PluginPermissions{
		"it has not changed since your review; its permission is ask":                                                         {Reviewed: true, Permission: wire.PermissionAsk, Review: &httpapi.Review{}},
		"it has changed since you reviewed it, so its tools do not run; review and enable it with `opentabs plugin review a`": {Review: &httpapi.Review{}},
		"its tools do not run yet; review and enable it with `opentabs plugin review a`":                                      {},
	} {
		currentPermissions.Plugin = "a"
		if got := ReviewHint(currentPermissions); got != want {
			t.Errorf("ReviewHint = %q, want %q", got, want)
		}
	}
}

func TestLogLines(t *testing.T) {
	e := pluginlog.Entry{Time: testTime, Plugin: "a", Level: wire.LogWarning, Message: "slow\nnow\x1b"}
	for want, pluginChange := range map[string]func(*pluginlog.Entry){
		"2026-05-04 03:02:01  warning  a  slow\n    now\\x1b":                                                     func(*pluginlog.Entry) {},
		"2026-05-04 03:02:01  warning  a  slow  {\"n\":1},2\n    now\\x1b":                                        func(e *pluginlog.Entry) { e.Data = []byte(`[{"n":1},2]`) },
		"2026-05-04 03:02:01  a: 1 entry is missing here\n2026-05-04 03:02:01  warning  a  slow\n    now\\x1b":    func(e *pluginlog.Entry) { e.Dropped = 1 },
		"2026-05-04 03:02:01  a: 3 entries are missing here\n2026-05-04 03:02:01  warning  a  slow\n    now\\x1b": func(e *pluginlog.Entry) { e.Dropped = 3 },
		"2026-05-04 03:02:01  warning  a  slow\n    now\\x1b\n    at f (src/a.ts:1:2)\n    at src/b.ts:3:4": func(e *pluginlog.Entry) {
			e.Stack = []string{"f (src/a.ts:1:2)", "src/b.ts:3:4"}
		},
	} {
		changedEntry := e
		pluginChange(&changedEntry)
		if got := strings.Join(LogLines(changedEntry), "\n"); got != want {
			t.Errorf("LogLines = %q, want %q", got, want)
		}
	}
}
