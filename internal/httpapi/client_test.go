package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"opentabs/internal/sse"
)

func newEvent(name, eventData string) sse.Event {
	return sse.Event{Name: name, Data: []byte(eventData)}
}

func TestClient(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, testToken)
	if h, err := c.Health(context.Background()); err != nil || h != (Health{OK: true, Version: "1.2.3", PID: 42}) {
		t.Errorf("health: %+v, %v", h, err)
	}
	if s, err := c.Status(context.Background()); err != nil || s.Version != "1.2.3" {
		t.Errorf("status: %+v, %v; want %q", s, err, "1.2.3")
	}
}

func TestClientWithoutServer(t *testing.T) {
	c := NewClient(1, testToken) // no program listens on port 1
	if _, err := c.Status(context.Background()); !errors.Is(err, ErrNoServer) {
		t.Errorf("status: %v; want the error %v", err, ErrNoServer)
	}
	if _, err := c.Stdio(context.Background(), ""); !errors.Is(err, ErrNoServer) {
		t.Errorf("stdio: %v; want the error %v", err, ErrNoServer)
	}
	cancelledCtx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Status(cancelledCtx); errors.Is(err, ErrNoServer) || !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

// TestClientWithWrongToken checks that a client treats a server with another token as a
// foreign program.
func TestClientWithWrongToken(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, "wrong")
	if _, err := c.Calls.List(context.Background()); !errors.Is(err, ErrForeignServer) {
		t.Errorf("calls: %v; want the error %v", err, ErrForeignServer)
	}
	if _, err := c.Stdio(context.Background(), ""); !errors.Is(err, ErrForeignServer) {
		t.Errorf("stdio: %v; want the error %v", err, ErrForeignServer)
	}
}

func TestHealthOfAnotherProgram(t *testing.T) {
	for _, body := range []string{`{"ok":true}`, `hello`, ``, `{"ok":true,"version":"1","pid":0}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(body))
		}))
		_, err := NewClient(portOf(t, server), "").Health(context.Background())
		if err == nil || errors.Is(err, ErrNoServer) {
			t.Errorf("%q was taken for an opentabs server: %v", body, err)
		}
		server.Close()
	}
}

func TestRefusalWithoutSentence(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := NewClient(portOf(t, server), "").Status(context.Background())
	if err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("got %v; want an error that contains %q", err, "404 Not Found")
	}
}
