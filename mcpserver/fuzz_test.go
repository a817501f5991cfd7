package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"opentabs/mcpserver/content"
)

// malformedMessages returns malformed and hostile messages as seeds for the fuzz tests.
func malformedMessages() []string {
	deeplyNestedJSON := strings.Repeat(`[`, 20_000)
	return []string{
		callText(`1`, `{"a":1}`, `{"progressToken":"t"}`), newCancelMessage(`"1"`), initializeText("a"),
		callText(`1e400`, `{"a":1}`, modernMeta), callText(`"a"`, `null`, `null`), callText(`-0`, `[]`, `5`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":` + modernMeta + `}}`,
		newGetPromptText(`1`, "messages__plain", `{"tabId":"1"}`, `{}`), newGetPromptText(`1`, "messages__summarise", `{"channel":"c","days":"1"}`, modernMeta),
		readText(callsURI, `{}`), readText(callsURI+"/call_1", modernMeta), readText("\x00", `{}`),
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"opentabs://calls"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"opentabs://calls"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["opentabs://calls","x"]},"_meta":` + modernMeta + `}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[]`, `null`, `{}`, `""`, `1`, ``, ` `, "\ufeff{}", "\x00", "\xff", `{"a":"` + "\xff" + `"}`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"method":5}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":[1],"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":"","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list"}`, `{"jsonrpc":"2.0","ID":1,"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messages__echo","arguments":[1]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deeplyNestedJSON, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":` + deeplyNestedJSON + strings.Repeat(`]`, 20_000) + `}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":"init","result":null}`,
		`{"jsonrpc":"2.0","id":7,"method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":7}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"messages__echo"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`, `{"jsonrpc":"2.0","id":1,"method":"completion/complete"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:"}}`, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x"}}`,
	}
}

func checkReplyJSON(t *testing.T, replyJSON []byte) json.RawMessage {
	t.Helper()
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(replyJSON, &m); err != nil {
		t.Fatalf("decoding the answer failed: %v; want JSON:\n%.300s", err, replyJSON)
	}
	switch {
	case m.JSONRPC != "2.0":
		t.Fatalf("answer = %.300s; want JSON-RPC 2.0", replyJSON)
	case m.Method != "":
	case (m.Result == nil) == (m.Error == nil):
		t.Fatalf("answer = %.300s; want exactly one of result and error", replyJSON)
	case m.Error != nil && (m.Error.Code == 0 || m.Error.Message == ""):
		t.Fatalf("answer = %.300s; want an error with a code and a text", replyJSON)
	case m.Error != nil && strings.Contains(m.Error.Message, "panic"):
		t.Fatalf("answer after a panic of the server = %.300s; want no panic", replyJSON)
	}
	return m.ID
}

// FuzzHTTP checks that each posted text gets one complete answer with a correct status,
// and that the session remains usable.
func FuzzHTTP(f *testing.F) {
	for i, seed := range malformedMessages() {
		f.Add([]byte(seed), uint8(i))
	}
	s := newServer(f, callerFunc(echoArguments), Options{MaxRequestBytes: 1 << 20, CallWatcher: callCountWatcher(1)}, promptPackage)
	f.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	postRequest := func(ctx context.Context, requestBody []byte, h http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(requestBody))
		r.Header = h
		h.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	session := postRequest(context.Background(), []byte(initializeText("fuzz")), http.Header{}).Header().Get("Mcp-Session-Id")
	f.Fuzz(func(t *testing.T, requestBody []byte, how uint8) {
		h := http.Header{}
		if how&1 != 0 {
			h.Set("Mcp-Session-Id", session)
		}
		h.Set("Mcp-Protocol-Version", [...]string{"2025-11-25", "2026-07-28"}[how>>1&1])
		if how&4 != 0 {
			h.Set("Accept", "application/json")
		}
		if how&8 != 0 {
			h.Set("Mcp-Method", [...]string{"tools/call", "subscriptions/listen", "resources/read", "prompts/get"}[how>>4&3])
			h.Set("Mcp-Name", "messages__echo")
		}
		ctx := t.Context()
		if bytes.Contains(requestBody, []byte("listen")) { // a listen request ends only when its client disconnects
			requestCtx, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
			defer cancel()
			ctx = requestCtx
		}
		w := postRequest(ctx, requestBody, h)
		switch w.Code {
		case 200, 202, 204, 400, 404, 405, 406, 413:
		default:
			t.Fatalf("status %d for the request %q, want a status of the MCP specification: %s", w.Code, requestBody, w.Body)
		}
		var m struct{ ID, Method json.RawMessage }
		isObject := utf8.Valid(requestBody) && json.Unmarshal(requestBody, &m) == nil
		for _, requestJSON := range messagesOfResponse(w) {
			got := checkReplyJSON(t, requestJSON)
			if isObject && m.Method != nil && isID(m.ID) && isID(got) && !equalIDs(got, m.ID) {
				t.Fatalf("answer to the request %q has the ID %s; want the ID of the request", requestBody, got)
			}
		}
		for _, c := range s.Clients() {
			if c.ID != session {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/", nil)
				r.Header.Set("Mcp-Session-Id", c.ID)
				s.Handler().ServeHTTP(httptest.NewRecorder(), r)
			}
		}
		ping := postRequest(t.Context(), []byte(`{"jsonrpc":"2.0","id":"again","method":"ping"}`), http.Header{"Mcp-Session-Id": {session}})
		if got := strings.TrimSpace(ping.Body.String()); got != `{"jsonrpc":"2.0","id":"again","result":{}}` {
			t.Fatalf("after the request %q, a ping gets the status %d and the answer %s; want %q", requestBody, ping.Code, got, `{"jsonrpc":"2.0","id":"again","result":{}}`)
		}
	})
}

func isID(idJSON json.RawMessage) bool {
	return len(idJSON) > 0 && (idJSON[0] == '"' || idJSON[0] == '-' || idJSON[0] >= '0' && idJSON[0] <= '9')
}

// Two equal string IDs can have different JSON escapes, such as "a" and "\u0061".
func equalIDs(a, b json.RawMessage) bool {
	var x, y string
	if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil {
		return x == y
	}
	return string(a) == string(b)
}

func messagesOfResponse(w *httptest.ResponseRecorder) [][]byte {
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		if b := bytes.TrimSpace(w.Body.Bytes()); len(b) > 0 && w.Header().Get("Content-Type") == "application/json" {
			return [][]byte{b}
		}
		return nil
	}
	var messages [][]byte
	for e := newEvents(w.Body); ; {
		eventData, ok := e.readEventData()
		if !ok {
			return messages
		}
		messages = append(messages, []byte(eventData))
	}
}

// FuzzStdio sends arbitrary input, and checks that each returned line is a message and
// that a later request is answered.
func FuzzStdio(f *testing.F) {
	for _, seed := range malformedMessages() {
		f.Add([]byte(seed))
	}
	f.Add([]byte(strings.Join(malformedMessages(), "\n")))
	f.Add([]byte(callText(`1`, `{}`, `{}`) + "\r\n" + newCancelMessage(`1`) + "\r" + callText(`1`, `{}`, `{}`)))
	s := newServer(f, callerFunc(echoArguments), Options{MaxRequestBytes: 1 << 20, CallWatcher: callCountWatcher(1)}, promptPackage)
	f.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	const lastRequest = `{"jsonrpc":"2.0","id":"the last one","method":"ping"}`
	f.Fuzz(func(t *testing.T, lines []byte) {
		if bytes.Contains(lines, []byte("the last one")) {
			return
		}
		var output bytes.Buffer
		input := io.MultiReader(bytes.NewReader(lines), strings.NewReader("\n"+lastRequest+"\n"))
		if err := s.ServeStdio(t.Context(), input, &output); err != nil {
			t.Fatal(err)
		}
		answeredCount := 0
		for line := range bytes.Lines(output.Bytes()) {
			checkReplyJSON(t, line)
			if string(bytes.TrimSpace(line)) == `{"jsonrpc":"2.0","id":"the last one","result":{}}` {
				answeredCount++
			}
		}
		if answeredCount != 1 {
			t.Fatalf("after the lines %q, the ping has %d answers; want 1:\n%s", lines, answeredCount, output.Bytes())
		}
	})
}

// FuzzPromptResult checks that for any output of a prompt, the client receives JSON with
// messages that MCP allows.
func FuzzPromptResult(f *testing.F) {
	for _, seed := range []string{
		`"a"`, `[]`, `[{"role":"user","content":"a"}]`, `{"description":"d","messages":[{"role":"assistant","content":{"type":"text","text":"t"}}]}`,
		`[{"role":"user","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]`, `{"messages":null}`, `[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":"t"}}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		if !json.Valid(output) {
			return
		}
		members, err := promptResult(content.RemoveLineBreaks(output), "d")
		if err != nil {
			return
		}
		var r struct {
			Messages []struct {
				Role    string         `json:"role"`
				Content map[string]any `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal([]byte(`{`+string(members)+`}`), &r); err != nil || r.Messages == nil {
			t.Fatalf("prompt output %q: result %s, error %v; want JSON with messages", output, members, err)
		}
		for _, m := range r.Messages {
			if _, ok := m.Content["type"].(string); !ok || m.Role != "user" && m.Role != "assistant" {
				t.Fatalf("prompt output %q: result %s; want messages that MCP allows", output, members)
			}
		}
	})
}
