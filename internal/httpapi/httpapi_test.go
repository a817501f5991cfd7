package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/internal/pluginlog"
	"opentabs/wire"
)

const (
	testToken  = "the-token"
	testOrigin = "chrome-extension://abc"
)

type fixture struct {
	api       *API
	calls     *dispatch.Dispatcher
	logs      *pluginlog.Log
	url       string
	port      int
	sinks     chan dispatch.Sink
	reloadErr error
	// developedDirs receives "begin DIR" and "end DIR" for each request to
	// /plugins/develop.
	developedDirs chan string
}

func startFixture(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	f := &fixture{sinks: make(chan dispatch.Sink, 100), developedDirs: make(chan string, 100)}
	f.calls = dispatch.New(&dispatchtest.Bridge{
		StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
			f.sinks <- sink
			return nil
		},
	}, dispatch.Options{})
	f.logs = pluginlog.Open(t.TempDir(), pluginlog.Options{})
	t.Cleanup(f.logs.Close)
	options := Options{
		Logs:    f.logs,
		Token:   testToken,
		Origins: []string{testOrigin},
		Health:  Health{OK: true, Version: "1.2.3", PID: 42},
		Calls:   f.calls,
		Status:  func() Status { return Status{Version: "1.2.3"} },
		Reload:  func() error { return f.reloadErr },
		StartDevelopment: func(dir string, permission wire.Permission) (func(), error) {
			if permission == "always" {
				return nil, errors.New("no such permission")
			}
			f.developedDirs <- "begin " + dir + " " + string(permission)
			return func() { f.developedDirs <- "end " + dir }, nil
		},
		MCP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "mcp")
		}),
		Browsers: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "ws")
		}),
		Stdio:     echoLines,
		Heartbeat: 20 * time.Millisecond,
	}
	for _, c := range change {
		c(&options)
	}
	f.api = New(options)
	server := httptest.NewServer(f.api)
	t.Cleanup(func() {
		f.calls.Shutdown()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = f.api.Shutdown(ctx)
		server.CloseClientConnections()
		server.Close()
	})
	f.url = server.URL
	f.port = portOf(t, server)
	return f
}

func echoLines(_ context.Context, inputReader io.Reader, outWriter io.Writer) error {
	lines := bufio.NewScanner(inputReader)
	for lines.Scan() {
		if _, err := io.WriteString(outWriter, "echo "+lines.Text()+"\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(outWriter, "bye\n")
	return errors.Join(err, lines.Err())
}

func (f *fixture) call(t *testing.T) (id string, sink dispatch.Sink) {
	t.Helper()
	callEnded := make(chan struct{})
	go func() {
		defer close(callEnded)
		_, _ = f.calls.Call(context.Background(), dispatch.Call{
			Tool: dispatch.Tool{Plugin: "messages", Name: "echo"}, Args: json.RawMessage(`{}`),
		})
	}()
	t.Cleanup(func() {
		f.calls.Shutdown()
		<-callEnded
	})
	sink = <-f.sinks
	return f.calls.Calls()[0].CallID, sink
}

func (f *fixture) sendRequest(t *testing.T, method, path string, header map[string]string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, f.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	for name, headerValue := range header {
		switch {
		case name == "Host":
			req.Host = headerValue
		case headerValue == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, headerValue)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestRouteStatusAndBody(t *testing.T) {
	f := startFixture(t)
	for _, c := range []struct {
		method, path string
		httpStatus   int
		body         string
	}{
		{"GET", "/healthz", 200, `{"ok":true,"version":"1.2.3","pid":42}`},
		{"GET", "/status", 200, `"version":"1.2.3"`},
		{"GET", "/calls", 200, `{"calls":[]}`},
		{"GET", "/calls/none", 404, `no such call`},
		{"POST", "/calls/none/cancel", 404, `no such call`},
		{"POST", "/plugins/reload", 200, `{"ok":true}`},
		{"POST", "/mcp", 403, "opentabs client add NAME"},
		{"POST", CommandPath, 200, "mcp"},
		{"GET", "/ws", 200, "ws"},
		{"GET", "/nothing", 404, `there is nothing here: use /mcp`},
		{"GET", "/", 404, `there is nothing here`},
		{"POST", "/status", 405, `POST is not allowed here: use GET`},
		{"GET", "/plugins/reload", 405, `GET is not allowed here: use POST`},
		{"DELETE", "/calls/x/cancel", 405, `DELETE is not allowed here: use POST`},
		{"POST", "/healthz", 405, `use GET`},
		{"GET", "/stdio", 426, `send Connection: Upgrade`},
	} {
		resp, body := f.sendRequest(t, c.method, c.path, nil)
		if resp.StatusCode != c.httpStatus || !strings.Contains(body, c.body) {
			t.Errorf("%s %s: status %d, body %s; want %d and %q", c.method, c.path, resp.StatusCode, body, c.httpStatus, c.body)
		}
		if c.httpStatus == 405 && resp.Header.Get("Allow") == "" {
			t.Errorf("%s %s: the 405 response has no header Allow; want the allowed methods", c.method, c.path)
		}
		if c.httpStatus >= 400 && (resp.Header.Get("Content-Type") != "application/json" || !json.Valid([]byte(body))) {
			t.Errorf("%s %s: body of the error response = %s; want JSON", c.method, c.path, body)
		}
	}
}

func TestUnauthenticatedHealthResponse(t *testing.T) {
	f := startFixture(t)
	_, body := f.sendRequest(t, "GET", "/healthz", map[string]string{"Authorization": ""})
	if want := "{\"ok\":true,\"version\":\"1.2.3\",\"pid\":42}\n"; body != want {
		t.Errorf("response of /healthz = %s; want %s", body, want)
	}
}

func TestReloadReturnsServerError(t *testing.T) {
	f := startFixture(t)
	f.reloadErr = errors.New("plugins.json is damaged")
	err := NewClient(f.port, testToken).Plugins.Reload(context.Background())
	var refusedError *RefusedError
	if !errors.As(err, &refusedError) || refusedError.Status != 500 || refusedError.Explanation != "plugins.json is damaged" {
		t.Errorf("Reload returned the error %v; want status 500 and \"plugins.json is damaged\"", err)
	}
}

func TestCancelOverHTTP(t *testing.T) {
	f := startFixture(t)
	c := NewClient(f.port, testToken)
	id, _ := f.call(t)
	calls, err := c.Calls.List(context.Background())
	if err != nil || len(calls) != 1 || calls[0].CallID != id || calls[0].Status != wire.StatusRunning {
		t.Fatalf("List returned %+v, error %v; want the running call %s", calls, err, id)
	}
	if err := c.post(context.Background(), "/calls/"+id+"/cancel", map[string]int{"why": 1}, nil); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("cancel request with an unknown field: error %v; want an error that contains %q", err, "why")
	}
	for i, want := range []bool{true, false} {
		if got, err := c.Calls.Cancel(context.Background(), id, "the wrong\nchannel\u202e"); err != nil || got != want {
			t.Errorf("Cancel number %d returned %v, error %v; want %v", i, got, err, want)
		}
	}
	resp, body := f.sendRequest(t, "GET", "/calls/"+id, nil)
	if resp.StatusCode != 200 || !strings.Contains(body, `"status":"cancelled"`) || !strings.Contains(body, `"cancel_reason":"the wrong channel"`) {
		t.Errorf("cancelled call: status %d, body %s; want 200, the status cancelled and the reason on one line", resp.StatusCode, body)
	}
	// Without a body, a request to cancel a call gives no reason.
	id, _ = f.call(t)
	if resp, body := f.sendRequest(t, "POST", "/calls/"+id+"/cancel", nil); resp.StatusCode != 200 || body != "{\"cancelled\":true}\n" {
		t.Errorf("cancel request without a body: status %d, body %q; want 200 and \"cancelled\":true", resp.StatusCode, body)
	}
}
