package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"opentabs/extension"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/httpapi"
	"opentabs/internal/setup"
	"opentabs/internal/version"
	"opentabs/wire"
)

func mcpWithoutTools() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		results := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"opentabs","version":"1"}}`, "tools/list": `{"tools":[]}`,
		}
		if results[request.Method] == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, results[request.Method])
	})
}

// allowOnlyExtensionOrigin returns an HTTP handler that, like the server's route /ws, rejects all origins
// except the extension's origin.
func allowOnlyExtensionOrigin() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpStatus := http.StatusForbidden
		if r.Header.Get("Origin") == "chrome-extension://"+extension.ID() {
			httpStatus = http.StatusUpgradeRequired
		}
		w.WriteHeader(httpStatus)
	})
}

type failureCase struct {
	name       string
	breakSetup func(t *testing.T, i *installation, o *Options, s *httpapi.Status)
	// The field checkName is the name of the check that must report the problem. The field want is
	// the expected finding: its level, and texts that its fact and its remedy must contain.
	checkName, want string
}

func writeTestFile(t *testing.T, path, fileContent string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(fileContent), mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func writeCursorConfig(t *testing.T, o *Options, server string) {
	t.Helper()
	machineHome := t.TempDir()
	o.Machine = &setup.Machine{OS: "linux", Home: machineHome, Getenv: func(string) string { return "" }, LookPath: func(string) (string, error) { return "", os.ErrNotExist }}
	writeTestFile(t, filepath.Join(machineHome, ".cursor", "mcp.json"), `{"mcpServers":{"opentabs":`+server+`}}`, 0o600)
}

func addCursorClient(t *testing.T, i *installation) string {
	t.Helper()
	token, err := clienttoken.Open(i.ClientsFile()).Add("cursor")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// simulateFreeSpace returns a replacement for Options.FreeBytes that reports the given
// free space or error.
func simulateFreeSpace(freeBytes uint64, err error) func(string) (uint64, error) {
	return func(string) (uint64, error) { return freeBytes, err }
}

var failureCases = []failureCase{
	{"open directory", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		if err := os.Chmod(i.State, 0o755); err != nil {
			t.Fatal(err)
		}
	}, "directories", "warn (mode 0755); do: run chmod 700 "},
	{"full disk", func(_ *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		o.FreeBytes = simulateFreeSpace(1000, nil)
	},
		"disk", "fail the disk is full (1000 bytes free), so nothing can be stored; do: free some space"},
	{"almost full disk", func(_ *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		o.FreeBytes = simulateFreeSpace(9<<20, nil)
	},
		"disk", "warn almost full (9 MB free)"},
	{"unmounted disk", func(_ *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		o.FreeBytes = simulateFreeSpace(0, errors.New("no such device"))
	}, "disk", "warn no such device"},
	{"clock set to 1970", func(_ *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		o.Now = func() time.Time { return time.Unix(0, 0) }
	}, "clock", "fail shows 1970-01-01"},
	{"clock that is slow", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		laterTime := time.Now().Add(time.Hour)
		if err := os.Chtimes(i.TokenFile(), laterTime, laterTime); err != nil {
			t.Fatal(err)
		}
	}, "clock", "warn in the future, so the clock was or is wrong; do: set the clock"},
	{"token that other users can read", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		if err := os.Chmod(i.TokenFile(), 0o644); err != nil {
			t.Fatal(err)
		}
	}, "directories", "warn token (mode 0644); do: run chmod 600 "},
	{"broken settings", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		writeTestFile(t, i.ConfigFile(), "{", 0o600)
	}, "settings", "fail config.json"},
	{"port in use by another program", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		otherServer := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(otherServer.Close)
		i.variables["OPENTABS_PORT"] = strconv.Itoa(otherServer.Listener.Addr().(*net.TCPAddr).Port)
	}, "server", fmt.Sprintf("fail , pid %d, which is not the server of this installation; do: stop that program", os.Getpid())},
	{"token that was replaced while the server runs", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		port, err := strconv.Atoi(i.variables["OPENTABS_PORT"])
		if err != nil {
			t.Fatal(err)
		}
		if err := i.WriteServer(config.Server{PID: os.Getpid(), Port: port, Version: version.Version}); err != nil {
			t.Fatal(err)
		}
		writeTestFile(t, i.TokenFile(), strings.Repeat("A", 43)+"\n", 0o600)
	}, "token", fmt.Sprintf("fail the server with pid %d uses another token than ", os.Getpid())},
	{"token that was removed while the server runs", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		port, err := strconv.Atoi(i.variables["OPENTABS_PORT"])
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(i.WriteServer(config.Server{PID: os.Getpid(), Port: port, Version: version.Version}), os.Remove(i.TokenFile())); err != nil {
			t.Fatal(err)
		}
	}, "token", fmt.Sprintf("fail the server with pid %d uses another token than ", os.Getpid())},
	{"killed server", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		i.variables["OPENTABS_PORT"] = "0"
		if err := i.WriteServer(config.Server{PID: 1 << 22, Port: 1, Version: version.Version}); err != nil {
			t.Fatal(err)
		}
	}, "server", "warn not running; the last server (pid 4194304) was killed or crashed"},
	{"refused extension", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) {
		s.RefusedExtension = &httpapi.RefusedExtension{Text: "Protocol versions differ: opentabs 1, extension 2.", At: time.Now()}
	}, "browsers", "fail Protocol versions differ: opentabs 1, extension 2; do: run `opentabs extension install`"},
	{"no browser", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) { s.Browsers = nil },
		"browsers", "warn none is connected; do: open Chrome"},
	{"old extension in Chrome", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) { s.Browsers[0].Version = "0.0.1" },
		"browsers", "warn extension 0.0.1; this program is " + version.Version + "; do: press the extension's reload button"},
	{"old extension in its folder and in Chrome", func(t *testing.T, i *installation, _ *Options, s *httpapi.Status) {
		s.Browsers[0].Version = "0.0.1"
		writeTestFile(t, filepath.Join(i.ExtensionDir(), "worker.js"), "old", 0o600)
	}, "browsers", "warn extension 0.0.1; this program is " + version.Version + "; do: run `opentabs extension install`"},
	{"changed file of the extension", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		writeTestFile(t, filepath.Join(i.ExtensionDir(), "worker.js"), "old", 0o600)
	}, "extension", "warn differs from that of this program"},
	{"copied profile", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) { s.Browsers[0].ID = "b~1" },
		"browsers", "warn runs a copy of the profile"},
	{"plugins cannot run", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) {
		s.Browsers[0].InjectMode = wire.InjectNone
	}, "browsers", "fail it cannot run plugins; do: open the extension's details"},
	{"silent extension", func(_ *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		i.ping = func(context.Context, string) (time.Duration, error) {
			return 0, errors.New("the extension did not answer within 5s")
		}
	}, "round trip", "fail did not answer within 5s; do: press the extension's reload button"},
	{"slow extension", func(_ *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		i.ping = func(context.Context, string) (time.Duration, error) { return 2 * time.Second, nil }
	}, "round trip", "warn answered in 2 s, which is slow"},
	{"page that does not respond", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) {
		s.Browsers[0].Tabs = []wire.TabInfo{{TabID: 4, Unresponsive: true}}
	}, "tabs", "warn do not respond: 4; do: run `opentabs browser reload-tab TAB`"},
	{"page that Chrome could not load", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) {
		s.Browsers[0].Tabs = []wire.TabInfo{{TabID: 4, LoadError: "ERR_NAME_NOT_RESOLVED"}}
	}, "tabs", "warn could not load the pages of these tabs: 4 (ERR_NAME_NOT_RESOLVED)"},
	{"adapter that did not start", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) {
		s.Browsers[0].Tabs = []wire.TabInfo{{TabID: 4, BrokenPlugins: []wire.BrokenPlugin{{Name: "wiki", Problem: "threw"}}}}
	}, "tabs", "warn adapters that did not start: wiki in tab 4 (threw)"},
	{"broken plugin", func(_ *testing.T, _ *installation, _ *Options, s *httpapi.Status) {
		s.Failed = []httpapi.FailedPlugin{{Path: "/p", Error: "tools.json is missing"}}
	}, "plugins", "fail /p: tools.json is missing; do: repair or build it"},
	{"missing folder of the extension", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		if err := os.RemoveAll(i.ExtensionDir()); err != nil {
			t.Fatal(err)
		}
	}, "extension", "fail is missing or empty, so Chrome cannot load it at the next start; do: run `opentabs extension install`"},
	{"damaged permissions", func(t *testing.T, i *installation, _ *Options, _ *httpapi.Status) {
		writeTestFile(t, filepath.Join(i.State, "permissions.json"), `{"a":`, 0o600)
	}, "permissions", "fail is not valid JSON at line 1"},
	{"client whose program is gone", func(t *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, `{"command":"/gone/opentabs","args":["mcp"]}`)
	}, "client file", "fail Cursor cannot start opentabs: /gone/opentabs does not exist; do: run `opentabs setup --client cursor`"},
	{"client whose token was removed", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, fmt.Sprintf(`{"command":"/bin/sh","env":{"OPENTABS_HOME":%q,"T":"otc_removed"}}`, i.State))
	}, "client file", "fail the token of Cursor in "},
	{"client with the token of another client", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		token, err := clienttoken.Open(i.ClientsFile()).Add("codex")
		if err != nil {
			t.Fatal(err)
		}
		writeCursorConfig(t, o, fmt.Sprintf(`{"command":"/bin/sh","env":{"OPENTABS_HOME":%q,"T":%q}}`, i.State, token))
	}, "client file", "fail so opentabs treats its calls as calls of codex; do: run `opentabs setup --client cursor`"},
	{"URL with the token of another client", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		token, err := clienttoken.Open(i.ClientsFile()).Add("codex")
		if err != nil {
			t.Fatal(err)
		}
		writeCursorConfig(t, o, fmt.Sprintf(`{"url":"http://127.0.0.1:%s/mcp","headers":{"Authorization":%q}}`, i.variables["OPENTABS_PORT"], token))
	}, "client file", "fail Cursor has the token of the client codex in "},
	{"client without a token", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, fmt.Sprintf(`{"command":"/bin/sh","env":{"OPENTABS_HOME":%q}}`, i.State))
	}, "client file", "warn Cursor has no token in "},
	{"client that uses another installation", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, fmt.Sprintf(`{"command":"/bin/sh","args":["-c","touch %s"],"env":{"OPENTABS_HOME":"/other"}}`, filepath.Join(i.State, "started")))
	}, "client file", "warn mcp.json has the OPENTABS_HOME /other; do: run `opentabs setup --client cursor`, or change OPENTABS_HOME"},
	{"client whose command fails", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, fmt.Sprintf(`{"command":"/bin/sh","args":["-c","echo broken >&2; exit 3"],"env":{"OPENTABS_HOME":%q,"T":%q}}`, i.State, addCursorClient(t, i)))
	}, "client file", "fail Cursor runs /bin/sh, which failed: the server ended without an answer: broken; do: run `opentabs setup --client cursor`, which writes the command again"},
	{"client whose command is no MCP server", func(t *testing.T, i *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, fmt.Sprintf(`{"command":"/bin/sh","args":["-c","echo hello"],"env":{"OPENTABS_HOME":%q,"T":%q}}`, i.State, addCursorClient(t, i)))
	}, "client file", `fail wrote something else than MCP`},
	{"client in which opentabs is switched off", func(t *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, `{"command":"/bin/sh","disabled":true}`)
	}, "client file", "warn opentabs is switched off in the configuration of Cursor"},
	{"client with broken JSON", func(t *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, `{`)
	}, "client file", "warn Cursor: "},
	{"client configured with another port", func(t *testing.T, _ *installation, o *Options, _ *httpapi.Status) {
		writeCursorConfig(t, o, `{"url":"http://127.0.0.1:1/mcp"}`)
	}, "client file", "fail Cursor connects to http://127.0.0.1:1/mcp, but the server uses port "},
	{"server in WSL", func(_ *testing.T, _ *installation, o *Options, s *httpapi.Status) {
		s.Browsers = nil
		o.ReadFile = func(string) ([]byte, error) { return []byte("5.15.90.1-microsoft-standard-WSL2"), nil }
	}, "wsl", "warn the server runs in WSL (Linux); Chrome in Windows cannot load an extension from a Linux folder"},
}

func (i *installation) setUpInstallation(t *testing.T) *httpapi.Status {
	t.Helper()
	status := &httpapi.Status{Browsers: []httpapi.Browser{{ID: "b", Name: "Work", Version: version.Version, Connected: true, InjectMode: wire.InjectUserScripts}}}
	token := i.makeDirs(t)
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Token: token, Health: httpapi.Health{OK: true, Version: version.Version, PID: 4711},
		Status:      func() httpapi.Status { return *status },
		PingBrowser: func(ctx context.Context, id string) (time.Duration, error) { return i.ping(ctx, id) },
		MCP:         mcpWithoutTools(), Browsers: allowOnlyExtensionOrigin(),
	}))
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	i.variables["OPENTABS_PORT"] = strconv.Itoa(port)
	if _, err := extensiondir.Install(i.Dirs, i.ExtensionDir(), extensiondir.Connection{Port: port, Key: config.BrowserKey(token)}, extensiondir.KeepDebuggerChoice); err != nil {
		t.Fatal(err)
	}
	return status
}

// TestWorkingInstallationOnlyLacksPlugins checks that the only warning about a working installation is
// that no plugin is installed.
func TestWorkingInstallationOnlyLacksPlugins(t *testing.T) {
	i := newInstallation(t)
	i.setUpInstallation(t)
	for _, f := range i.check(t).Findings {
		if f.Level != levelOK && f.Check != "plugins" {
			t.Errorf("finding of a working installation = %s %s: %s, want the level ok", f.Level, f.Check, f.Fact)
		}
	}
}

// TestExtensionFolderIsOptionalWhenConnected checks that the extension's folder is not required if a
// browser is connected.
func TestExtensionFolderIsOptionalWhenConnected(t *testing.T) {
	i := newInstallation(t)
	i.setUpInstallation(t)
	if err := errors.Join(os.RemoveAll(i.ExtensionDir()), os.RemoveAll(i.ExtensionRecord())); err != nil {
		t.Fatal(err)
	}
	i.check(t).expectFinding(t, "extension", "ok the connected browser has the extension from another place")
}

// `opentabs doctor` must fail only if a finding has the level "fail".
func TestEachBrokenPartIsReported(t *testing.T) {
	for _, b := range failureCases {
		t.Run(b.name, func(t *testing.T) {
			i := newInstallation(t)
			status := i.setUpInstallation(t)
			o := i.options(t)
			b.breakSetup(t, &i, &o, status)
			r, err := Check(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			wantLevel, wantText, _ := strings.Cut(b.want, " ")
			var got []string
			isFound := false
			for _, f := range r.Findings {
				findingText := fmt.Sprintf("%s; do: %s", f.Fact, f.Remedy)
				if f.Check == b.checkName && f.Level != levelOK {
					got = append(got, string(f.Level)+" "+findingText)
					isFound = isFound || string(f.Level) == wantLevel && strings.Contains(findingText, wantText) && f.Remedy != ""
				}
			}
			if config.PathExists(filepath.Join(i.State, "started")) {
				t.Error("`opentabs doctor` ran the configured command of another installation; want no run")
			}
			if !isFound {
				t.Errorf("findings of the check %s = %q, want one finding with %q and a remedy", b.checkName, got, b.want)
			}
			if hasFailed := r.Failure() != nil; hasFailed != (wantLevel == string(levelFail)) {
				t.Errorf("failure of the report = %v, want a failure only for the level fail", r.Failure())
			}
		})
	}
}

// TestInsecureHTTPResponsesAreReported checks that `opentabs doctor` reports a proxy that forwards requests
// of web pages to the server.
func TestInsecureHTTPResponsesAreReported(t *testing.T) {
	i := newInstallation(t)
	api := httpapi.New(httpapi.Options{
		Token: i.makeDirs(t), Health: httpapi.Health{OK: true, Version: version.Version, PID: 4711},
		Status: func() httpapi.Status { return httpapi.Status{} }, MCP: mcpWithoutTools(), Browsers: allowOnlyExtensionOrigin(),
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Origin")
		r.Host = "127.0.0.1"
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.variables["OPENTABS_PORT"] = strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)
	i.check(t).expectFinding(t, "http rules",
		"fail a request to another host name to /healthz was answered with status 200; 421 is right; do: restart the server",
		"fail a request from a web page to /healthz was answered with status 200; 403 is right",
		"fail the link of the extension to /ws was answered with status 403; 426 is right")
}

func TestFailedMCPSessionIsReported(t *testing.T) {
	i := newInstallation(t)
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Token: i.makeDirs(t), Health: httpapi.Health{OK: true, Version: version.Version, PID: 4711},
		Status: func() httpapi.Status { return httpapi.Status{} }, Browsers: allowOnlyExtensionOrigin(),
		MCP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "out of order", http.StatusBadGateway) }),
	}))
	t.Cleanup(server.Close)
	i.variables["OPENTABS_PORT"] = strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)
	o := i.options(t)
	o.Program = filepath.Join(t.TempDir(), "missing")
	r, err := Check(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.expectFinding(t, "mcp http", "fail 502 Bad Gateway: out of order; do: restart the server")
	r.expectFinding(t, "mcp stdio", "fail `opentabs mcp` failed: ")
}

// Fix must also repair an old extension folder and the configuration of an MCP client. Fix must not delete files of the
// user.
func TestRepairs(t *testing.T) {
	i := newInstallation(t)
	i.setUpInstallation(t)
	i.variables["OPENTABS_PORT"] = findFreePort(t)
	writeTestFile(t, i.TokenFile(), "damaged", 0o644)
	writeTestFile(t, filepath.Join(i.ExtensionDir(), "worker.js"), "old", 0o600)
	if err := errors.Join(os.Chmod(i.State, 0o755), i.WriteServer(config.Server{PID: 1 << 22, Port: 1, Version: version.Version})); err != nil {
		t.Fatal(err)
	}
	o := i.options(t)
	writeCursorConfig(t, &o, `{"command":"/gone/opentabs","args":["mcp"]}`)
	o.SetUpClient = func(_ context.Context, clientID string) error {
		token, err := clienttoken.Open(i.ClientsFile()).Add(clientID)
		writeCursorConfig(t, &o, fmt.Sprintf(`{"command":"/bin/sh","disabled":true,"env":{"T":%q}}`, token))
		return err
	}
	r, err := Fix(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, repair := range r.Repairs {
		did = append(did, fmt.Sprintf("%s: %s (%t)", repair.Check, repair.Text, repair.HasFailed))
	}
	repairLog := strings.Join(did, "\n")
	for _, want := range []string{
		"directories: only you have access to " + i.State + " now (mode 0700) (false)", "directories: only you have access to " + i.TokenFile(),
		"token: the token file " + i.TokenFile() + " contains only 7 of the 43 characters of a token; the file is kept as ", "server: removed the record of the server with pid 4194304 (false)",
		"extension: wrote the extension of " + version.Version, "client file: wrote opentabs with a new token into the configuration of Cursor",
	} {
		if !strings.Contains(repairLog, want) {
			t.Errorf("repairs =\n%s\nwant a repair with %q", repairLog, want)
		}
	}
	if err := r.Failure(); err != nil && strings.Contains(err.Error(), "--fix") {
		t.Errorf("failure of the report after all repairs = %v, want no advice to use --fix", err)
	}
	for _, f := range r.Findings {
		if f.CanRepair && f.Check != clientFileCheck {
			t.Errorf("finding after the repairs = %s: %s, want no finding that can be repaired", f.Check, f.Fact)
		}
	}
	keptFiles, err := filepath.Glob(i.TokenFile() + "*")
	if err != nil || len(keptFiles) != 2 {
		t.Errorf("token files = %q, error %v; want the new file and the renamed damaged file", keptFiles, err)
	}
}

// TestEachRepairRunsOnce checks that Fix attempts a failing repair only once.
func TestEachRepairRunsOnce(t *testing.T) {
	i := newInstallation(t)
	i.setUpInstallation(t)
	o := i.options(t)
	writeCursorConfig(t, &o, `{"command":"/gone/opentabs"}`)
	attempts := 0
	o.SetUpClient = func(context.Context, string) error { attempts++; return io.ErrShortWrite }
	r, err := Fix(t.Context(), o)
	if err != nil || attempts != 1 || len(r.Repairs) != 1 || !r.Repairs[0].HasFailed || r.Failure() == nil {
		t.Errorf("repairs = %+v after %d attempts, %v, want one failed repair and an error of the report", r.Repairs, attempts, err)
	}
}

// TestDamagedTokenIsKept checks that `opentabs doctor` does not run a client's command while
// the token is damaged: the command would start a server, which replaces the token.
func TestDamagedTokenIsKept(t *testing.T) {
	i := newInstallation(t)
	i.makeDirs(t)
	i.variables["OPENTABS_PORT"] = "0"
	o := Options{Dirs: i.Dirs, Getenv: i.getenv, Warn: func(string) {}}
	writeTestFile(t, i.TokenFile(), "x", 0o600)
	startMarker := filepath.Join(t.TempDir(), "started")
	writeCursorConfig(t, &o, fmt.Sprintf(`{"command":"/bin/sh","args":["-c","touch %s"],"env":{"OPENTABS_HOME":%q,"T":%q}}`, startMarker, i.State, addCursorClient(t, &i)))
	r, err := Check(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.expectFinding(t, "client file", "warn Cursor was not tried, because no server of this installation can run; do: first repair what failed above")
	if config.PathExists(startMarker) {
		t.Error("`opentabs doctor` ran the command in Cursor's configuration; want no run while the token is damaged")
	}
}
