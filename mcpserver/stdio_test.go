package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
)

func TestStdioCancelInTheSameChunk(t *testing.T) {
	h := newHangingCaller()
	s := newServer(t, h, Options{})
	p := s.dial(t)
	p.initialize("a")
	var lines []string
	for i := range 20 {
		lines = append(lines, callText(fmt.Sprint(i), `{}`, `{}`))
	}
	for i := range 20 {
		lines = append(lines, newCancelMessage(fmt.Sprint(i)))
	}
	p.sendMessage(append(lines, `{"jsonrpc":"2.0","id":"after","method":"ping"}`)...)
	for range 20 {
		if cause := <-h.callErrors; !errors.Is(cause, transport.ErrCancelled) {
			t.Error(cause)
		}
	}
	if allMessages := p.closeAndReadAll(); len(allMessages) != 1 || string(allMessages[0].ID) != `"after"` {
		t.Errorf("answers = %v; want only the answer with the ID \"after\", because the other calls are cancelled", allMessages)
	}
}

// TestCancelReason checks that the reason in notifications/cancelled reaches the call,
// truncated and without hidden characters, over both transports.
func TestCancelReason(t *testing.T) {
	for cancelReason, want := range map[string]string{
		`"the user pressed Escape"`:              "the user pressed Escape",
		`"two\nlines \u001b[2J\u202eevil"`:       "two lines [2Jevil",
		`"` + strings.Repeat("long ", 200) + `"`: strings.TrimSpace(strings.Repeat("long ", 40)),
		`5`:                                      "", `null`: "", `["x"]`: "", `""`: "",
	} {
		cancelNotification := strings.Replace(newCancelMessage(`1`), `"requestId":1`, `"requestId":1,"reason":`+cancelReason, 1)
		h := newHangingCaller()
		s := serveTools(t, h, Options{})
		checkCancelReason := func(transportName string) {
			t.Helper()
			ctx, cancelCall := context.WithCancelCause(t.Context())
			cancelCall(<-h.callErrors)
			got := dispatch.CancellationFrom(ctx)
			if got.CancelledBy != "the client" || !strings.HasPrefix(got.Reason, want) || want == "" && got.Reason != "" || len([]rune(got.Reason)) > transport.MaxReasonChars {
				t.Errorf("%s: the cancellation reason %q became %q, want %q", transportName, cancelReason, got.Reason, want)
			}
		}
		p := s.dial(t)
		p.initialize("a")
		p.sendMessage(callText(`1`, `{}`, `{}`), cancelNotification)
		<-h.startedCalls
		checkCancelReason("stdio")
		c := s.open(t, "a")
		responses := c.postAsync(t.Context(), callText(`1`, `{}`, `{}`))
		<-h.startedCalls
		readMessages(t, c.postRequest(t.Context(), cancelNotification))
		checkCancelReason("http")
		if msgs := <-responses; len(msgs) != 0 {
			t.Errorf("messages over HTTP = %v; want none", msgs)
		}
		if allMessages := p.closeAndReadAll(); len(allMessages) != 0 {
			t.Errorf("messages over stdio = %v; want none", allMessages)
		}
		httpClient := s.open(t, "a")
		readMessages(t, httpClient.postRequest(t.Context(), cancelNotification))
		httpClient.requestAndRead(callText(`1`, `{}`, `{}`))
		<-h.startedCalls
		checkCancelReason("http, ahead of its call")
	}
}

func TestStdioCancelNeedsTheSameTypeOfID(t *testing.T) {
	h := newHangingCaller()
	s := newServer(t, h, Options{})
	p := s.dial(t)
	p.initialize("a")
	p.sendMessage(callText(`1`, `{}`, `{}`), newCancelMessage(`"1"`), newCancelMessage(`2`), newCancelMessage(`null`), `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	p.mustReadMessage()
	select {
	case <-h.callErrors:
		t.Error("the call was cancelled; want a running call")
	default:
	}
	p.sendMessage(callText(`1`, `{}`, `{}`))
	if m := p.mustReadMessage(); m.Error == nil || m.Error.Code != -32600 || string(m.ID) != `1` {
		t.Errorf("answer to a request with an ID in use = %s; want the error -32600", m.messageJSON)
	}
	p.sendMessage(newCancelMessage(`1`))
	<-h.callErrors
}

func TestStdioCallsRunAtOnce(t *testing.T) {
	const n = 200
	h := newHangingCaller()
	s := newServer(t, h, Options{})
	p := s.dial(t)
	p.initialize("a")
	for i := range n {
		p.sendMessage(callText(fmt.Sprint(i), `{}`, `{}`))
	}
	for range n {
		<-h.startedCalls
	}
	p.closeAndReadAll()
}

func TestStdioEndOfInputCancelsCallsAndAnswersTheRest(t *testing.T) {
	h := newHangingCaller()
	endedClients := make(chan dispatch.Client, 1)
	s := newServer(t, h, Options{OnSessionEnd: func(c dispatch.Client) { endedClients <- c }})
	p := s.dial(t)
	if _, err := io.WriteString(p.in, initializeText("a")+"\n"+callText(`1`, `{}`, `{}`)+"\r\n\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); err != nil {
		t.Fatal(err)
	}
	allMessages := p.closeAndReadAll()
	slices.SortFunc(allMessages, func(a, b receivedMessage) int { return strings.Compare(string(a.ID), string(b.ID)) })
	if len(allMessages) != 2 || string(allMessages[0].ID) != `"init"` || string(allMessages[1].ID) != `2` {
		t.Errorf("answers = %v; want those with the IDs \"init\" and 2", allMessages)
	}
	if cause := <-h.callErrors; !errors.Is(cause, transport.ErrSessionEnded) {
		t.Error(cause)
	}
	if call, got := <-h.startedCalls, <-endedClients; got != call.Client {
		t.Errorf("client of the ended session = %+v, want %+v", got, call.Client)
	}
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if n := len(s.Clients()); n != 0 {
		t.Errorf("the server still has %d clients; want 0", n)
	}
}

func TestStdioSurvivesInvalidMessages(t *testing.T) {
	s := newServer(t, callerFunc(echoArguments), Options{MaxRequestBytes: 500})
	p := s.dial(t)
	p.initialize("a")
	longText := callText(`1`, `{"a":"`+strings.Repeat("x", 200_000)+`"}`, `{}`)
	for _, testCase := range []struct{ line, want string }{
		{`{nonsense`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"This is not JSON. Send one JSON-RPC message."}}`},
		{"\x00", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"This is not JSON. Send one JSON-RPC message."}}`},
		{callText(`1`, "{\"a\":\"\xff\"}", `{}`), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"This is not UTF-8. Send one JSON-RPC message in UTF-8."}}`},
		{longText, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"The request is larger than 500 bytes. Send less in one request."}}`},
		{`{"method":"tools/call","params":{"id":5,"a":"` + strings.Repeat("x", 200_000) + `"},"jsonrpc":"2.0","id":"the\"end"} `,
			`{"jsonrpc":"2.0","id":"the\"end","error":{"code":-32600,"message":"The request is larger than 500 bytes. Send less in one request."}}`},
		{`{"method":"tools/call","params":{"a":"` + strings.Repeat("x", 200_000) + `","id":5}}`,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The request is larger than 500 bytes. Send less in one request."}}`},
		{callText(`2`, `{}`, `{}`), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
	} {
		p.sendMessage("", " \t", testCase.line)
		if m := p.mustReadMessage(); m.messageJSON != testCase.want {
			t.Errorf("answer to the line %.80s:\n%s\nwant\n%s", testCase.line, m.messageJSON, testCase.want)
		}
	}
	for _, line := range []string{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `5`, `"x"`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, callText(`null`, `{}`, `{}`),
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":true,"method":"initialize"}`, `{"jsonrpc":"2.0","id":4,"method":"notifications/cancelled","params":{"requestId":1}}`,
	} {
		p.sendMessage(line)
		if m := p.mustReadMessage(); m.Error == nil {
			t.Errorf("answer to the line %s = %s; want an error", line, m.messageJSON)
		}
	}
	p.sendMessage(`{"jsonrpc":"2.0","id":7,"result":{}}`, `{"jsonrpc":"2.0","method":"no/such"}`, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if m := p.mustReadMessage(); string(m.ID) != `3` {
		t.Errorf("answer = %s; want the ID 3, because the line before is no request", m.messageJSON)
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	h := newHangingCaller()
	s := newServer(t, h, Options{})
	serverConn, clientConn := net.Pipe()
	defer clientConn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	callErrors := make(chan error)
	go func() { callErrors <- s.ServeStdio(ctx, serverConn, serverConn) }()
	go func() { _, _ = io.Copy(io.Discard, clientConn) }()
	if _, err := io.WriteString(clientConn, callText(`1`, `{}`, `{}`)+"\n"); err != nil {
		t.Fatal(err)
	}
	<-h.startedCalls
	cancel()
	if err := <-callErrors; err != nil {
		t.Error(err)
	}
	<-h.callErrors
	serverConn.Close() // ends the last read
}

func TestStdioShutdownAnswersRunningCalls(t *testing.T) {
	release, started := make(chan struct{}), make(chan struct{})
	s := newServer(t, callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		close(started)
		<-release
		return echoArguments(ctx, c)
	}), Options{})
	p, otherPeer := s.dial(t), s.dial(t)
	p.initialize("a")
	otherPeer.initialize("idle")
	p.sendMessage(callText(`1`, `{}`, `{}`))
	<-started
	shutdownErr := make(chan error)
	go func() { shutdownErr <- s.Shutdown(context.Background()) }()
	if err := <-otherPeer.done; err != nil { // the session of the idle client ends when Shutdown begins
		t.Error(err)
	}
	close(release)
	if err := <-shutdownErr; err != nil {
		t.Error(err)
	}
	// Shutdown must not return before the answer to the running call is written.
	if m := p.mustReadMessage(); string(m.ID) != `1` || m.Result == nil {
		t.Error(m.messageJSON)
	}
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

func TestStdioClientThatDoesNotReadLosesItsSession(t *testing.T) {
	packages := newServer(t, callerFunc(echoArguments), Options{}) // files are read outside of fake time
	synctest.Test(t, func(t *testing.T) {
		callEnded := make(chan error, 1)
		s := New(callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
			for i := range 3 {
				c.Progress(dispatch.Progress{Progress: float64(i + 1)})
			}
			<-ctx.Done()
			callEnded <- context.Cause(ctx)
			return dispatch.Result{}, errors.New("cancelled")
		}), packages.reg, Options{})
		serverConn, clientConn := net.Pipe() // a write to a pipe blocks until the other side reads
		callErrors := make(chan error)
		startTime := time.Now()
		go func() { callErrors <- s.ServeStdio(t.Context(), serverConn, serverConn) }()
		if _, err := io.WriteString(clientConn, callText(`1`, `{}`, `{"progressToken":1}`)+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-callErrors; err == nil {
			t.Error("the server did not report the failed write; want an error")
		}
		if waitDuration := time.Since(startTime); waitDuration != 30*time.Second {
			t.Errorf("the session ended after %s; want 30 s", waitDuration)
		}
		<-callEnded
		serverConn.Close()
		clientConn.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStdioClientsAreListed(t *testing.T) {
	s := newServer(t, callerFunc(echoArguments), Options{})
	a, b := s.dial(t), s.dial(t)
	a.initialize("first")
	b.initialize("second")
	var names []string
	for _, c := range s.Clients() {
		names = append(names, c.Name+" "+c.Version+" "+c.Transport)
	}
	slices.Sort(names)
	if want := "[first 1.2 stdio second 1.2 stdio]"; fmt.Sprint(names) != want {
		t.Errorf("connected clients = %v, want %s", names, want)
	}
	a.closeAndReadAll()
	<-a.done
	if n := len(s.Clients()); n != 1 {
		t.Errorf("the server still has %d clients; want 1", n)
	}
}

func TestStdioServesProtocolWithoutSessions(t *testing.T) {
	s := newServer(t, callerFunc(echoArguments), Options{Version: "9.9"})
	p := s.dial(t)
	meta := `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	p.sendMessage(callText(`1`, `{}`, meta))
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"resultType":"complete",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"opentabs","version":"9.9"}}}}`
	if m := p.mustReadMessage(); m.messageJSON != want {
		t.Errorf("answer = %s\nwant\n%s", m.messageJSON, want)
	}
	p.sendMessage(callText(`2`, `{}`, strings.Replace(meta, `"io.modelcontextprotocol/clientCapabilities":{}`, `"x":1`, 1)))
	if m := p.mustReadMessage(); m.Error == nil || m.Error.Code != -32602 {
		t.Error(m.messageJSON)
	}
	p.sendMessage(callText(`3`, `{}`, strings.Replace(meta, "2026-07-28", "2099-01-01", 1)))
	if m := p.mustReadMessage(); m.Error == nil || m.Error.Code != -32022 {
		t.Error(m.messageJSON)
	}

	s.add(t, "one")
	p.sendMessage(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":` + meta + `}}`)
	ack := p.mustReadMessage()
	if ack.Method != "notifications/subscriptions/acknowledged" || !strings.Contains(ack.messageJSON, `"io.modelcontextprotocol/subscriptionId":"sub"`) {
		t.Fatal(ack.messageJSON)
	}
	s.add(t, "two")
	if m := p.mustReadMessage(); m.Method != "notifications/tools/list_changed" || !strings.Contains(m.messageJSON, `"io.modelcontextprotocol/subscriptionId":"sub"`) {
		t.Error(m.messageJSON)
	}
	p.sendMessage(newCancelMessage(`"sub"`), `{"jsonrpc":"2.0","id":8,"method":"server/discover","params":{"_meta":`+meta+`}}`)
	if m := p.mustReadMessage(); string(m.ID) != `8` || !json.Valid(m.Result) {
		t.Errorf("message after the cancellation of the subscription = %s; want the result with the ID 8", m.messageJSON)
	}
	if unreadMessages := p.closeAndReadAll(); len(unreadMessages) > 0 {
		t.Errorf("messages for the cancelled subscription = %v; want none", unreadMessages)
	}
}
