package mcpserver

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestInitializeNamesTheServer(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{Version: "9.9"})
	m := s.sessionlessClient(t).call(initializeText("a"))
	for _, want := range []string{`"name":"opentabs"`, `"version":"9.9"`, `"listChanged":true`, `"protocolVersion":"2025-11-25"`, `"id":"init"`} {
		if !strings.Contains(m.messageJSON, want) {
			t.Errorf("want the text %s in the answer %s", want, m.messageJSON)
		}
	}
}

func TestProtocolVersions(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := s.sessionlessClient(t)
		res := c.postRequest(context.Background(), strings.Replace(initializeText("a"), "2025-11-25", version, 1))
		if m := readMessages(t, res)[0]; !strings.Contains(m.messageJSON, `"protocolVersion":"`+version+`"`) {
			t.Errorf("answer to initialize with the version %s = %s; want the same version", version, m.messageJSON)
		}
		c.session, c.version = res.Header.Get("Mcp-Session-Id"), version
		if m := c.call(callText(`1`, `{}`, `{}`)); m.Result == nil {
			t.Errorf("answer to a call with the version %s = %s; want a result", version, m.messageJSON)
		}
	}
}

func TestInvalidInitializeCreatesNoSession(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.sessionlessClient(t)
	res := c.postRequest(context.Background(), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`)
	if m := readMessages(t, res)[0]; m.Error == nil || res.Header.Get("Mcp-Session-Id") != "" || len(s.Clients()) != 0 {
		t.Errorf("answer = %s, %d clients; want an error, no session and 0 clients", m.messageJSON, len(s.Clients()))
	}
}

func TestClientsAreListedOldestFirst(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	a := s.open(t, "first")
	s.open(t, "second")
	clientInfos := s.Clients()
	if len(clientInfos) != 2 || clientInfos[0].Name != "first" || clientInfos[0].Version != "1.2" || clientInfos[0].Transport != "http" ||
		clientInfos[0].ID != a.session || clientInfos[0].ConnectedSince.IsZero() || clientInfos[1].Name != "second" {
		t.Errorf("clients = %+v; want first 1.2 over HTTP, then second", clientInfos)
	}
}

func TestLogContainsNoSecrets(t *testing.T) {
	var log bytes.Buffer
	s := serveTools(t, callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, &dispatch.Error{Code: wire.ErrToolError, Message: "the-result"}
	}), Options{Log: zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.TraceLevel)})
	c := s.open(t, "an agent")
	c.call(callText(`1`, `{"a":"the-argument"}`, `{"progressToken":"the-token"}`))
	c.do(c.newRequest(context.Background(), "DELETE", "")).Body.Close()
	logText := log.String()
	for _, secret := range []string{c.session, "the-argument", "the-result", "the-token"} {
		if strings.Contains(logText, secret) {
			t.Errorf("secret text %q in the log; want it removed:\n%s", secret, logText)
		}
	}
	if !strings.Contains(logText, "an agent") {
		t.Errorf("the log does not name the client, want \"an agent\":\n%s", logText)
	}
}
