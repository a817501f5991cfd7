package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin/plugintest"
)

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"3"},` +
	`"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}`

func (s *testServer) modernClient(t testing.TB) *client {
	c := s.sessionlessClient(t)
	c.version = "2026-07-28"
	c.headers.Set("Mcp-Method", "tools/call")
	c.headers.Set("Mcp-Name", "messages__echo")
	return c
}

func TestModernCall(t *testing.T) {
	var client dispatch.Client
	s := serveTools(t, callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		client = c.Client
		c.Progress(dispatch.Progress{Progress: 1})
		return echoArguments(ctx, c)
	}), Options{Version: "9.9"})
	msgs := s.modernClient(t).requestAndRead(callText(`1`, `{"a":9007199254740993}`, modernMeta))
	if len(msgs) != 2 || string(msgs[0].Params.Token) != `"p"` {
		t.Fatalf("messages = %v; want a progress notification with the token p, then the result", msgs)
	}
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"a\":9007199254740993}"}],"structuredContent":{"a":9007199254740993},` +
		`"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"opentabs","version":"9.9"}}}}`
	if msgs[1].messageJSON != want {
		t.Errorf("answer = %s\nwant\n%s", msgs[1].messageJSON, want)
	}
	if client.Name != "new" {
		t.Errorf("client of the call = %+v; want the name %q", client, "new")
	}
}

func TestModernCallsProgressIsCompleteAndInOrder(t *testing.T) {
	s := serveTools(t, callerFunc(reportProgressManyTimes), Options{})
	c := s.modernClient(t)
	for range callCount {
		checkProgressReports(t, c.requestAndRead(callText(`1`, `{}`, modernMeta)), `1`, `"p"`)
	}
}

func TestModernCallsMayShareAnID(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{})
	ctx, disconnect := context.WithCancel(context.Background())
	for range 2 {
		s.modernClient(t).postAsync(ctx, callText(`1`, `{}`, modernMeta))
		<-h.startedCalls
	}
	// MCP 2026-07-28 has no sessions, so one client must not cancel another client's call by its request ID.
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "notifications/cancelled")
	c.headers.Del("Mcp-Name")
	if res := c.postRequest(context.Background(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":`+modernMeta+`}}`); res.StatusCode != http.StatusAccepted {
		t.Error(res.Status)
	}
	select {
	case cause := <-h.callErrors:
		t.Errorf("another client cancelled the call with the error %v; want a running call", cause)
	default:
	}
	disconnect() // a client of version 2026-07-28 cancels by closing the response
	for range 2 {
		if cause := <-h.callErrors; !errors.Is(cause, context.Canceled) {
			t.Error(cause)
		}
	}
}

func TestModernCallHeadersAreChecked(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, plugintest.Package{Tools: []plugintest.Tool{{
		Name: "echo", Description: "d", Input: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
	}}})
	validCall := callText(`1`, `{"region":"eu"}`, modernMeta)
	setRegionHeader := func(h http.Header) { h.Set("Mcp-Param-Region", "eu") }
	for name, testCase := range map[string]struct {
		pluginChange func(http.Header)
		body         string
		code         int
	}{
		"good":                     {setRegionHeader, validCall, 0},
		"missing parameter header": {func(http.Header) {}, validCall, -32020},
		"wrong parameter header":   {func(h http.Header) { h.Set("Mcp-Param-Region", "us") }, validCall, -32020},
		"no method header":         {func(h http.Header) { setRegionHeader(h); h["Mcp-Method"] = nil }, validCall, -32020},
		"wrong name header":        {func(h http.Header) { setRegionHeader(h); h.Set("Mcp-Name", "other") }, validCall, -32020},
		"Last-Event-ID header":     {func(h http.Header) { setRegionHeader(h); h.Set("Last-Event-ID", "1") }, validCall, -32020},
		"no version header":        {func(h http.Header) { setRegionHeader(h); h["Mcp-Protocol-Version"] = nil }, validCall, -32020},
		"other version header":     {func(h http.Header) { setRegionHeader(h); h.Set("Mcp-Protocol-Version", "2025-11-25") }, validCall, -32020},
		"no version in body":       {setRegionHeader, strings.Replace(validCall, "io.modelcontextprotocol/protocolVersion", "x", 1), -32602},
		"no capabilities":          {setRegionHeader, strings.Replace(validCall, "io.modelcontextprotocol/clientCapabilities", "x", 1), -32602},
		"bad capabilities":         {setRegionHeader, strings.Replace(validCall, `clientCapabilities":{}`, `clientCapabilities":5`, 1), -32602},
		"future version": {func(h http.Header) { setRegionHeader(h); h.Set("Mcp-Protocol-Version", "2099-01-01") },
			strings.Replace(validCall, "2026-07-28", "2099-01-01", 1), -32022},
		"unknown tool": {func(h http.Header) { h.Set("Mcp-Name", "nope") }, strings.Replace(validCall, "messages__echo", "nope", 1), -32602},
		"no id":        {setRegionHeader, strings.Replace(validCall, `"id":1`, `"id":[]`, 1), -32600},
	} {
		c := s.modernClient(t)
		testCase.pluginChange(c.headers)
		res := c.postRequest(context.Background(), testCase.body)
		m := readMessages(t, res)[0]
		switch {
		case testCase.code == 0 && (res.StatusCode != http.StatusOK || m.Result == nil):
			t.Errorf("%s: status %s, answer %s; want status 200 and a result", name, res.Status, m.messageJSON)
		case testCase.code != 0 && (res.StatusCode != http.StatusBadRequest || m.Error == nil || m.Error.Code != testCase.code):
			t.Errorf("%s: status %s, answer %s; want status 400 and the error %d", name, res.Status, m.messageJSON, testCase.code)
		}
	}
}

func TestModernClientListens(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "subscriptions/listen")
	c.headers.Del("Mcp-Name")
	res := c.postRequest(context.Background(), `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":`+modernMeta+`}}`)
	defer res.Body.Close()
	e := newEvents(res.Body)
	if eventData, _ := e.readEventData(); !strings.Contains(eventData, "acknowledged") {
		t.Fatal(eventData)
	}
	if clientInfos := s.Clients(); len(clientInfos) != 1 || clientInfos[0].Name != "new" {
		t.Errorf("clients of the server = %v; want only the client new", clientInfos)
	}
	s.add(t, "more")
	if eventData, _ := e.readEventData(); !strings.Contains(eventData, "notifications/tools/list_changed") {
		t.Error(eventData)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if eventData, ok := e.readEventData(); ok {
		t.Errorf("event in the stream after Shutdown = %s; want none", eventData)
	}
}

func TestModernEmptySubscriptionEndsAtOnce(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "subscriptions/listen")
	c.headers.Del("Mcp-Name")
	listen := `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{},"_meta":` + modernMeta + `}}`
	for range 30 { // the acknowledgement and the result may be ready at the same time
		msgs := c.requestAndRead(listen)
		if len(msgs) != 2 || !strings.Contains(msgs[0].messageJSON, "acknowledged") || string(msgs[1].ID) != `"sub"` || !strings.Contains(msgs[1].messageJSON, `"resultType":"complete"`) {
			t.Fatalf("messages = %v; want the acknowledgement, then the result complete", msgs)
		}
	}
	c.headers.Set("Accept", "application/json")
	if code, body := c.status(c.newRequest(t.Context(), http.MethodPost, listen)); code != http.StatusNotAcceptable {
		t.Errorf("status %d, body %s; want status 406", code, body)
	}
	c.headers.Del("Accept")
	c.headers.Set("Mcp-Method", "tools/list")
	if code, body := c.status(c.newRequest(t.Context(), http.MethodPost, listen)); code != http.StatusBadRequest || !strings.Contains(body, "-32020") {
		t.Errorf("status %d, body %s; want status 400 and the error -32020", code, body)
	}
}

func TestModernDiscoverAndList(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	for _, method := range []string{"server/discover", "tools/list"} {
		c := s.modernClient(t)
		c.headers.Set("Mcp-Method", method)
		c.headers.Del("Mcp-Name")
		if m := c.call(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":` + modernMeta + `}}`); m.Result == nil {
			t.Errorf("answer to %s = %s; want a result", method, m.messageJSON)
		}
	}
}

// TestModernInvalidRequests checks that invalid requests get the HTTP status that protocol
// version 2026-07-28 requires.
func TestModernInvalidRequests(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	for _, testCase := range []struct {
		method, body string
		httpStatus   int
	}{
		{"notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":` + modernMeta + `}}`, 202},
		{"tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, 400},
		{"no/such", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":` + modernMeta + `}}`, 404},
		{"notifications/cancelled", `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1,"_meta":` + modernMeta + `}}`, 404},
	} {
		c := s.modernClient(t)
		c.headers.Set("Mcp-Method", testCase.method)
		c.headers.Del("Mcp-Name")
		if code, body := c.status(c.newRequest(context.Background(), http.MethodPost, testCase.body)); code != testCase.httpStatus {
			t.Errorf("request %s: status %d, response %s; want status %d", testCase.body, code, body, testCase.httpStatus)
		}
	}
}

// TestModernLargeIDsAreNotRounded checks that large IDs are not rounded, although mcp-go decodes
// numbers as float64.
func TestModernLargeIDsAreNotRounded(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	for _, id := range []string{`9007199254740993`, `-123456789012345678901234567890`, `1.0`, `1e3`, `0`, `-7`, `"a"`} {
		for _, method := range []string{"server/discover", "tools/list", "no/such"} {
			c := s.modernClient(t)
			c.headers.Set("Mcp-Method", method)
			c.headers.Del("Mcp-Name")
			m := c.call(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":` + modernMeta + `}}`)
			if string(m.ID) != id || (m.Result == nil) != (method == "no/such") {
				t.Errorf("ID %s, method %s: answer %s; want the same ID, and an error only for no/such", id, method, m.messageJSON)
			}
		}
		c := s.modernClient(t)
		c.headers.Set("Mcp-Method", "subscriptions/listen")
		c.headers.Del("Mcp-Name")
		ctx, cancel := context.WithCancel(context.Background())
		res := c.postRequest(ctx, `{"jsonrpc":"2.0","id":`+id+`,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":`+modernMeta+`}}`)
		if eventData, _ := newEvents(res.Body).readEventData(); !strings.Contains(eventData, `"io.modelcontextprotocol/subscriptionId":`+id) {
			t.Errorf("subscription with the ID %s: event %s; want the same ID in the event", id, eventData)
		}
		cancel()
		res.Body.Close()
	}
}
