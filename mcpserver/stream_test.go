package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
)

// pipeListener accepts connections that are pipes in memory, so that a whole server runs in fake time.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.done)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *pipeListener) dial() net.Conn {
	serverConn, clientConn := net.Pipe()
	l.conns <- clientConn
	return serverConn
}

// In a synctest bubble, a channel belongs to the bubble that created it, so the function f must create its own
// channels.
func runInFakeTime(t *testing.T, c Caller, o Options, f func(t *testing.T, s *testServer, l *pipeListener, a *client)) {
	packages := newServer(t, c, Options{}) // files are read outside of fake time
	synctest.Test(t, func(t *testing.T) {
		s := &testServer{Server: New(c, packages.reg, o), url: "http://127.0.0.1"}
		l := newPipeListener()
		hs := &http.Server{Handler: s.Handler()}
		serveError := make(chan error)
		go func() { serveError <- hs.Serve(l) }()
		tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial(), nil }}
		a := &client{t: t, url: s.url, http: &http.Client{Transport: tr}, headers: http.Header{}}
		res := a.postRequest(t.Context(), initializeText("a"))
		readMessages(t, res)
		a.session, a.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"

		f(t, s, l, a)

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(ctx)
		tr.CloseIdleConnections()
		hs.Close()
		<-serveError
	})
}

func sendCallWithoutReading(t *testing.T, l *pipeListener, c *client, requestBody string) net.Conn {
	t.Helper()
	conn := l.dial()
	var b bytes.Buffer
	if err := c.newRequest(t.Context(), http.MethodPost, requestBody).Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestClientThatDoesNotReadLosesOnlyItsCall(t *testing.T) {
	var startTimes, endTimes chan time.Time
	caller := callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		if string(c.Args) == `{}` {
			return echoArguments(ctx, c)
		}
		startTimes <- time.Now()
		for i := 0; ctx.Err() == nil; i++ {
			c.Progress(dispatch.Progress{Progress: float64(i)})
		}
		endTimes <- time.Now()
		return dispatch.Result{}, errors.New("cancelled")
	})
	runInFakeTime(t, caller, Options{}, func(t *testing.T, _ *testServer, l *pipeListener, a *client) {
		startTimes, endTimes = make(chan time.Time, 1), make(chan time.Time, 1)
		conn := sendCallWithoutReading(t, l, a, callText(`1`, `{"slow":1}`, `{"progressToken":1}`))
		startTime := <-startTimes
		for i := range 10 { // other calls of the session continue
			if m := a.call(callText(fmt.Sprint(i+2), `{}`, `{}`)); m.Result == nil {
				t.Error(m.messageJSON)
			}
		}
		if waitDuration := (<-endTimes).Sub(startTime); waitDuration != 5*time.Second {
			t.Errorf("the call was cancelled after %s; want 5 s", waitDuration)
		}
		conn.Close()
	})
}

func TestClientThatDoesNotReadItsResultIsDisconnected(t *testing.T) {
	bigResult := `"` + strings.Repeat("x", 1<<20) + `"`
	runInFakeTime(t, callerReturning(bigResult), Options{}, func(t *testing.T, s *testServer, l *pipeListener, a *client) {
		startTime := time.Now()
		conn := sendCallWithoutReading(t, l, a, callText(`1`, `{}`, `{}`))
		synctest.Wait() // the server writes to the silent client
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if waitDuration := time.Since(startTime); waitDuration != 30*time.Second {
			t.Errorf("the server closed the silent connection after %s; want 30 s", waitDuration)
		}
		conn.Close()
	})
}

func TestResultAfterLongSilenceArrives(t *testing.T) {
	// The deadline for a notification must not apply to the result that the server writes later.
	caller := callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		c.Progress(dispatch.Progress{Progress: 1})
		<-time.After(5 * time.Minute)
		return dispatch.Result{Output: json.RawMessage(`{}`)}, nil
	})
	runInFakeTime(t, caller, Options{}, func(t *testing.T, _ *testServer, _ *pipeListener, a *client) {
		msgs := a.requestAndRead(callText(`1`, `{}`, `{"progressToken":1}`))
		if len(msgs) != 2 || msgs[1].Result == nil {
			t.Errorf("messages = %v; want 2, the last a result", msgs)
		}
	})
}

func TestSilentCallSendsKeepAlives(t *testing.T) {
	caller := callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		<-time.After(59 * time.Second)
		if c.Progress != nil {
			c.Progress(dispatch.Progress{Progress: 1})
			<-time.After(24 * time.Second) // the tool returns before the next keep-alive message, which is due after 25 s
		}
		return echoArguments(ctx, c)
	})
	runInFakeTime(t, caller, Options{}, func(t *testing.T, _ *testServer, _ *pipeListener, a *client) {
		for _, meta := range []string{`{}`, `{"progressToken":1}`} {
			startTime := time.Now()
			res := a.postRequest(t.Context(), callText(`1`, `{}`, meta))
			if headers := time.Since(startTime); headers != defaultHeartbeat {
				t.Errorf("the headers arrived after %s; want %s", headers, time.Duration(defaultHeartbeat))
			}
			e := newEvents(res.Body)
			for {
				if _, ok := e.readEventData(); !ok {
					break
				}
			}
			res.Body.Close()
			if e.comments != 2 {
				t.Errorf("the stream had %d comments in %s; want 2", e.comments, time.Since(startTime))
			}
		}
		// A client that accepts no events gets plain JSON, however long the call runs.
		a.headers.Set("Accept", "application/json")
		if m := a.call(callText(`1`, `{}`, `{}`)); m.Result == nil {
			t.Error(m.messageJSON)
		}
	})
}

func TestOnlyIdleSessionsExpire(t *testing.T) {
	caller := callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		<-time.After(3 * time.Hour)
		return echoArguments(ctx, c)
	})
	endedClientNames := make(chan string, 10)
	onSessionEnd := func(c dispatch.Client) { endedClientNames <- c.Name }
	runInFakeTime(t, caller, Options{OnSessionEnd: onSessionEnd}, func(t *testing.T, s *testServer, _ *pipeListener, idleClient *client) {
		listeningClient := s.openWithClientOf(t, idleClient, "listening")
		busyClient := s.openWithClientOf(t, idleClient, "busy")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		res := listeningClient.do(listeningClient.newRequest(ctx, http.MethodGet, ""))
		e, progressRead := newEvents(res.Body), make(chan struct{})
		var notification string
		go func() {
			notification, _ = e.readEventData()
			e.readEventData()
			close(progressRead)
		}()
		got := busyClient.postAsync(t.Context(), callText(`1`, `{}`, `{}`))
		<-time.After(2 * time.Hour)
		if code, _ := idleClient.status(idleClient.newRequest(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)); code != http.StatusNotFound {
			t.Errorf("ping of the idle session: status %d; want 404", code)
		}
		if len(endedClientNames) != 1 {
			t.Errorf("ended sessions after 2 h = %d, want that of the idle client", len(endedClientNames))
		}
		for _, c := range []*client{listeningClient, busyClient} {
			if m := c.call(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); m.Error != nil {
				t.Error(m.messageJSON)
			}
		}
		s.catalog.updateLists()
		if msgs := <-got; len(msgs) != 1 || msgs[0].Result == nil {
			t.Errorf("messages of the long call = %v; want only its result", msgs)
		}
		stop()
		<-progressRead
		if !strings.Contains(notification, "list_changed") {
			t.Errorf("event on the silent GET stream = %q; want a text that contains %q", notification, "list_changed")
		}
		res.Body.Close()
		if want := int(3 * time.Hour / defaultHeartbeat); e.comments < want-1 || e.comments > want {
			t.Errorf("the GET stream had %d comments; want about %d", e.comments, want)
		}
		<-time.After(2 * time.Hour)
		if n := len(s.Clients()); n != 0 {
			t.Errorf("the server still has %d sessions; want 0", n)
		}
	})
}

// A client counts as disconnected after it closed a response early, or after 10 min without requests, until its next
// request.
func TestDisconnectedClientIsNotListed(t *testing.T) {
	runInFakeTime(t, newHangingCaller(), Options{}, func(t *testing.T, s *testServer, _ *pipeListener, inactiveClient *client) {
		listening, callingClient := s.openWithClientOf(t, inactiveClient, "listening"), s.openWithClientOf(t, inactiveClient, "calling")
		ping := func(c *client) int {
			code, _ := c.status(c.newRequest(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			return code
		}
		names := func() string {
			synctest.Wait()
			var clientNames []string
			for _, c := range s.Clients() {
				clientNames = append(clientNames, c.Name)
			}
			slices.Sort(clientNames) // all lines have the same time, so their order may vary
			return strings.Join(clientNames, " ")
		}
		breakConnection := func(c *client, method, requestBody string) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				res, err := c.http.Do(c.newRequest(ctx, method, requestBody))
				if err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			}()
			synctest.Wait()
			if got := names(); got != "a calling listening" {
				t.Errorf("before the end of the connection the clients are %s; want %q", got, "a calling listening")
			}
			cancel()
			<-done
		}
		breakConnection(listening, http.MethodGet, "")
		if got := names(); got != "a calling" {
			t.Errorf("after the end of a GET stream the clients are %s; want %q", got, "a calling")
		}
		if code := ping(listening); code != http.StatusOK || names() != "a calling listening" {
			t.Errorf("ping of the returned client: status %d, clients %s; want 200 and three clients", code, names())
		}
		breakConnection(callingClient, http.MethodPost, callText(`1`, `{}`, `{}`))
		if got := names(); got != "a listening" {
			t.Errorf("after the end of a call's connection the clients are %s; want %q", got, "a listening")
		}
		<-time.After(10*time.Minute - time.Second)
		if got := names(); got != "a listening" {
			t.Errorf("before the session timeout the clients are %s; want %q", got, "a listening")
		}
		<-time.After(time.Second)
		if got := names(); got != "" {
			t.Errorf("after the session timeout the clients are %s; want %q", got, "")
		}
		<-time.After(10 * time.Minute)
		if statusCodes := []int{ping(inactiveClient), ping(listening), ping(callingClient)}; !slices.Equal(statusCodes, []int{200, 200, 404}) {
			t.Errorf("statuses of the three pings = %v; want 200, 200 and 404", statusCodes)
		}
	})
}

func (s *testServer) openWithClientOf(t *testing.T, otherClient *client, name string) *client {
	t.Helper()
	c := &client{t: t, url: s.url, http: otherClient.http, headers: http.Header{}}
	res := c.postRequest(t.Context(), initializeText(name))
	readMessages(t, res)
	c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	return c
}
