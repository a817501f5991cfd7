package home

import (
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/wire"
)

type fakeCallList struct {
	callsStub
	views []dispatch.View
}

type callsStub = httpapi.Calls

func (c *fakeCallList) Calls() []dispatch.View { return c.views }

func serveOlderVersion(t *testing.T, h *Home, calls *fakeCallList) {
	t.Helper()
	token, err := h.Token()
	if err != nil {
		t.Fatal(err)
	}
	var server *httptest.Server
	server = httptest.NewServer(httpapi.New(httpapi.Options{
		Token: token, Health: httpapi.Health{OK: true, Version: "0.0.1", PID: 1}, Calls: calls,
		Stop: func() { _ = errors.Join(server.Listener.Close(), h.RemoveServer(1)) },
	}))
	t.Cleanup(server.Close)
	if err := h.WriteServer(config.Server{PID: 1, Port: portOf(server)}); err != nil {
		t.Fatal(err)
	}
}

// TestOlderServerIsReplaced checks that a command replaces a server that has an older version and no open calls.
func TestOlderServerIsReplaced(t *testing.T) {
	h := newTestHome(t)
	t.Setenv(serveTestVariable, "1")
	t.Setenv(config.HomeVariable, h.State)
	var warnings []string
	h.warn = func(warning string) { warnings = append(warnings, warning) }
	calls := &fakeCallList{views: make([]dispatch.View, 1)}
	calls.views[0].Status = wire.StatusPending
	serveOlderVersion(t, h, calls)
	for range 2 {
		if _, err := h.Client(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	h.StopOlderServer(t.Context())
	if foundServer, err := h.FindServer(t.Context()); err != nil || foundServer.Version != "0.0.1" {
		t.Errorf("server after Client with a waiting call = %v, error %v; want the older server", foundServer, err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "opentabs 0.0.1, pid 1, older than this opentabs ") || !strings.Contains(warnings[0], "1 call is running or waiting") {
		t.Errorf("warnings about an older server with a waiting call = %q, want one warning", warnings)
	}
	calls.views[0].Status = wire.StatusDone
	client, err := h.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if serverHealth, err := client.Health(t.Context()); err != nil || serverHealth.Version != "1" {
		t.Errorf("server after Client without running calls = %+v, error %v; want a new server", serverHealth, err)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[1], "opentabs 0.0.1, pid 1, was replaced by opentabs ") {
		t.Errorf("warnings after the older server was replaced = %q, want a second one about the replacement", warnings)
	}
	if err := client.Plugins.Reload(t.Context()); err != nil { // Reload starts and stops a new server
		t.Error(err)
	}
}

// TestStopServer checks that StopServer returns only after the server has exited.
func TestStopServer(t *testing.T) {
	h := newTestHome(t)
	if _, err := h.StopServer(t.Context(), false); !errors.Is(err, httpapi.ErrNoServer) {
		t.Errorf("StopServer without a running server returned %v, want %v", err, httpapi.ErrNoServer)
	}
	serveOlderVersion(t, h, &fakeCallList{})
	if stoppedServer, err := h.StopServer(t.Context(), false); err != nil || stoppedServer.PID != 1 {
		t.Errorf("StopServer returned %+v, error %v; want the server with pid 1", stoppedServer, err)
	}
	if _, err := h.FindServer(t.Context()); !errors.Is(err, httpapi.ErrNoServer) {
		t.Errorf("server after StopServer = %v, want no server", err)
	}
}

// TestStopWaitsForCleanup checks that waitForCleanup waits for a daemon that writes its records
// slowly, but not for a daemon that was killed.
func TestStopWaitsForCleanup(t *testing.T) {
	for name, c := range map[string]struct {
		pid  int
		want time.Duration
	}{
		"slow disk": {os.Getpid(), 5 * time.Second},
		"killed":    {1 << 22, 0}, // no process has this ID
	} {
		dir := t.TempDir()
		dirs := config.Dirs{Config: dir, State: dir}
		synctest.Test(t, func(t *testing.T) {
			if err := dirs.WriteServer(config.Server{PID: c.pid, Port: 1}); err != nil {
				t.Fatal(err)
			}
			startTime := time.Now()
			removalTimer := time.AfterFunc(5*time.Second-pollInterval/2, func() { _ = dirs.RemoveServer(c.pid) })
			defer removalTimer.Stop()
			waitForCleanup(t.Context(), dirs, Server{Health: httpapi.Health{PID: c.pid}})
			if waitDuration := time.Since(startTime); waitDuration != c.want {
				t.Errorf("%s: waitForCleanup waited %v, want %v", name, waitDuration, c.want)
			}
		})
	}
}
