package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
)

const testClientHeader = "X-Test-Client"

func (s *testServer) serveWithCredentials(t *testing.T) *testServer {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clientCredential := transport.Credential{Kind: dispatch.CredentialCommandLine}
		if name := r.Header.Get(testClientHeader); name != "" {
			clientCredential = transport.Credential{Kind: dispatch.CredentialToken, Token: name}
		}
		s.Handler().ServeHTTP(w, r.WithContext(transport.WithCredential(r.Context(), clientCredential)))
	}))
	t.Cleanup(ts.Close)
	s.url = ts.URL
	return s
}

func (s *testServer) openWithToken(t *testing.T, token, name string) *client {
	t.Helper()
	c := s.sessionlessClient(t)
	c.headers.Set(testClientHeader, token)
	res := c.postRequest(context.Background(), initializeText(name))
	readMessages(t, res)
	c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	if c.session == "" {
		t.Fatal("the response to initialize has no session ID; want one")
	}
	return c
}

// The name that a client reports must never replace the name of the client's token.
func TestTokenNameReplacesReportedName(t *testing.T) {
	var clients []dispatch.Client
	s := serveTools(t, callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		clients = append(clients, c.Client)
		return dispatch.Result{CallID: "c", Output: []byte(`1`)}, nil
	}), Options{}).serveWithCredentials(t)
	s.openWithToken(t, "laptop", "desk").requestAndRead(callText(`1`, `{}`, `{}`))
	s.openWithToken(t, "", "laptop").requestAndRead(callText(`1`, `{}`, `{}`))
	modernClient := s.sessionlessClient(t)
	modernClient.headers.Set(testClientHeader, "laptop")
	modernClient.version = "2026-07-28"
	modernClient.headers.Set("Mcp-Method", "tools/call")
	modernClient.headers.Set("Mcp-Name", "messages__echo")
	modernClient.requestAndRead(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messages__echo","arguments":{},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"without session: client desk","version":"1"}}}}`)
	if len(clients) != 3 {
		t.Fatalf("%d calls, want 3", len(clients))
	}
	for i, want := range []string{"client laptop (desk)", "the command line (laptop)", "client laptop (without session: client desk)"} {
		if got := clients[i].String(); got != want {
			t.Errorf("call %d is by %q, want %q", i, got, want)
		}
	}
	if clients[2].Session != "without session: client laptop" || !clients[2].IsSessionShared {
		t.Errorf("session of the client without sessions = %q; want %q, shared", clients[2].Session, "without session: client laptop")
	}
}

// TestAttackByClient checks that a client with its own token cannot use sessions and
// calls of another client.
func TestAttackByClient(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{}).serveWithCredentials(t)
	laptopClient := s.openWithToken(t, "laptop", "same")
	for name, token := range map[string]string{"another client": "desk", "the command line": ""} {
		t.Run("the session of a client, with the token of "+name, func(t *testing.T) {
			otherClient := s.sessionlessClient(t)
			otherClient.headers.Set(testClientHeader, token)
			otherClient.session, otherClient.version = laptopClient.session, laptopClient.version
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				res := otherClient.do(otherClient.newRequest(t.Context(), method, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
				readMessages(t, res)
				if res.StatusCode != http.StatusNotFound {
					t.Errorf("%s with the session of another client: status %s; want 404", method, res.Status)
				}
			}
		})
	}
	t.Run("a cancel of a client's call, from another client", func(t *testing.T) {
		responses := make(chan []receivedMessage, 1)
		go func() { responses <- laptopClient.requestAndRead(callText(`7`, `{}`, `{}`)) }()
		<-h.startedCalls
		readMessages(t, s.openWithToken(t, "desk", "same").postRequest(t.Context(), newCancelMessage(`7`)))
		select {
		case err := <-h.callErrors:
			t.Fatalf("the call ended with the error %v; want a running call", err)
		default:
		}
		s.RevokeToken("desk")
		s.RevokeToken("laptop")
		if err := <-h.callErrors; !errors.Is(err, transport.ErrRevoked) && !errors.Is(err, transport.ErrSessionEnded) {
			t.Errorf("error of the ended call = %v; want ErrRevoked or ErrSessionEnded", err)
		}
		<-responses
	})
}

// TestRevokeTokenEndsSessions checks that a client's sessions, streams and calls end when its token is removed, even calls without a
// session.
func TestRevokeTokenEndsSessions(t *testing.T) {
	h := newHangingCaller()
	endedClients := make(chan dispatch.Client, 10)
	s := serveTools(t, h, Options{OnSessionEnd: func(c dispatch.Client) { endedClients <- c }}).serveWithCredentials(t)
	laptopClient, inspector := s.openWithToken(t, "laptop", "x"), s.openWithToken(t, "desk", "x")
	listenResponse := laptopClient.do(laptopClient.newRequest(t.Context(), http.MethodGet, ""))
	defer listenResponse.Body.Close()
	responses := make(chan []receivedMessage, 2)
	go func() { responses <- laptopClient.requestAndRead(callText(`1`, `{}`, `{}`)) }()
	<-h.startedCalls
	go func() { responses <- inspector.requestAndRead(callText(`1`, `{}`, `{}`)) }()
	<-h.startedCalls
	s.RevokeToken("laptop")
	if err := <-h.callErrors; !errors.Is(err, transport.ErrRevoked) && !errors.Is(err, transport.ErrSessionEnded) {
		t.Errorf("error of the ended call = %v; want ErrRevoked or ErrSessionEnded", err)
	}
	<-responses
	if got := <-endedClients; got.Token != "laptop" || got.IsSessionShared {
		t.Errorf("first ended client = %+v, want the session of laptop", got)
	}
	if got := <-endedClients; got.Token != "laptop" || !got.IsSessionShared || len(endedClients) != 0 {
		t.Errorf("second ended client = %+v and %d more, want only laptop without a session", got, len(endedClients))
	}
	events := newEvents(listenResponse.Body)
	for _, ok := events.readEventData(); ok; {
		_, ok = events.readEventData()
	}
	if res := laptopClient.postRequest(t.Context(), `{"jsonrpc":"2.0","id":2,"method":"ping"}`); res.StatusCode != http.StatusNotFound {
		t.Errorf("ping in the session of the removed client: status %s; want 404", res.Status)
	}
	var connectedTokens []string
	for _, c := range s.Clients() {
		connectedTokens = append(connectedTokens, c.Token)
	}
	if strings.Join(connectedTokens, " ") != "desk" || len(h.callErrors) != 0 {
		t.Errorf("remaining clients = %v, %d ended calls of other clients; want only desk and 0", connectedTokens, len(h.callErrors))
	}
	s.RevokeToken("desk")
	<-responses
}

// When a client's token is removed, the jobs that this client started must end.
func TestRevokeEndsJobs(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: time.Hour}), func(dispatch.Sink) {}, func(t *testing.T, s *jobServer) {
		var p transport.Params
		callTool := func(token, tool, args string) reply {
			clientCredential := transport.Credential{Kind: dispatch.CredentialToken, Token: token}
			p.Name, p.Arguments = tool, []byte(args)
			client := dispatch.Client{Session: "s-" + token, Credential: clientCredential.Kind, Token: clientCredential.Token, Name: "x"}
			return serveRequest(t, s.Server, transport.Request{Method: transport.MethodCall, Params: &p, Client: client})
		}
		job := callTool("laptop", "messages__echo", `{"_detach":"0"}`)
		if job.callID == "" || job.isError {
			t.Fatalf("reply = %s; want a job", job.replyText)
		}
		for _, tool := range []string{"job_wait", "job_result", "job_cancel"} {
			if r := callTool("desk", tool, `{"job":"`+job.callID+`"}`); !r.isError || !strings.Contains(r.replyText, "There is no job") {
				t.Errorf("%s of another client's job returned %s; want the error \"There is no job\"", tool, r.replyText)
			}
		}
		if r := callTool("desk", "job_list", `{}`); r.replyText != "There are no jobs." {
			t.Errorf("job list of another client = %s; want %q", r.replyText, "There are no jobs.")
		}
		if r := callTool("laptop", "job_list", `{}`); !strings.Contains(r.replyText, job.callID) {
			t.Errorf("jobs of the client laptop = %s; want its own job", r.replyText)
		}
		s.RevokeToken("desk")
		if r := callTool("laptop", "job_result", `{"job":"`+job.callID+`"}`); !strings.Contains(r.replyText, "is running") && !strings.Contains(r.replyText, "is queued") {
			t.Errorf("job_result after the removal of another token = %s; want a running or queued job", r.replyText)
		}
		s.RevokeToken("laptop")
		if r := callTool("laptop", "job_wait", `{"job":"`+job.callID+`"}`); !r.isError || !strings.Contains(r.replyText, "cancelled") {
			t.Errorf("job_wait after the removal of the client's token = %s; want the error cancelled", r.replyText)
		}
	})
}
