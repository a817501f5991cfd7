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

// heard is what a program on the port was received by those who connected.
type heard struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (h *heard) note(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// listening is a connection whose other end is recordingListener.
type listening struct {
	net.Conn
	heard *heard
}

func (l listening) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.heard.note(p[:n])
	return n, err
}

// recordingListener is a listener that notes all it is received.
type recordingListener struct {
	net.Listener
	heard *heard
}

func (o recordingListener) Accept() (net.Conn, error) {
	conn, err := o.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return listening{conn, o.heard}, nil
}

// squat listens on a port with a handler of another user's.
func squat(t *testing.T, handler http.Handler) (port int, received *heard) {
	t.Helper()
	received = &heard{}
	server := httptest.NewUnstartedServer(handler)
	server.Listener = recordingListener{server.Listener, received}
	server.Start()
	t.Cleanup(server.Close)
	return portOf(t, server), received
}

func respond(format string, args ...any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, format, args...) })
}

// raw answers a connection with bytes that are no answer of net/http's.
func raw(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	})
}

// TestAttackByUser: another user's program has taken the port while the server
// was away. It must not get the token, whatever it answers.
func TestAttackByUser(t *testing.T) {
	f := start(t)
	health := `{"ok":true,"version":"1.2.3","pid":42%s}`
	old := proof(testToken, f.port, "a-challenge-of-long-ago")
	real, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	toServer := httputil.NewSingleHostReverseProxy(real)
	relayed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = real.Host
		toServer.ServeHTTP(w, r)
	})
	guess := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, health, `,"proof":"`+proof("", f.port, r.URL.Query().Get("challenge"))+`"`)
	})
	for name, handler := range map[string]http.Handler{
		"a squatter on the port that answers as the server does": respond(health, ""),
		"a squatter that answers with an empty proof":            respond(health, `,"proof":""`),
		"a squatter that answers with the challenge": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, health, `,"proof":"`+r.URL.Query().Get("challenge")+`"`)
		}),
		"a squatter that answers with a proof it has seen before":         respond(health, `,"proof":"`+old+`"`),
		"a squatter that proves an empty token":                           guess,
		"a squatter that passes the challenge on to the server elsewhere": relayed,
		"a squatter that speaks no HTTP":                                  raw("220 hello\r\n"),
		"a squatter that says nothing and hangs up":                       raw(""),
		"a squatter that sends answers ahead":                             raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
		"a squatter that never stops answering":                           raw("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", 1<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			port, received := squat(t, handler)
			c := NewClient(port, testToken)
			ctx := context.Background()
			_, healthErr := c.Health(ctx)
			_, stdioErr := c.Stdio(ctx)
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
			for what, err := range map[string]error{"health": healthErr, "stdio": stdioErr, "status": statusErr, "mcp": viaTransport()} {
				if err == nil {
					t.Errorf("%s: the squatter was taken for the server", what)
				}
				if errors.Is(err, ErrNoServer) {
					t.Errorf("%s: %v, though somebody listens", what, err)
				}
			}
			if text := received.String(); strings.Contains(text, testToken) || !strings.Contains(text, "challenge=") {
				t.Errorf("the squatter was received\n%s", text)
			}
		})
	}
}

// TestProofNeedsAChallenge: what the server proves is short, plain, and made
// for one port.
func TestProofNeedsAChallenge(t *testing.T) {
	f := start(t)
	for _, bad := range []string{"", "short", strings.Repeat("a", 129), "sixteen-letters\n", "sixteen%20letters%20", "ääääääääääääääää"} {
		if resp, body := f.ask(t, "GET", "/healthz?challenge="+url.QueryEscape(bad), nil); resp.StatusCode != 400 || strings.Contains(body, "proof") {
			t.Errorf("the challenge %q: %d %s", bad, resp.StatusCode, body)
		}
	}
	const challenge = "0123456789abcdef"
	_, body := f.ask(t, "GET", "/healthz?challenge="+challenge, nil)
	if want := `"proof":"` + proof(testToken, f.port, challenge) + `"`; !strings.Contains(body, want) {
		t.Errorf("got %s, want %s", body, want)
	}
	for _, other := range []string{proof(testToken, f.port+1, challenge), proof(testToken, f.port, challenge+"0"), proof("another", f.port, challenge)} {
		if strings.Contains(body, other) {
			t.Errorf("a proof for something else is the same: %s", body)
		}
	}
}
