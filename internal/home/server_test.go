package home

import (
	"bufio"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"opentabs/internal/audit"
	"opentabs/internal/config"
	"opentabs/internal/freeport"
	"opentabs/internal/httpapi"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

const serveTestVariable = "OPENTABS_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveTestVariable) != "" && len(os.Args) > 1 && os.Args[1] == "serve" {
		serveForTest()
	}
	os.Exit(m.Run())
}

// serveForTest runs a server for the installation in OPENTABS_HOME until a client reloads the plugins, at most a
// minute.
func serveForTest() {
	time.AfterFunc(time.Minute, func() { os.Exit(1) })
	dirs, err := config.FindDirs(os.Getenv)
	if err != nil {
		panic(err)
	}
	token, err := dirs.Token()
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(os.Args[1:], " "))
	reloaded := make(chan struct{})
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Token: token, Health: httpapi.Health{OK: true, Version: "1", PID: os.Getpid()},
		Reload: func() error {
			close(reloaded)
			return nil
		},
	}))
	if err := dirs.WriteServer(config.Server{PID: os.Getpid(), Port: portOf(server)}); err != nil {
		panic(err)
	}
	<-reloaded
	server.Close() // Close waits until the response to the reload request is sent
	os.Exit(0)
}

func portOf(server *httptest.Server) int {
	u, err := url.Parse(server.URL)
	if err != nil {
		panic(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		panic(err)
	}
	return port
}

func newTestHome(t *testing.T) *Home {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return New(config.Dirs{Config: dir, State: dir}, config.Settings{Port: port}, os.Getenv, func(warning string) { t.Log(warning) })
}

func serveHome(t *testing.T, h *Home, o httpapi.Options) {
	t.Helper()
	token, err := h.Token()
	if err != nil {
		t.Fatal(err)
	}
	if o.Token == "" {
		o.Token = token
	}
	o.Health = httpapi.Health{OK: true, Version: "1", PID: os.Getpid()}
	server := httptest.NewServer(httpapi.New(o))
	t.Cleanup(server.Close)
	h.Settings.Port = portOf(server)
}

func TestFindServer(t *testing.T) {
	h := newTestHome(t)
	closedPort := h.Settings.Port
	checkRunningServer := func(want error) {
		t.Helper()
		if server, err := h.FindServer(t.Context()); !errors.Is(err, want) || want == nil && server.String() != fmt.Sprintf("opentabs 1, pid %d", os.Getpid()) {
			t.Errorf("FindServer returned %s, error %v; want the error %v", server, err, want)
		}
	}
	checkRunningServer(httpapi.ErrNoServer)
	serveHome(t, h, httpapi.Options{Token: "the token of another installation"})
	checkRunningServer(httpapi.ErrPortTaken)
	_, err := h.FindServer(t.Context())
	if want := fmt.Sprintf("port %d is in use by ", h.Settings.Port); !strings.HasPrefix(ExplainError(err), want) || !strings.Contains(ExplainError(err), "pid ") {
		t.Errorf("text of the error for the user = %q, want the beginning %q and the owner of the port", ExplainError(err), want)
	}
	serveHome(t, h, httpapi.Options{})
	checkRunningServer(nil)

	// FindServer tries the port in server.json before the configured port.
	if err := h.WriteServer(config.Server{PID: os.Getpid(), Port: h.Settings.Port}); err != nil {
		t.Fatal(err)
	}
	h.Settings.Port = closedPort
	checkRunningServer(nil)
	if err := os.WriteFile(h.TokenFile(), []byte("damaged!"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkRunningServer(httpapi.ErrPortTaken)
	_, err = h.FindServer(t.Context())
	if want := fmt.Sprintf("the token file %s contains bytes that no token has, so no command can reach the running server with pid %d: put the earlier file back, or run `opentabs restart --force`", h.TokenFile(), os.Getpid()); !strings.HasPrefix(ExplainError(err), want) {
		t.Errorf("text of the error for the user = %q, want the beginning %q", ExplainError(err), want)
	}
	if _, err := h.OpenPolicy(t.Context()); !errors.As(err, new(*ServerTokenMismatchError)) {
		t.Errorf("OpenPolicy with a damaged token and a running server: %v; want a ServerTokenMismatchError", err)
	}
	if err := h.RemoveServer(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	checkRunningServer(httpapi.ErrNoServer) // the next daemon replaces a damaged token
}

// If no server runs, ReloadPlugins must return no client and no error.
func TestReloadWithAndWithoutServer(t *testing.T) {
	h := newTestHome(t)
	if client, err := h.ReloadPlugins(t.Context()); client != nil || err != nil {
		t.Errorf("ReloadPlugins without a server returned the client %v, error %v; want neither", client, err)
	}
	if _, err := h.Client(t.Context()); !errors.Is(err, httpapi.ErrNoServer) {
		t.Errorf("Client without a server returned the error %v; want %v", err, httpapi.ErrNoServer)
	}
	var failure error
	serveHome(t, h, httpapi.Options{Reload: func() error { return failure }})
	if client, err := h.ReloadPlugins(t.Context()); client == nil || err != nil {
		t.Errorf("ReloadPlugins with a server returned the client %v, error %v; want a client and no error", client, err)
	}
	failure = errors.New("a plugin is broken")
	if _, err := h.ReloadPlugins(t.Context()); err == nil || err.Error() != "reload the plugins of the server: a plugin is broken" {
		t.Errorf("ReloadPlugins with a broken plugin returned the error %v; want the server's reason", err)
	}
	if err := h.ReloadClients(t.Context()); err != nil {
		t.Error(err)
	}
}

type fakeServerPolicy struct{ httpapi.Policy }

func (fakeServerPolicy) Permissions(string) (httpapi.PluginPermissions, error) {
	return httpapi.PluginPermissions{Plugin: "of the server"}, nil
}

// The audit log must contain a record of each review.
func TestOpenPolicy(t *testing.T) {
	h := newTestHome(t)
	one, err := h.PluginStore().Add(plugintest.Package{}.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	policyAccess, err := h.OpenPolicy(t.Context())
	if err != nil || policyAccess.Client != nil {
		t.Fatalf("OpenPolicy without a server returned %+v, error %v; want no client", policyAccess, err)
	}
	if err := policyAccess.Review(one.Name, one.ContentHash(), wire.PermissionAsk, httpapi.CommandLine); err != nil {
		t.Fatal(err)
	}
	localPermissions, err := h.OpenServerPolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if currentPermissions, err := localPermissions.Permissions(one.Name); err != nil || !currentPermissions.Reviewed || currentPermissions.Permission != wire.PermissionAsk {
		t.Errorf("permissions after the review = %+v, error %v; want a reviewed plugin with the permission ask", currentPermissions, err)
	}
	records, _, err := audit.Read(h.State, 0, func(r audit.Record) bool { return r.Kind == audit.KindReview })
	if err != nil || len(records) != 1 || records[0].Tool != one.Name || records[0].By != httpapi.CommandLine {
		t.Errorf("reviews in the audit log = %+v, error %v; want one review by the command line", records, err)
	}

	serveHome(t, h, httpapi.Options{Policy: fakeServerPolicy{}})
	if policyAccess, err = h.OpenPolicy(t.Context()); err != nil || policyAccess.Client == nil {
		t.Fatalf("OpenPolicy with a server returned %+v, error %v; want a client of the server", policyAccess, err)
	}
	serverPolicy, err := h.OpenServerPolicy(t.Context(), policyAccess.Client)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []httpapi.Policy{policyAccess, serverPolicy} {
		if currentPermissions, err := p.Permissions(one.Name); err != nil || currentPermissions.Plugin != "of the server" {
			t.Errorf("permissions from the server = %+v, error %v; want the plugin %q", currentPermissions, err, "of the server")
		}
	}
	if _, ok := policyAccess.Plugins.Plugin(one.Name); !ok {
		t.Error("PolicyAccess.Plugins has no plugin from this process's files; want the installed plugin")
	}
}

func TestDiscoverGlobal(t *testing.T) {
	h := newTestHome(t)
	prefix := t.TempDir()
	t.Setenv("npm_config_prefix", prefix)
	folder := filepath.Join(prefix, "lib", "node_modules", "opentabs-plugin-wiki")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	plugintest.Package{Name: "wiki"}.WriteTo(t, folder)
	for _, discoverGlobalPlugins := range []bool{false, true} {
		h.Settings.DiscoverGlobal = discoverGlobalPlugins
		plugins, err := h.Plugins()
		if err != nil {
			t.Fatal(err)
		}
		if one, ok := plugins.Set().Plugin("wiki"); ok != discoverGlobalPlugins || ok && one.Source != plugin.SourceGlobal {
			t.Errorf("with discoverGlobalPlugins = %t, the global plugin is %+v; want a plugin = %t", discoverGlobalPlugins, one, discoverGlobalPlugins)
		}
	}
	var warnings []string
	h.warn = func(warning string) { warnings = append(warnings, warning) }
	if err := os.Mkdir(filepath.Join(os.Getenv("HOME"), ".npmrc"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("npm_config_userconfig", strings.Repeat("x", 5000))
	if _, err := h.Plugins(); err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "warning: read npm's settings: ") {
		t.Errorf("Plugins with unreadable npm settings: error %v, warnings %q; want no error and one warning", err, warnings)
	}
}

func TestStartServer(t *testing.T) {
	h := newTestHome(t)
	t.Setenv(config.HomeVariable, h.State)
	t.Setenv(serveTestVariable, "1")
	if err := h.StartServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReloadPlugins(t.Context()); err != nil { // reloading the plugins stops the test server
		t.Error(err)
	}
	log, err := os.Open(h.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	if want := "serve --log-format json --log-file " + h.LogFile(); !lines.Scan() || lines.Text() != want {
		t.Errorf("first line of the server's log = %q, want %q", lines.Text(), want)
	}
}

func TestExplainError(t *testing.T) {
	for want, err := range map[string]error{
		"write a: no space left on device: free some space on that disk, then try again":                              fmt.Errorf("write a: %w", syscall.ENOSPC),
		"permission denied: check that you can read and write there, or set OPENTABS_HOME to a directory of your own": syscall.EACCES,
		"too many open files: close some programs, or raise the limit of open files (ulimit -n), then try again":      syscall.EMFILE,
		"anything else": errors.New("anything else"),
	} {
		if got := ExplainError(err); got != want {
			t.Errorf("ExplainError(%v) = %q, want %q", err, got, want)
		}
	}
	if got := ExplainError(fmt.Errorf("dial: %w", httpapi.ErrPortTaken)); !strings.Contains(got, "no data was sent to it") || !strings.Contains(got, "OPENTABS_PORT") {
		t.Errorf("ExplainError for a foreign server = %q; want \"no data was sent to it\" and OPENTABS_PORT in it", got)
	}
	writeErrors := []error{syscall.EACCES, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT}
	for _, err := range append(writeErrors, syscall.EMFILE, os.ErrNotExist) {
		if got := IsWriteFailure(fmt.Errorf("open: %w", err)); got != slices.Contains(writeErrors, err) {
			t.Errorf("IsWriteFailure(%v) = %t; want %t", err, got, slices.Contains(writeErrors, err))
		}
	}
}
