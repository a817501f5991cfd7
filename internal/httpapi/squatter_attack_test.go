package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

type byteRecorder struct {
	mu   sync.Mutex // the mutex guards the field text
	text bytes.Buffer
}

func (h *byteRecorder) record(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p)
}

func (h *byteRecorder) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

type recordingConn struct {
	net.Conn
	received *byteRecorder
}

func (l recordingConn) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.received.record(p[:n])
	return n, err
}

type recordingListener struct {
	net.Listener
	received *byteRecorder
}

func (o recordingListener) Accept() (net.Conn, error) {
	conn, err := o.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return recordingConn{conn, o.received}, nil
}

// The byteRecorder of startSquatter contains all bytes that clients have sent to the squatter.
func startSquatter(t *testing.T, handler http.Handler) (port int, got *byteRecorder) {
	t.Helper()
	got = &byteRecorder{}
	server := httptest.NewUnstartedServer(handler)
	server.Listener = recordingListener{server.Listener, got}
	server.Start()
	t.Cleanup(server.Close)
	return portOf(t, server), got
}

func respondWith(format string, args ...any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, format, args...) })
}

func respondRaw(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	})
}

// TestAttackByUser checks that a client never sends the token to another user's program
// that listens on the server's port.
func TestAttackByUser(t *testing.T) {
	f := startFixture(t)
	health := `{"ok":true,"version":"1.2.3","pid":42%s}`
	oldProof := computeProof(testToken, f.port, "a-challenge-of-long-ago")
	serverURL, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(serverURL)
	relayHandler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = serverURL.Host
		proxy.ServeHTTP(w, r)
	})
	emptyTokenHandler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, health, `,"proof":"`+computeProof("", f.port, r.URL.Query().Get("challenge"))+`"`)
	})
	for name, handler := range map[string]http.Handler{
		"a squatter on the port that answers as the server does": respondWith(health, ""),
		"a squatter that answers with an empty proof":            respondWith(health, `,"proof":""`),
		"a squatter that answers with the challenge": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, health, `,"proof":"`+r.URL.Query().Get("challenge")+`"`)
		}),
		"a squatter that replays a proof of the server":                   respondWith(health, `,"proof":"`+oldProof+`"`),
		"a squatter that proves an empty token":                           emptyTokenHandler,
		"a squatter that passes the challenge on to the server elsewhere": relayHandler,
		"a squatter that does not use HTTP":                               respondRaw("220 hello\r\n"),
		"a squatter that sends nothing and closes":                        respondRaw(""),
		"a squatter that sends answers before the requests":               respondRaw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
		"a squatter that never stops answering":                           respondRaw("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", 1<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			port, received := startSquatter(t, handler)
			c := NewClient(port, testToken)
			ctx := context.Background()
			_, healthErr := c.Health(ctx)
			_, stdioErr := c.Stdio(ctx, "")
			_, statusErr := c.Status(ctx)
			viaTransport := func() error {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL(CommandPath), strings.NewReader("{}"))
				if err != nil {
					return err
				}
				req.Header.Set("Authorization", "Bearer "+testToken)
				resp, err := (&http.Client{Transport: c.Transport()}).Do(req)
				if err == nil {
					_ = resp.Body.Close()
				}
				return err
			}
			for request, err := range map[string]error{"health": healthErr, "stdio": stdioErr, "status": statusErr, "mcp": viaTransport()} {
				if err == nil {
					t.Errorf("%s: the squatter was accepted as the server", request)
				}
				if errors.Is(err, ErrNoServer) {
					t.Errorf("%s: %v, though a program listens", request, err)
				}
			}
			if text := received.String(); strings.Contains(text, testToken) || !strings.Contains(text, "challenge=") {
				t.Errorf("the squatter received\n%s", text)
			}
		})
	}
}

// A proof must be valid for only one challenge and one port.
func TestProofNeedsAChallenge(t *testing.T) {
	f := startFixture(t)
	for _, badChallenge := range []string{"", "short", strings.Repeat("a", 129), "sixteen-letters\n", "sixteen%20letters%20", "ääääääääääääääää"} {
		if resp, body := f.sendRequest(t, "GET", "/healthz?challenge="+url.QueryEscape(badChallenge), nil); resp.StatusCode != 400 || strings.Contains(body, "proof") {
			t.Errorf("the challenge %q: %d %s", badChallenge, resp.StatusCode, body)
		}
	}
	const challenge = "0123456789abcdef"
	_, body := f.sendRequest(t, "GET", "/healthz?challenge="+challenge, nil)
	if want := `"proof":"` + computeProof(testToken, f.port, challenge) + `"`; !strings.Contains(body, want) {
		t.Errorf("got %s, want %s", body, want)
	}
	for _, otherProof := range []string{computeProof(testToken, f.port+1, challenge), computeProof(testToken, f.port, challenge+"0"), computeProof("another", f.port, challenge)} {
		if strings.Contains(body, otherProof) {
			t.Errorf("proofs for different purposes are equal: %s", body)
		}
	}
}
