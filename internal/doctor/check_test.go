package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"opentabs/browser"
	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/freeport"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/setup"
	"opentabs/internal/version"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type installation struct {
	config.Dirs
	variables map[string]string
	ping      func(ctx context.Context, browserID string) (time.Duration, error)
}

func newInstallation(t *testing.T) installation {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "opentabs")
	return installation{config.Dirs{Config: dir, State: dir}, map[string]string{
		"OPENTABS_PORT": findFreePort(t), "OPENTABS_DISCOVER_GLOBAL": "off",
	}, func(context.Context, string) (time.Duration, error) { return 3 * time.Millisecond, nil }}
}

func findFreePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

func (i installation) getenv(name string) string { return i.variables[name] }

func (i installation) makeDirs(t *testing.T) (token string) {
	t.Helper()
	_, err := i.CreateDirs()
	if err == nil {
		token, err = i.Token()
	}
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (i installation) serve(t *testing.T, serverStatus httpapi.Status) {
	t.Helper()
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Token: i.makeDirs(t), Health: httpapi.Health{OK: true, Version: version.Version, PID: 4711},
		Status:      func() httpapi.Status { return serverStatus },
		PingBrowser: i.ping, MCP: mcpWithoutTools(), Browsers: allowOnlyExtensionOrigin(),
	}))
	t.Cleanup(server.Close)
	i.variables["OPENTABS_PORT"] = strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)
}

func (i installation) options(t *testing.T) Options {
	return Options{Dirs: i.Dirs, Getenv: i.getenv, Warn: func(warning string) { t.Log(warning) }, ReadFile: readNoKernelFile}
}

// readNoKernelFile replaces os.ReadFile and simulates a machine without the Windows Subsystem
// for Linux.
func readNoKernelFile(string) ([]byte, error) { return nil, os.ErrNotExist }

func (i installation) check(t *testing.T) Report {
	t.Helper()
	r, err := Check(t.Context(), i.options(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Clients) < 10 || r.OK != (r.Failure() == nil) {
		t.Errorf("report: %d clients, OK = %t, failure %v; want at least 10 clients, and OK only without a failure", len(r.Clients), r.OK, r.Failure())
	}
	return r
}

// An element of wantedTexts such as "fail port 9527" means a finding of the level "fail" with "port 9527" in its fact
// or remedy.
func (r Report) expectFinding(t *testing.T, checkName string, wantedTexts ...string) {
	t.Helper()
	var findingLines []string
	for _, f := range r.Findings {
		if f.Check == checkName {
			findingLines = append(findingLines, fmt.Sprintf("%s %s; do: %s", f.Level, f.Fact, f.Remedy))
		}
	}
	isSame := slices.EqualFunc(findingLines, wantedTexts, func(got, want string) bool {
		level, message, _ := strings.Cut(want, " ")
		return strings.HasPrefix(got, level+" ") && strings.Contains(got, message)
	})
	if !isSame {
		t.Errorf("findings of the check %s = %q, want %q", checkName, findingLines, wantedTexts)
	}
}

func TestCheckNewInstallation(t *testing.T) {
	i := newInstallation(t)
	r := i.check(t)
	r.expectFinding(t, "directories", "ok "+i.State+" does not exist yet")
	r.expectFinding(t, "token", "ok does not exist yet")
	r.expectFinding(t, "settings", "ok "+i.ConfigFile()+" does not exist, so the defaults apply")
	r.expectFinding(t, "server", "warn not running; port "+i.variables["OPENTABS_PORT"]+" is free; do: start your MCP client, which starts the server, or run `opentabs serve`")
	r.expectFinding(t, "extension", "warn not installed yet; do: run `opentabs setup`")
	r.expectFinding(t, "browsers") // without a server, the state of browsers is unknown
	r.expectFinding(t, "plugins", "warn agents have no tools: there are no plugins, and browser tools are off; do: run `opentabs browser tools on`")
	r.expectFinding(t, "log", "ok "+i.LogFile()+" does not exist")
	if !r.OK {
		t.Error("OK = false for a report that contains only warnings; want true")
	}
	i.variables["OPENTABS_PORT"] = "0"
	i.check(t).expectFinding(t, "server", "warn not running; it will use any free port")
}

// TestNewInstallationHasOneRemedy checks that a computer on which nothing is set up gets one
// remedy, and that the other remedies return as soon as one part is set up.
func TestNewInstallationHasOneRemedy(t *testing.T) {
	i := newInstallation(t)
	o := Options{Dirs: i.Dirs, Getenv: i.getenv, Warn: func(string) {}, Machine: &setup.Machine{
		OS: "linux", Home: t.TempDir(), Getenv: i.getenv, LookPath: func(string) (string, error) { return "", os.ErrNotExist },
	}}
	remedies := func() (findingLines []string) {
		r, err := Check(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Remedy != "" {
				findingLines = append(findingLines, f.Check)
			}
		}
		return findingLines
	}
	if got := remedies(); !slices.Equal(got, []string{"setup"}) {
		t.Errorf("checks with a remedy = %q, want setup", got)
	}
	i.makeDirs(t)
	writeTestFile(t, filepath.Join(i.ExtensionDir(), extensiondir.ConnectionFile), "{}", 0o600)
	if got := remedies(); slices.Contains(got, "setup") || !slices.Contains(got, "server") || !slices.Contains(got, "plugins") {
		t.Errorf("checks with a remedy = %q, want server and plugins", got)
	}
}

func TestCheckDamagedInstallation(t *testing.T) {
	i := newInstallation(t)
	i.makeDirs(t)
	now := time.Now().UTC().Format(time.RFC3339)
	for path, fileContent := range map[string]string{
		i.TokenFile():  "damaged",
		i.ConfigFile(): `{"port": "x"}`,
		i.LogFile():    `{"level":"error","time":"` + now + `","message":"it broke","error":"no space"}` + "\nopentabs: a text\n",
	} {
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(i.ConfigFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	r := i.check(t)
	r.expectFinding(t, "directories", "warn other users can open "+i.ConfigFile())
	r.expectFinding(t, "token", "fail the token file "+i.TokenFile()+" contains only 7 of the 43 characters of a token; do: run `opentabs doctor --fix`")
	r.expectFinding(t, "settings", `fail "port" is "x"`)
	r.expectFinding(t, "server", "fail its port is unknown; do: correct the settings first")
	r.expectFinding(t, "log", "warn it broke: no space; do: if something failed at that time, read the lines before the error in "+i.LogFile())
	if err := r.Failure(); err == nil || !strings.HasPrefix(err.Error(), "3 checks failed") {
		t.Errorf("failure of the report = %v; want an error that begins with %q", err, "3 checks failed")
	}
}

// TestCheckOtherServer checks that `opentabs doctor` reports a failure if a server of another
// installation uses the port.
func TestCheckOtherServer(t *testing.T) {
	i, otherInstallation := newInstallation(t), newInstallation(t)
	i.makeDirs(t)
	otherInstallation.serve(t, httpapi.Status{})
	i.variables["OPENTABS_PORT"] = otherInstallation.variables["OPENTABS_PORT"]
	i.check(t).expectFinding(t, "server", "fail port "+i.variables["OPENTABS_PORT"]+" is in use by ")
}

func TestCheckRunningServer(t *testing.T) {
	i := newInstallation(t)
	tab := wire.TabInfo{TabID: 5, NeedsReload: []string{"wiki"}}
	browser := func(pluginChange func(b *httpapi.Browser)) httpapi.Browser {
		b := httpapi.Browser{Name: "Work", Version: version.Version, Connected: true, InjectMode: wire.InjectUserScripts, Tabs: []wire.TabInfo{{TabID: 1}}}
		pluginChange(&b)
		return b
	}
	one := func(pluginChange func(p *httpapi.Plugin)) httpapi.Plugin {
		p := httpapi.Plugin{Name: "wiki", Reviewed: true, Permission: wire.PermissionAsk, Tools: []string{"read", "write"}}
		pluginChange(&p)
		return p
	}
	i.serve(t, httpapi.Status{
		UptimeMs: 5000,
		Browsers: []httpapi.Browser{
			browser(func(*httpapi.Browser) {}),
			browser(func(b *httpapi.Browser) { b.Connected = false }),
			browser(func(b *httpapi.Browser) { b.InjectMode = wire.InjectNone }),
			browser(func(b *httpapi.Browser) { b.Version = "0.0.1" }),
			browser(func(b *httpapi.Browser) { b.InjectMode = wire.InjectFiles }),
			browser(func(b *httpapi.Browser) { b.Tabs = append(b.Tabs, tab) }),
		},
		Plugins: []httpapi.Plugin{
			one(func(*httpapi.Plugin) {}),
			one(func(p *httpapi.Plugin) { p.HasChanged = true }),
			one(func(p *httpapi.Plugin) { p.Reviewed = false }),
			one(func(p *httpapi.Plugin) { p.Reviewed, p.Source = false, "global" }),
			one(func(p *httpapi.Plugin) { p.Permission = wire.PermissionOff }),
			one(func(p *httpapi.Plugin) { p.Fault = &httpapi.Fault{Text: "threw while it started"} }),
			one(func(p *httpapi.Plugin) { p.MissingSettings = []string{"site", "key"} }),
		},
		Failed:      []httpapi.FailedPlugin{{Path: "/broken", Error: "it has no tools"}},
		Permissions: []string{"plugins.a.permission is wrong"},
		Clients:     []httpapi.MCPClient{{Name: "cursor-vscode", Version: "1", Transport: "http"}, {Name: "opentabs call", Transport: "stdio"}},
	})
	r := i.check(t)
	r.expectFinding(t, "server", "ok opentabs "+version.Version+", pid 4711, on port "+i.variables["OPENTABS_PORT"]+", up 5 s")
	r.expectFinding(t, "browsers",
		"ok Work, extension "+version.Version+", user scripts allowed, 1 tab with a plugin",
		"warn it is disconnected",
		"fail it cannot run plugins; do: open the extension's details",
		"warn Work, extension 0.0.1; this program is "+version.Version,
		"ok plugins run from files (optional: turn on",
		"ok 2 tabs with a plugin",
	)
	r.expectFinding(t, "tabs", "warn Work: tabs that are older than their plugins: 5; do: reload these tabs")
	r.expectFinding(t, "plugins",
		"warn plugins.a.permission is wrong",
		"fail /broken: it has no tools",
		"warn wiki has changed since its review, so agents cannot use it",
		"warn wiki is not reviewed, so agents cannot use it",
		"warn wiki is off, so agents cannot use it",
		"fail wiki threw while it started",
		"warn wiki needs these settings: site, key",
		"ok 1 plugin with 2 tools can be used",
	)
	r.expectFinding(t, "client", "ok cursor-vscode 1, by http, waits 1 min for a call", "ok opentabs call, by stdio, waits without limit for a call")
}

// TestOtherServerVersionAndPortAreReported checks the findings for a server of another version that
// listens on another port than configured.
func TestOtherServerVersionAndPortAreReported(t *testing.T) {
	c := &healthCheck{
		server: home.Server{Health: httpapi.Health{Version: "0.0.1", PID: 7}, Port: 1}, status: &httpapi.Status{},
		settings: config.Settings{Port: 2},
	}
	serverCheck{c}.compareServer()
	c.server.Version = version.Version
	serverCheck{c}.compareServer()
	c.settings.Port = 0
	serverCheck{c}.compareServer()
	browserCheck{c}.checkBrowsers(t.Context())
	c.isExtensionMissing = true // if the extension is missing, another finding describes the cause
	browserCheck{c}.checkBrowsers(t.Context())
	r := Report{Findings: c.findings}
	r.expectFinding(t, "server", "warn opentabs 0.0.1, pid 7, on port 1, up 0 s; this program is "+version.Version, "warn the settings have port 2; do: restart it with `opentabs restart`", "ok on port 1")
	r.expectFinding(t, "browsers", "warn none is connected")
}

func TestCheckExtension(t *testing.T) {
	i := newInstallation(t)
	i.serve(t, httpapi.Status{})
	token, err := i.Token()
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(i.variables["OPENTABS_PORT"])
	if err != nil {
		t.Fatal(err)
	}
	install := func(c extensiondir.Connection) {
		t.Helper()
		if _, err := extensiondir.Install(i.Dirs, i.ExtensionDir(), c, extensiondir.KeepDebuggerChoice); err != nil {
			t.Fatal(err)
		}
	}
	install(extensiondir.Connection{Port: port, Key: config.BrowserKey(token)})
	i.check(t).expectFinding(t, "extension", "ok "+version.Version+", in "+i.ExtensionDir())
	if err := os.WriteFile(filepath.Join(i.ExtensionDir(), "panel.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	i.check(t).expectFinding(t, "extension", "warn differs from that of this program")
	install(extensiondir.Connection{Port: port, Key: "another"})
	i.check(t).expectFinding(t, "extension", "fail has the key of another installation")
	install(extensiondir.Connection{Port: port + 1, Key: config.BrowserKey(token)})
	i.check(t).expectFinding(t, "extension", fmt.Sprintf("fail connects to port %d, but the server uses port %d", port+1, port))
	if err := os.WriteFile(filepath.Join(i.ExtensionDir(), extensiondir.ConnectionFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	i.check(t).expectFinding(t, "extension", "fail is unreadable")
}

// TestCheckPluginsWithoutServer checks that `opentabs doctor` reads the plugins from disk
// if no server runs.
func TestCheckPluginsWithoutServer(t *testing.T) {
	i := newInstallation(t)
	i.makeDirs(t)
	settings, err := config.Load(i.Dirs, i.getenv, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := home.New(i.Dirs, settings, i.getenv, func(warning string) { t.Log(warning) }).PluginStore()
	brokenPlugin := plugintest.Package{Name: "broken"}.Write(t)
	for _, dir := range []string{plugintest.Package{Name: "wiki"}.Write(t), brokenPlugin} {
		if _, err := store.Add(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(brokenPlugin, "dist")); err != nil {
		t.Fatal(err)
	}
	i.check(t).expectFinding(t, "plugins", "fail "+brokenPlugin+": ", "warn wiki is not reviewed")
}

// TestOnlyRecentLogErrorIsReported checks that only the last error in the log's tail is reported, and only if
// it is recent.
func TestOnlyRecentLogErrorIsReported(t *testing.T) {
	i := newInstallation(t)
	i.makeDirs(t)
	line := func(level string, age time.Duration) string {
		return fmt.Sprintf(`{"level":%q,"time":%q,"message":"of %s"}`+"\n", level, time.Now().Add(-age).UTC().Format(time.RFC3339), age)
	}
	fillerLines := strings.Repeat(line("info", 0), maxLogTailBytes/50)
	for _, c := range []struct{ logLine, want string }{
		{"", "ok 0 bytes, no error in the last hour"},
		{line("error", 2*time.Hour) + line("warn", 0), "ok no error in the last hour"},
		{line("error", 2*time.Hour) + line("fatal", time.Minute) + line("info", 0), "warn of 1m0s"},
		{line("error", time.Minute) + fillerLines, "ok no error in the last hour"},
		{fillerLines + line("panic", time.Minute), "warn of 1m0s"},
	} {
		if err := os.WriteFile(i.LogFile(), []byte(c.logLine), 0o600); err != nil {
			t.Fatal(err)
		}
		i.check(t).expectFinding(t, "log", c.want)
	}
	i.serve(t, httpapi.Status{Started: time.Now().Add(-30 * time.Second)})
	i.check(t).expectFinding(t, "log", "ok no error since the server started")
	if err := errors.Join(os.Remove(i.LogFile()), os.Mkdir(i.LogFile(), 0o700)); err != nil {
		t.Fatal(err)
	}
	i.check(t).expectFinding(t, "log", "warn check that you can read "+i.LogFile())
}

// TestCheckBrowserTools checks that `opentabs doctor` accepts an installation without
// plugins if browser tools are on.
func TestCheckBrowserTools(t *testing.T) {
	i := newInstallation(t)
	i.makeDirs(t)
	pluginSet := plugin.NewSet(nil, nil, browser.Plugin())
	rules := policy.New(i.State, func() *plugin.Set { return pluginSet }, policy.Options{})
	if err := rules.SetPermission(browser.Name, "", wire.PermissionAuto, "test"); err != nil {
		t.Fatal(err)
	}
	i.check(t).expectFinding(t, "plugins", "ok there are none; agents can use browser tools on any page")
}

// TestStateDirIsAFile checks that `opentabs doctor` reports one finding if a file has
// replaced the directory of opentabs, and not one finding for each missing file.
func TestStateDirIsAFile(t *testing.T) {
	i := newInstallation(t)
	writeTestFile(t, i.State, "", 0o600)
	r := i.check(t)
	r.expectFinding(t, "directories", "fail is not a directory; do: move that file away")
	if len(r.Findings) != 1 || r.OK {
		t.Errorf("findings for a file in place of the directory = %+v, want one finding", r.Findings)
	}
}
