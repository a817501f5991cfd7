package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/memnet"
)

// The daemon must answer requests before its record is written, because the disk may be slow. If the record cannot be
// written, the daemon must end, because commands could not find it.
func TestServeBeforeRecordIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "home")
		dirs := config.Dirs{Config: dir, State: dir}
		if _, err := dirs.CreateDirs(); err != nil {
			t.Fatal(err)
		}
		h := home.New(dirs, config.Defaults(), os.Getenv, nil)
		listener := memnet.Listen()
		s := &StartedDaemon{Daemon: newDaemon(h, "T", "127.0.0.1:80", zerolog.Nop()), home: h, listener: listener, recordErr: make(chan error, 1)}
		serveErr := make(chan error, 1)
		go func() { serveErr <- s.Serve(t.Context()) }()
		transport := &http.Transport{DialContext: listener.Dial}
		resp, err := (&http.Client{Transport: transport}).Get("http://127.0.0.1/healthz")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("GET /healthz before the record is written: response %v, error %v; want status 200", resp, err)
		}
		resp.Body.Close()
		transport.CloseIdleConnections()
		recordErr := errors.New("the disk is full")
		s.recordErr <- recordErr
		if err := <-serveErr; !errors.Is(err, recordErr) {
			t.Errorf("Serve = %v, want %v", err, recordErr)
		}
	})
}

type fakeTimeDaemon struct {
	t           *testing.T
	listen      *memnet.Listener
	client      *http.Client
	token       string
	clientToken string
}

func withFakeTimeDaemon(t *testing.T, test func(w *fakeTimeDaemon)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "home")
		dirs := config.Dirs{Config: dir, State: dir}
		if _, err := dirs.CreateDirs(); err != nil {
			t.Fatal(err)
		}
		token, err := dirs.Token()
		if err != nil {
			t.Fatal(err)
		}
		clientToken, err := clienttoken.Open(dirs.ClientsFile()).Add("test")
		if err != nil {
			t.Fatal(err)
		}
		w := &fakeTimeDaemon{t: t, listen: memnet.Listen(), token: token, clientToken: clientToken}
		d := newDaemon(home.New(dirs, config.Defaults(), os.Getenv, nil), token, "127.0.0.1:80", zerolog.Nop())
		ctx, stop := context.WithCancel(t.Context())
		daemonErr := make(chan error, 1)
		go func() { daemonErr <- d.Serve(ctx, w.listen) }()
		transport := &http.Transport{DialContext: w.listen.Dial}
		w.client = &http.Client{Transport: transport}
		test(w)
		transport.CloseIdleConnections()
		stop()
		if err := <-daemonErr; err != nil {
			t.Error(err)
		}
	})
}

// The caller of sendRequest must read the body of the response.
func (w *fakeTimeDaemon) sendRequest(method, path, requestBody string, headers ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(requestBody))
	if err != nil {
		w.t.Fatal(err)
	}
	token := w.token
	if path == "/mcp" {
		token = w.clientToken
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatalf("request %s %s failed: %v", method, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		responseBody, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("%s %s: status %s, body %s; want 200", method, path, resp.Status, responseBody)
	}
	return resp
}

func (w *fakeTimeDaemon) expectKeepAlives(name string, body io.Reader, d time.Duration) {
	w.t.Helper()
	keepAliveLines := make(chan struct{}, 1000)
	readErr := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			keepAliveLines <- struct{}{}
		}
		readErr <- lines.Err()
	}()
	select {
	case err := <-readErr:
		w.t.Errorf("the stream %s ended with the error %v; want an open stream for %v", name, err, d)
	case <-time.After(d):
	}
	if len(keepAliveLines) < 2 {
		w.t.Errorf("the stream %s sent %d keep-alive lines; want at least 2", name, len(keepAliveLines))
	}
}

// TestLongStreamsAreNotEnded checks that the limits for slow clients do not end streams or sessions
// that last 20 min.
func TestLongStreamsAreNotEnded(t *testing.T) {
	const streamTime = 20 * time.Minute
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	t.Run("events", func(t *testing.T) {
		withFakeTimeDaemon(t, func(w *fakeTimeDaemon) {
			resp := w.sendRequest("GET", "/events", "")
			w.expectKeepAlives("/events", resp.Body, streamTime)
			_ = resp.Body.Close()
		})
	})
	t.Run("listening", func(t *testing.T) {
		withFakeTimeDaemon(t, func(w *fakeTimeDaemon) {
			resp := w.sendRequest("POST", "/mcp", initialize)
			session := resp.Header.Get("Mcp-Session-Id")
			_ = resp.Body.Close()
			resp = w.sendRequest("GET", "/mcp", "", "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25")
			w.expectKeepAlives("GET /mcp", resp.Body, streamTime)
			_ = resp.Body.Close()
		})
	})
	t.Run("subscribed", func(t *testing.T) {
		withFakeTimeDaemon(t, func(w *fakeTimeDaemon) {
			resp := w.sendRequest("POST", "/mcp", `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
			w.expectKeepAlives("subscriptions/listen", resp.Body, streamTime)
			_ = resp.Body.Close()
		})
	})
	t.Run("stdio", func(t *testing.T) {
		withFakeTimeDaemon(t, func(w *fakeTimeDaemon) {
			conn, err := w.listen.Dial(w.t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "GET /stdio HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", w.token, httpapi.StdioProtocol)
			reader := bufio.NewReader(conn)
			resp, err := http.ReadResponse(reader, nil)
			if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
				t.Fatalf("upgrade of /stdio: response %v, error %v; want status 101", resp, err)
			}
			for id, line := range []string{initialize, `{"jsonrpc":"2.0","id":1,"method":"ping"}`} {
				fmt.Fprintln(conn, line)
				if got, err := reader.ReadString('\n'); err != nil || !strings.Contains(got, `"id":1,"result"`) {
					t.Errorf("response to message %d = %q, error %v; want a result with the ID 1", id, got, err)
				}
				<-time.After(streamTime)
			}
		})
	})
}
