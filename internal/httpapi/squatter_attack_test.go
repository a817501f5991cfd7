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
	mu            sync.Mutex // guards receivedBytes
	receivedBytes bytes.Buffer
}

func (h *byteRecorder) record(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.receivedBytes.Write(p)
}

func (h *byteRecorder) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.receivedBytes.String()
}

type recordingConn struct {
	net.Conn
	receivedBytes *byteRecorder
}

func (l recordingConn) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.receivedBytes.record(p[:n])
	return n, err
}

type recordingListener struct {
	net.Listener
	receivedBytes *byteRecorder
}

func (o recordingListener) Accept() (net.Conn, error) {
	conn, err := o.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return recordingConn{conn, o.receivedBytes}, nil
}

// startPortSquatter starts a foreign program, as another user can, on the port where clients expect the server. The
// returned byteRecorder contains all bytes that clients have sent to the foreign program.
func startPortSquatter(t *testing.T, handler http.Handler) (port int, got *byteRecorder) {
	t.Helper()
	got = &byteRecorder{}
	server := httptest.NewUnstartedServer(handler)
	server.Listener = recordingListener{server.Listener, got}
	server.Start()
	t.Cleanup(server.Close)
	return portOf(t, server), got
}

func textHandler(format string, args ...any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, format, args...) })
}

func rawHandler(rawResponse string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, rawResponse)
			_ = conn.Close()
		}
	})
}

// TestAttackByUser checks that a client never sends the token to another user's program
// that listens on the server's port.
func TestAttackByUser(t *testing.T) {
	f := startFixture(t)
	healthJSON := `{"ok":true,"version":"1.2.3","pid":42%s}`
	staleProof := computeProof(testToken, f.port, "a-challenge-of-long-ago")
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
		fmt.Fprintf(w, healthJSON, `,"proof":"`+computeProof("", f.port, r.URL.Query().Get("challenge"))+`"`)
	})
	for name, handler := range map[string]http.Handler{
		"a foreign program that answers as the server does":  textHandler(healthJSON, ""),
		"a foreign program that answers with an empty proof": textHandler(healthJSON, `,"proof":""`),
		"a foreign program that answers with the challenge": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, healthJSON, `,"proof":"`+r.URL.Query().Get("challenge")+`"`)
		}),
		"a foreign program that replays a proof of the server":              textHandler(healthJSON, `,"proof":"`+staleProof+`"`),
		"a foreign program that computes the proof with an empty token":     emptyTokenHandler,
		"a foreign program that passes the challenge on to the real server": relayHandler,
		"a foreign program that does not use HTTP":                          rawHandler("220 hello\r\n"),
		"a foreign program that sends nothing and closes":                   rawHandler(""),
		"a foreign program that sends answers before the requests":          rawHandler("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
		"a foreign program that never stops answering":                      rawHandler("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", 1<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			port, receivedBytes := startPortSquatter(t, handler)
			c := NewClient(port, testToken)
			ctx := context.Background()
			_, healthErr := c.Health(ctx)
			_, stdioErr := c.Stdio(ctx, "")
			_, statusErr := c.Status(ctx)
			requestViaTransport := func() error {
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
			for request, err := range map[string]error{"health": healthErr, "stdio": stdioErr, "status": statusErr, "mcp": requestViaTransport()} {
				if err == nil {
					t.Errorf("request %s: the client accepted the foreign program as the server; want an error", request)
				}
				if errors.Is(err, ErrNoServer) {
					t.Errorf("request %s: error %v, although a program listens on the port; want another error", request, err)
				}
			}
			if receivedText := receivedBytes.String(); strings.Contains(receivedText, testToken) || !strings.Contains(receivedText, "challenge=") {
				t.Errorf("the foreign program received\n%s\nwant a challenge and no token", receivedText)
			}
		})
	}
}

// A proof must be valid for only one challenge and one port.
func TestProofRequiresValidChallenge(t *testing.T) {
	f := startFixture(t)
	for _, badChallenge := range []string{"", "short", strings.Repeat("a", 129), "sixteen-letters\n", "sixteen%20letters%20", "ääääääääääääääää"} {
		if resp, body := f.sendRequest(t, "GET", "/healthz?challenge="+url.QueryEscape(badChallenge), nil); resp.StatusCode != 400 || strings.Contains(body, "proof") {
			t.Errorf("invalid challenge %q: status %d, body %s; want 400 and no proof", badChallenge, resp.StatusCode, body)
		}
	}
	const challenge = "0123456789abcdef"
	_, body := f.sendRequest(t, "GET", "/healthz?challenge="+challenge, nil)
	if want := `"proof":"` + computeProof(testToken, f.port, challenge) + `"`; !strings.Contains(body, want) {
		t.Errorf("response of /healthz = %s, want %s", body, want)
	}
	for _, otherProof := range []string{computeProof(testToken, f.port+1, challenge), computeProof(testToken, f.port, challenge+"0"), computeProof("another", f.port, challenge)} {
		if strings.Contains(body, otherProof) {
			t.Errorf("response of /healthz = %s; want no proof for another port, challenge or token", body)
		}
	}
}
