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

func TestClientReadsHealthAndStatus(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, testToken)
	if h, err := c.Health(context.Background()); err != nil || h != (Health{OK: true, Version: "1.2.3", PID: 42}) {
		t.Errorf("Health returned %+v, error %v; want version 1.2.3 and pid 42", h, err)
	}
	if s, err := c.Status(context.Background()); err != nil || s.Version != "1.2.3" {
		t.Errorf("Status returned %+v, error %v; want the version %q", s, err, "1.2.3")
	}
}

func TestClientWithoutServer(t *testing.T) {
	c := NewClient(1, testToken) // no program listens on port 1
	if _, err := c.Status(context.Background()); !errors.Is(err, ErrNoServer) {
		t.Errorf("Status without a server returned the error %v; want %v", err, ErrNoServer)
	}
	if _, err := c.Stdio(context.Background(), ""); !errors.Is(err, ErrNoServer) {
		t.Errorf("Stdio without a server returned the error %v; want %v", err, ErrNoServer)
	}
	cancelledCtx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Status(cancelledCtx); errors.Is(err, ErrNoServer) || !errors.Is(err, context.Canceled) {
		t.Errorf("Status with a cancelled context returned the error %v; want %v", err, context.Canceled)
	}
}

// TestClientWithWrongToken checks that a client treats a server with another token as a
// foreign program.
func TestClientWithWrongToken(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, "wrong")
	if _, err := c.Calls.List(context.Background()); !errors.Is(err, ErrPortTaken) {
		t.Errorf("List with a wrong token returned the error %v; want %v", err, ErrPortTaken)
	}
	if _, err := c.Stdio(context.Background(), ""); !errors.Is(err, ErrPortTaken) {
		t.Errorf("Stdio with a wrong token returned the error %v; want %v", err, ErrPortTaken)
	}
}

func TestHealthRejectsInvalidResponse(t *testing.T) {
	for _, body := range []string{`{"ok":true}`, `hello`, ``, `{"ok":true,"version":"1","pid":0}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(body))
		}))
		_, err := NewClient(portOf(t, server), "").Health(context.Background())
		if err == nil || errors.Is(err, ErrNoServer) {
			t.Errorf("Health of a program that responds %q: error %v; want an error other than %v", body, err, ErrNoServer)
		}
		server.Close()
	}
}

func TestErrorOfResponseWithoutJSON(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := NewClient(portOf(t, server), "").Status(context.Background())
	if err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("Status for a 404 response without a JSON body: error %v; want an error that contains %q", err, "404 Not Found")
	}
}
