package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

var promptPackage = plugintest.Package{Prompts: []plugintest.Prompt{
	{Name: "summarise", DisplayName: "Summarise", Description: "Sums a channel up.",
		Input: json.RawMessage(`{"type":"object","properties":{"channel":{"type":"string","description":"Which."},"days":{"type":"integer"}},"required":["channel"]}`)},
	{Name: "plain"},
}}

func newGetPromptText(id, name, args, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"prompts/get","params":{"name":%q,"arguments":%s,"_meta":%s}}`, id, name, args, meta)
}

func TestPromptsAreListed(t *testing.T) {
	s := serveTools(t, callerReturning(`"x"`), Options{}, promptPackage)
	m := s.open(t, "a").call(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	want := `{"prompts":[{"name":"messages__plain","title":"plain"},` +
		`{"name":"messages__summarise","title":"Summarise","description":"Sums a channel up.",` +
		`"arguments":[{"name":"channel","description":"Which.","required":true},{"name":"days"}]}]}`
	if string(m.Result) != want {
		t.Errorf("answer = %s\nwant the result\n%s", m.messageJSON, want)
	}
}

// TestPromptsListChanged checks that clients are notified of new prompts, but not of a
// new plugin without prompts.
func TestPromptsListChanged(t *testing.T) {
	s := serveTools(t, callerReturning(`"x"`), Options{}, promptPackage)
	p := s.dial(t)
	p.initialize("a")
	s.add(t, "without")
	if m := p.mustReadMessage(); m.Method != "notifications/tools/list_changed" {
		t.Error(m.messageJSON)
	}
	if _, err := s.store.Add(plugintest.Package{Name: "with", Prompts: promptPackage.Prompts}.Write(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"notifications/tools/list_changed", "notifications/prompts/list_changed"} {
		if m := p.mustReadMessage(); m.Method != want {
			t.Errorf("message = %s, want %s", m.messageJSON, want)
		}
	}
}

func TestPromptRuns(t *testing.T) {
	var got dispatch.Call
	s := serveTools(t, callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		got = c
		c.Progress(dispatch.Progress{Progress: 1, Message: "reading"})
		return dispatch.Result{CallID: "call_1", Output: json.RawMessage(`"Sum up #general."`)}, nil
	}), Options{}, promptPackage)
	const members = `"description":"Sums a channel up.","messages":[{"role":"user","content":{"type":"text","text":"Sum up #general."}}]`
	checkPrompt := func(how string, msgs []receivedMessage, wantResultEnd string) {
		t.Helper()
		if len(msgs) != 2 || msgs[0].Method != "notifications/progress" || string(msgs[0].Params.Token) != `"p"` {
			t.Fatalf("%s: messages = %v; want a progress notification with the token p, then the result", how, msgs)
		}
		if want := `{` + members + wantResultEnd + `}`; string(msgs[1].Result) != want {
			t.Errorf("%s: answer %s\nwant %s", how, msgs[1].messageJSON, want)
		}
		if string(got.Args) != `{"_detach":"5","channel":"general","days":3}` || got.TabID != 5 || got.Tool.Name != "summarise" || !got.Tool.Prompt {
			t.Errorf("%s: call of the prompt = %+v; want the prompt summarise in tab 5, with the arguments _detach, channel and days", how, got)
		}
		got = dispatch.Call{}
	}
	const args = `{"channel":"general","days":"3","tabId":"5","_detach":"5"}` // a prompt never becomes a job
	checkPrompt("http", s.open(t, "a").requestAndRead(newGetPromptText(`1`, "messages__summarise", args, `{"progressToken":"p"}`)), "")

	p := s.dial(t)
	p.initialize("a")
	p.sendMessage(newGetPromptText(`1`, "messages__summarise", args, `{"progressToken":"p"}`))
	checkPrompt("stdio", []receivedMessage{p.mustReadMessage(), p.mustReadMessage()}, "")

	const modernResultEnd = `,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"opentabs","version":"dev"}}`
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "prompts/get")
	c.headers.Set("Mcp-Name", "messages__summarise")
	checkPrompt("modern", c.requestAndRead(newGetPromptText(`1`, "messages__summarise", args, modernMeta)), modernResultEnd)
	p.sendMessage(newGetPromptText(`2`, "messages__summarise", args, modernMeta))
	checkPrompt("modern stdio", []receivedMessage{p.mustReadMessage(), p.mustReadMessage()}, modernResultEnd)
}

func TestPromptResults(t *testing.T) {
	contentBlock := func(content string) string { return `"messages":[{"role":"user","content":` + content + `}]` }
	for input, want := range map[string]string{
		`"a\nb"`: contentBlock(`{"type":"text","text":"a\nb"}`),
		`[]`:     `"messages":[]`,
		`[{"role":"assistant","content":"a"},{"content":{"type":"text","text":"b"},"role":"user","x":1}]`: `"messages":[{"role":"assistant","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"b"}}]`,
		`{"description":"d","messages":[{"role":"user","content":"a"}]}`:                                  `"description":"d",` + contentBlock(`{"type":"text","text":"a"}`),
		`[{"role":"user","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]`:               contentBlock(`{"type":"image","data":"AAAA","mimeType":"image/png"}`),
		`[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":"t"}}}]`:             contentBlock(`{"type":"resource","resource":{"uri":"a:b","text":"t"}}`),

		``:                                 "returned nothing",
		`5`:                                "messages are not an array",
		`null`:                             "messages are not an array",
		`{"text":"a"}`:                     "not {description?, messages}",
		`{"description":1,"messages":[]}`:  "not {description?, messages}",
		`{"messages":{}}`:                  "messages are not an array",
		`["a"]`:                            "message 1 is not {role, content}",
		`[{"role":"user"}]`:                "message 1 is not {role, content}",
		`[{"role":"system","content":""}]`: `neither "user" nor "assistant"`,
		`[{"role":"user","content":"a"},{"role":"user","content":{"type":"text"}}]`:       "message 2 has content",
		`[{"role":"user","content":{"type":"text","text":"a","more":1}}]`:                 "message 1 has content",
		`[{"role":"user","content":5}]`:                                                   "message 1 has content",
		`[{"role":"user","content":[]}]`:                                                  "message 1 has content",
		`[{"role":"user","content":{"type":"image","data":"?","mimeType":"image/png"}}]`:  "message 1 has content",
		`[{"role":"user","content":{"type":"image","data":"AAAA","mimeType":"text/xx"}}]`: "message 1 has content",
	} {
		got, err := promptResult(json.RawMessage(input), "")
		switch {
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("error for the arguments %s = %v, want %s", input, err, want)
		case err == nil && string(got) != want:
			t.Errorf("converted arguments of %s = %s\nwant %s", input, got, want)
		}
	}
}

// TestPromptErrors checks that each failure of a prompt is a JSON-RPC error with a code
// and a message.
func TestPromptErrors(t *testing.T) {
	failingCaller := callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, &dispatch.Error{Code: wire.ErrIdleTimeout, CallID: "call_9", Retryable: true, Message: "It was silent."}
	})
	for _, testCase := range []struct {
		caller            Caller
		name, args        string
		code              int
		wantMessage, kind string
		httpStatus        int // the HTTP status in protocol version 2026-07-28
	}{
		{failingCaller, "messages__nope", `{}`, -32602, `no prompt \"messages__nope\"`, "", 400},
		{failingCaller, "messages__summarise", `{}`, -32602, "channel", "invalid_arguments", 400},
		{failingCaller, "messages__summarise", `{"channel":"c","days":"many"}`, -32602, "days", "invalid_arguments", 400},
		{failingCaller, "messages__summarise", `{"channel":"c","tabId":"x"}`, -32602, "tabId", "invalid_arguments", 400},
		{failingCaller, "messages__plain", `{}`, -32603, "It was silent.", "idle_timeout", 200},
		{callerReturning(`7`), "messages__plain", `{}`, -32603, "prompt plain of plugin messages failed: its messages are not an array. Report", "invalid_result", 200},
		{callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) { panic("x") }), "messages__plain", `{}`, -32603, "Check the log", "internal", 200},
	} {
		s := serveTools(t, testCase.caller, Options{}, promptPackage)
		c := s.modernClient(t)
		c.headers.Set("Mcp-Method", "prompts/get")
		c.headers.Set("Mcp-Name", testCase.name)
		res := c.postRequest(t.Context(), newGetPromptText(`1`, testCase.name, testCase.args, modernMeta))
		for how, m := range map[string]receivedMessage{
			"sessions": s.open(t, "a").call(newGetPromptText(`1`, testCase.name, testCase.args, `{}`)),
			"modern":   readMessages(t, res)[0],
		} {
			if m.Error == nil || m.Error.Code != testCase.code || !strings.Contains(m.messageJSON, testCase.wantMessage) || !strings.Contains(m.messageJSON, testCase.kind) {
				t.Errorf("%s: prompt %s with the arguments %s: answer %s; want the error %d %q", how, testCase.name, testCase.args, m.messageJSON, testCase.code, testCase.wantMessage)
			}
		}
		if res.StatusCode != testCase.httpStatus {
			t.Errorf("prompt %s with the arguments %s: status %s; want %v", testCase.name, testCase.args, res.Status, testCase.httpStatus)
		}
	}
}

// TestPromptIsCancelled checks that the client receives nothing after it has cancelled a
// prompt.
func TestPromptIsCancelled(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{}, promptPackage)
	p := s.dial(t)
	p.initialize("a")
	p.sendMessage(newGetPromptText(`7`, "messages__plain", `{}`, `{}`))
	<-h.startedCalls
	p.sendMessage(newCancelMessage(`7`), `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	<-h.callErrors
	if m := p.mustReadMessage(); string(m.ID) != `8` {
		t.Error(m.messageJSON)
	}

	ctx, disconnect := context.WithCancel(t.Context())
	c := s.open(t, "b")
	c.postAsync(ctx, newGetPromptText(`1`, "messages__plain", `{}`, `{}`))
	<-h.startedCalls
	disconnect()
	<-h.callErrors
}

func TestPromptsParamsAreChecked(t *testing.T) {
	s := serveTools(t, callerReturning(`"x"`), Options{}, promptPackage)
	m := s.open(t, "a").call(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":5}}`)
	if m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, "params of prompts/get are malformed") {
		t.Error(m.messageJSON)
	}
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "prompts/get")
	c.headers.Set("Mcp-Name", "other")
	res := c.postRequest(t.Context(), newGetPromptText(`1`, "messages__plain", `{}`, modernMeta))
	if m := readMessages(t, res)[0]; res.StatusCode != http.StatusBadRequest || m.Error == nil || m.Error.Code != -32020 {
		t.Errorf("status %s, answer %s; want status 400 and the error -32020", res.Status, m.messageJSON)
	}
}
