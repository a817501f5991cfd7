package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

func (c *client) postAsync(ctx context.Context, requestBody string) <-chan []receivedMessage {
	c.t.Helper()
	got := make(chan []receivedMessage, 1)
	r := c.newRequest(ctx, http.MethodPost, requestBody)
	go func() {
		res, err := c.http.Do(r)
		if err != nil {
			got <- nil
			return
		}
		got <- readMessages(c.t, res)
	}()
	return got
}

func (c *client) status(r *http.Request) (int, string) {
	c.t.Helper()
	res := c.do(r)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
	}
	return res.StatusCode, string(b)
}

func (c *client) cancel(id string) {
	c.t.Helper()
	if code, body := c.status(c.newRequest(context.Background(), http.MethodPost, newCancelMessage(id))); code != http.StatusAccepted || body != "" {
		c.t.Errorf("response to the cancellation: status %d, body %q; want 202 and no body", code, body)
	}
}

func TestClientCancelsItsCall(t *testing.T) {
	for _, id := range []string{`5`, `"5"`, `9007199254740993`} {
		h := newHangingCaller()
		s := serveTools(t, h, Options{})
		c := s.open(t, "a")
		got := c.postAsync(context.Background(), callText(id, `{}`, `{"progressToken":1}`))
		<-h.startedCalls
		c.cancel(id)
		if cause := <-h.callErrors; !errors.Is(cause, transport.ErrCancelled) {
			t.Errorf("call with the ID %s: cause of its end = %v; want the error %v", id, cause, transport.ErrCancelled)
		}
		if msgs := <-got; len(msgs) != 0 {
			t.Errorf("call with the ID %s: answer after its cancellation = %s; want none", id, msgs[0].messageJSON)
		}
		c.cancel(id) // this second cancellation follows the end of the call
	}
}

// Over HTTP, a call and its cancellation can arrive in either order, because they use different connections.
func TestCancelThatArrivesFirstCancelsLaterCall(t *testing.T) {
	h := &hangingCaller{}
	runInFakeTime(t, h, Options{}, func(t *testing.T, _ *testServer, _ *pipeListener, c *client) {
		*h = *newHangingCaller()
		c.cancel(`1`)
		if msgs := c.requestAndRead(callText(`1`, `{}`, `{"progressToken":1}`)); len(msgs) != 0 {
			t.Errorf("answer to a call that was cancelled early = %s; want none", msgs[0].messageJSON)
		}
		<-h.startedCalls
		if cause := <-h.callErrors; !errors.Is(cause, transport.ErrCancelled) {
			t.Errorf("cause of the call's end = %v; want the error %v", cause, transport.ErrCancelled)
		}
		// A client can reuse the ID of a call that has ended.
		c.cancel(`1`)
		pendingCall := c.postAsync(t.Context(), callText(`1`, `{}`, `{}`))
		<-h.startedCalls
		synctest.Wait()
		select {
		case <-h.callErrors:
			t.Error("a cancellation of an ended call cancelled the next call with the same ID; want a running call")
		default:
		}
		c.cancel(`1`)
		<-h.callErrors
		<-pendingCall
	})
}

func TestOnlyTheSameIDInTheSameSessionIsCancelled(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{})
	a, b, sessionlessPeer := s.open(t, "a"), s.open(t, "b"), s.sessionlessClient(t)
	ctx, disconnect := context.WithCancel(context.Background())
	defer disconnect()
	a.postAsync(ctx, callText(`1`, `{}`, `{}`))
	<-h.startedCalls
	a.postAsync(ctx, callText(`"2"`, `{}`, `{}`))
	<-h.startedCalls

	b.cancel(`1`)
	a.cancel(`"1"`)
	a.cancel(`2`)
	a.cancel(`null`)
	a.cancel(`{}`)
	if code, _ := sessionlessPeer.status(sessionlessPeer.newRequest(ctx, http.MethodPost, newCancelMessage(`1`))); code != http.StatusBadRequest {
		t.Errorf("cancellation without a session: status %d; want 400", code)
	}
	sessionlessPeer.headers.Set("Mcp-Protocol-Version", "2026-07-28")
	sessionlessPeer.cancel(`1`)
	select {
	case <-h.callErrors:
		t.Error("a cancellation in another session reached the call; want a running call")
	default:
	}
	a.cancel(`1`)
	<-h.callErrors
	a.cancel(`"2"`)
	<-h.callErrors
}

func TestDisconnectCancelsCall(t *testing.T) {
	for _, accept := range []string{"application/json, text/event-stream", "application/json"} {
		h := newHangingCaller()
		s := serveTools(t, h, Options{})
		c := s.open(t, "a")
		c.headers.Set("Accept", accept)
		ctx, disconnect := context.WithCancel(context.Background())
		got := c.postAsync(ctx, callText(`1`, `{}`, `{}`))
		<-h.startedCalls
		disconnect()
		<-h.callErrors
		<-got
	}
}

func TestUserCancellationIsReported(t *testing.T) {
	s := serveTools(t, callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, &dispatch.Error{Code: wire.ErrCancelled, Message: "cancelled by the side panel"}
	}), Options{})
	m := s.open(t, "a").call(callText(`1`, `{}`, `{}`))
	if !m.toolResultOf(t).IsError || !strings.Contains(m.messageJSON, `"code":"cancelled"`) {
		t.Error(m.messageJSON)
	}
}

func TestDuplicateRequestIDIsRejected(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{})
	c := s.open(t, "a")
	ctx, disconnect := context.WithCancel(context.Background())
	defer disconnect()
	c.postAsync(ctx, callText(`1`, `{}`, `{}`))
	<-h.startedCalls
	m := c.call(callText(`1`, `{}`, `{}`))
	if m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, "its own id") {
		t.Error(m.messageJSON)
	}
	otherClient := s.open(t, "b") // IDs of different sessions are independent
	otherClient.postAsync(ctx, callText(`1`, `{}`, `{}`))
	<-h.startedCalls
	c.cancel(`1`)
	<-h.callErrors
}

func TestIDCanBeReusedAfterAnswer(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.open(t, "a")
	for range 100 {
		if m := c.call(callText(`1`, `{}`, `{"progressToken":1}`)); m.Error != nil {
			t.Fatal(m.messageJSON)
		}
	}
}

func TestSessionsOverHTTP(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	ctx := context.Background()
	c := s.open(t, "a")
	sessionlessPeer, unknownClient := s.sessionlessClient(t), s.sessionlessClient(t)
	sessionlessPeer.version, unknownClient.version = "2025-11-25", "2025-11-25"
	unknownClient.session = "mcp-session-00000000-0000-0000-0000-000000000000"
	listRequest := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, testCase := range []struct {
		client     *client
		method     string
		body       string
		httpStatus int
		want       string
	}{
		{sessionlessPeer, http.MethodPost, listRequest, 400, "Initialize first"},
		{sessionlessPeer, http.MethodPost, callText(`1`, `{}`, `{}`), 400, "Initialize first"},
		{sessionlessPeer, http.MethodGet, "", 400, "Initialize first"},
		{sessionlessPeer, http.MethodDelete, "", 400, "Initialize first"},
		{unknownClient, http.MethodPost, listRequest, 404, "Initialize again"},
		{unknownClient, http.MethodPost, callText(`1`, `{}`, `{}`), 404, "Initialize again"},
		{unknownClient, http.MethodPost, newCancelMessage(`1`), 404, "Initialize again"},
		{unknownClient, http.MethodGet, "", 404, "Initialize again"},
		{unknownClient, http.MethodDelete, "", 404, "Initialize again"},
		{c, http.MethodPut, "", 405, "Send MCP messages with POST"},
		{c, http.MethodPost, listRequest, 200, "messages__echo"},
		{c, http.MethodDelete, "", 200, ""},
		{c, http.MethodPost, listRequest, 404, "Initialize again"},
		{c, http.MethodGet, "", 404, "Initialize again"},
		{c, http.MethodDelete, "", 404, "Initialize again"},
	} {
		code, body := testCase.client.status(testCase.client.newRequest(ctx, testCase.method, testCase.body))
		if code != testCase.httpStatus || !strings.Contains(body, testCase.want) {
			t.Errorf("%s with the body %s: status %d, response %s; want %d and %q", testCase.method, testCase.body, code, body, testCase.httpStatus, testCase.want)
		}
	}
	if n := len(s.Clients()); n != 0 {
		t.Errorf("the server still has %d clients; want 0", n)
	}
}

func TestEndOfSessionEndsItsCallsAndStreams(t *testing.T) {
	h := newHangingCaller()
	endedClients := make(chan dispatch.Client, 2)
	s := serveTools(t, h, Options{OnSessionEnd: func(c dispatch.Client) { endedClients <- c }})
	s.open(t, "b")
	c := s.open(t, "a")
	stopWatching := c.countMessages()
	got := c.postAsync(context.Background(), callText(`1`, `{}`, `{}`))
	call := <-h.startedCalls
	if code, _ := c.status(c.newRequest(context.Background(), http.MethodDelete, "")); code != http.StatusOK {
		t.Fatal(code)
	}
	if got := <-endedClients; got != call.Client || len(endedClients) != 0 {
		t.Errorf("client of the ended session = %+v and %d more, want only %+v", got, len(endedClients), call.Client)
	}
	if cause := <-h.callErrors; !errors.Is(cause, transport.ErrSessionEnded) {
		t.Error(cause)
	}
	if msgs := <-got; len(msgs) != 0 {
		t.Error(msgs[0].messageJSON)
	}
	stopWatching() // ends the stream if the server has not ended it
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil { // Shutdown waits for all tasks
		t.Error(err)
	}
}

func TestInvalidHTTPRequests(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{MaxRequestBytes: 2000})
	c := s.open(t, "a")
	ctx := context.Background()
	for _, testCase := range []struct {
		pluginChange func(*http.Request)
		body         string
		httpStatus   int
		want         string
	}{
		{func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, `{}`, 415, "Content-Type: application/json"},
		{func(r *http.Request) { r.Header.Del("Content-Type") }, `{}`, 415, "Content-Type: application/json"},
		{nil, callText(`1`, `{"a":"`+strings.Repeat("x", 2000)+`"}`, `{}`), 413, `"id":1,"error":{"code":-32600,"message":"The request is larger than 2000 bytes`},
		{nil, `{"params":"` + strings.Repeat("x", 2000) + `","id":1}`, 413, `"id":null`},
		{nil, `{nonsense`, 400, "-32700"},
		{nil, callText(`null`, `{}`, `{}`), 400, "must be a string or a number"},
		{nil, ``, 400, "-32700"},
		{nil, "\ufeff{}", 400, "-32700"},
		{nil, callText(`1`, "{\"a\":\"\xff\"}", `{}`), 400, "not UTF-8"},
		{nil, `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`[`, 1000), 400, "-32700"},
		{nil, callText(`{}`, `{}`, `{}`), 400, "must be a string or a number"},
		{nil, `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, 400, "must be a string or a number"},
		{nil, `{"jsonrpc":"2.0","id":true,"method":"notifications/cancelled"}`, 400, "must be a string or a number"},
		{nil, `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":2}}`, 200, `"id":1,"error":{"code":-32601`},
		{nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, 200, "malformed (params is a JSON array)."},
		{nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, 200, "malformed (params.name is a JSON number)."},
		{nil, `{"id":1,"method":"ping"}`, 200, "-32600"},
		{nil, `{"jsonrpc":"2.0","id":1}`, 400, "with a method"},
		{nil, `{}`, 400, "with a method"},
		{nil, `null`, 400, "with a method"},
		{nil, `{"jsonrpc":"2.0","id":1,"error":null}`, 202, ""},
		{nil, `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ""},
		{nil, `{"jsonrpc":"2.0","id":1,"method":5}`, 400, "method that is a string"},
		{nil, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, "Send one JSON object"}, // batches were removed from MCP
		{nil, `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"messages__echo"}}`, 200, "-32600"},
		{func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "1999-01-01") }, callText(`1`, `{}`, `{}`), 400, "2025-11-25"},
	} {
		r := c.newRequest(ctx, http.MethodPost, testCase.body)
		if testCase.pluginChange != nil {
			testCase.pluginChange(r)
		}
		code, body := c.status(r)
		if code != testCase.httpStatus || !strings.Contains(body, testCase.want) {
			t.Errorf("POST of %.60s: status %d, response %s; want %d and %q", testCase.body, code, body, testCase.httpStatus, testCase.want)
		}
	}
}

func TestClientThatAcceptsOnlyJSON(t *testing.T) {
	s := serveTools(t, callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		if c.Progress != nil {
			c.Progress(dispatch.Progress{Progress: 1})
		}
		return echoArguments(ctx, c)
	}), Options{})
	c := s.open(t, "a")
	c.headers.Set("Accept", "application/json")
	res := c.postRequest(context.Background(), callText(`1`, `{}`, `{"progressToken":1}`))
	if ct := res.Header.Get("Content-Type"); ct != "application/json" {
		t.Error(ct)
	}
	if msgs := readMessages(t, res); len(msgs) != 1 || msgs[0].Result == nil {
		t.Error(msgs)
	}
}

func TestPingAndUnknownMethods(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.open(t, "a")
	ctx := context.Background()
	if code, _ := c.status(c.newRequest(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":3,"result":{}}`)); code != http.StatusAccepted {
		t.Errorf("answer of the client to a ping: status %d; want 202", code)
	}
	if m := c.call(`{"jsonrpc":"2.0","id":4,"method":"ping"}`); string(m.Result) != `{}` {
		t.Error(m.messageJSON)
	}
	if m := c.call(`{"jsonrpc":"2.0","id":5,"method":"no/such"}`); m.Error == nil || m.Error.Code != -32601 {
		t.Error(m.messageJSON)
	}
	if code, _ := c.status(c.newRequest(ctx, http.MethodPost, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"messages__echo"}}`)); code != http.StatusAccepted {
		t.Errorf("tools/call without an ID: status %d; want 202", code)
	}
}

func TestToolsListChangedReachesEveryClient(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	var streams []*events
	for i := range 3 {
		c := s.open(t, fmt.Sprint(i))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		res := c.do(c.newRequest(ctx, http.MethodGet, ""))
		defer res.Body.Close()
		streams = append(streams, newEvents(res.Body))
	}
	p := s.dial(t)
	p.initialize("stdio")
	s.add(t, "more")
	for i, e := range streams {
		if eventData, ok := e.readEventData(); !ok || !strings.Contains(eventData, "notifications/tools/list_changed") {
			t.Errorf("client %d received %s; want notifications/tools/list_changed", i, eventData)
		}
	}
	if m := p.mustReadMessage(); m.Method != "notifications/tools/list_changed" {
		t.Error(m.messageJSON)
	}
	p.sendMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if m := p.mustReadMessage(); !strings.Contains(m.messageJSON, "more__echo") {
		t.Error(m.messageJSON)
	}
}

func TestShutdownEndsStreamsAtOnceAndLetsCallsEnd(t *testing.T) {
	release := make(chan struct{})
	started := make(chan struct{})
	s := serveTools(t, callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		close(started)
		<-release
		return echoArguments(ctx, c)
	}), Options{})
	c := s.open(t, "a")
	res := c.do(c.newRequest(context.Background(), http.MethodGet, ""))
	defer res.Body.Close()
	got := c.postAsync(context.Background(), callText(`1`, `{}`, `{}`))
	<-started
	shutdownErr := make(chan error)
	go func() { shutdownErr <- s.Shutdown(context.Background()) }()
	if _, ok := newEvents(res.Body).readEventData(); ok {
		t.Error("the GET stream has not ended; want its end")
	}
	if m := c.call(callText(`2`, `{}`, `{}`)); m.Error == nil || !strings.Contains(m.Error.Message, "Restart it") {
		t.Error(m.messageJSON)
	}
	select {
	case <-shutdownErr:
		t.Error("Shutdown returned before the call ended; want it to wait")
	default:
	}
	close(release)
	if msgs := <-got; len(msgs) != 1 || msgs[0].Result == nil {
		t.Errorf("messages of the running call = %v; want only its result", msgs)
	}
	if err := <-shutdownErr; err != nil {
		t.Error(err)
	}
}

func TestShutdownCancelsCallsWhenItsContextEnds(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{})
	c := s.open(t, "a")
	got := c.postAsync(context.Background(), callText(`1`, `{}`, `{}`))
	<-h.startedCalls
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if cause := <-h.callErrors; !errors.Is(cause, transport.ErrShutdown) {
		t.Error(cause)
	}
	<-got
}
