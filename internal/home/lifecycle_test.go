package home

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/wire"
)

// listedCalls are the calls of a test server.
type listedCalls struct {
	unusedCalls
	views []dispatch.View
}

// unusedCalls are the methods of httpapi.Calls that the tests do not use.
type unusedCalls = httpapi.Calls

func (c *listedCalls) Calls() []dispatch.View { return c.views }

// serveOlderVersion starts a server with the version 0.0.1 for h, which ends when a client
// stops it.
func serveOlderVersion(t *testing.T, h *Home, calls *listedCalls) {
	t.Helper()
	token, err := h.Token()
	if err != nil {
		t.Fatal(err)
	}
	var server *httptest.Server
	server = httptest.NewServer(httpapi.New(httpapi.Options{
		Token: token, Health: httpapi.Health{OK: true, Version: "0.0.1", PID: 1}, Calls: calls,
		Stop: func() { _ = server.Listener.Close() },
	}))
	t.Cleanup(server.Close)
	if err := h.WriteServer(config.Server{PID: 1, Port: portOf(server)}); err != nil {
		t.Fatal(err)
	}
}

// TestOlderServerIsReplaced checks that a command replaces an older server without calls,
// and that an older server with a call continues, with one warning.
func TestOlderServerIsReplaced(t *testing.T) {
	h := newTestHome(t)
	t.Setenv(serveVariable, "1")
	t.Setenv(config.HomeVariable, h.State)
	var warnings []string
	h.warn = func(sentence string) { warnings = append(warnings, sentence) }
	calls := &listedCalls{views: make([]dispatch.View, 1)}
	calls.views[0].Status = wire.StatusPending
	serveOlderVersion(t, h, calls)
	for range 2 {
		if _, err := h.Client(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	h.StopOlderServer(t.Context())
	if found, err := h.FindServer(t.Context()); err != nil || found.Version != "0.0.1" {
		t.Errorf("server with a waiting call = %v, %v, want the older one", found, err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "opentabs 0.0.1, pid 1, older than this opentabs ") || !strings.Contains(warnings[0], "1 call is running or waiting") {
		t.Errorf("warnings about a busy server = %q, want one", warnings)
	}
	calls.views[0].Status = wire.StatusDone
	client, err := h.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if health, err := client.Health(t.Context()); err != nil || health.Version != "1" {
		t.Errorf("server without unended calls = %+v, %v, want a new one", health, err)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[1], "opentabs 0.0.1, pid 1, was replaced by opentabs ") {
		t.Errorf("warnings after the replacement = %q", warnings)
	}
	if err := client.Plugins.Reload(t.Context()); err != nil { // ends the new server
		t.Error(err)
	}
}

// TestStopServer checks that StopServer waits for the end of the server.
func TestStopServer(t *testing.T) {
	h := newTestHome(t)
	if _, err := h.StopServer(t.Context(), false); !errors.Is(err, httpapi.ErrNoServer) {
		t.Errorf("stop without a server = %v, want %v", err, httpapi.ErrNoServer)
	}
	serveOlderVersion(t, h, &listedCalls{})
	if stopped, err := h.StopServer(t.Context(), false); err != nil || stopped.PID != 1 {
		t.Errorf("stop = %+v, %v, want the server with pid 1", stopped, err)
	}
	if _, err := h.FindServer(t.Context()); !errors.Is(err, httpapi.ErrNoServer) {
		t.Errorf("server after its stop = %v, want none", err)
	}
}
