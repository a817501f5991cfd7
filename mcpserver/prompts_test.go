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

var withPrompts = plugintest.Package{Prompts: []plugintest.Prompt{
	{Name: "summarise", DisplayName: "Summarise", Description: "Sums a channel up.",
		Input: json.RawMessage(`{"type":"object","properties":{"channel":{"type":"string","description":"Which."},"days":{"type":"integer"}},"required":["channel"]}`)},
	{Name: "plain"},
}}

func newGetPromptText(id, name, args, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"prompts/get","params":{"name":%q,"arguments":%s,"_meta":%s}}`, id, name, args, meta)
}

func TestPromptsAreListed(t *testing.T) {
	s := serveTools(t, returnOutput(`"x"`), Options{}, withPrompts)
	m := s.open(t, "a").answer(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	want := `{"prompts":[{"name":"messages__plain","title":"plain"},` +
		`{"name":"messages__summarise","title":"Summarise","description":"Sums a channel up.",` +
		`"arguments":[{"name":"channel","description":"Which.","required":true},{"name":"days"}]}]}`
	if string(m.Result) != want {
		t.Errorf("%s\nwant\n%s", m.text, want)
	}
}

// TestPromptsListChanged checks that clients are notified of new prompts, but not of a
// new plugin without prompts.
func TestPromptsListChanged(t *testing.T) {
	s := serveTools(t, returnOutput(`"x"`), Options{}, withPrompts)
	p := s.dial(t)
	p.initialize("a")
	s.add(t, "without")
	if m := p.mustRead(); m.Method != "notifications/tools/list_changed" {
		t.Error(m.text)
	}
	if _, err := s.store.Add(plugintest.Package{Name: "with", Prompts: withPrompts.Prompts}.Write(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"notifications/tools/list_changed", "notifications/prompts/list_changed"} {
		if m := p.mustRead(); m.Method != want {
			t.Errorf("%s, want %s", m.text, want)
		}
	}
}

func TestPromptRuns(t *testing.T) {
	var got dispatch.Call
	s := serveTools(t, callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		got = c
		c.Progress(dispatch.Progress{Progress: 1, Message: "reading"})
		return dispatch.Result{CallID: "call_1", Output: json.RawMessage(`"Sum up #general."`)}, nil
	}), Options{}, withPrompts)
	const members = `"description":"Sums a channel up.","messages":[{"role":"user","content":{"type":"text","text":"Sum up #general."}}]`
	check := func(how string, msgs []receivedMessage, rest string) {
		t.Helper()
		if len(msgs) != 2 || msgs[0].Method != "notifications/progress" || string(msgs[0].Params.Token) != `"p"` {
			t.Fatalf("%s: %v", how, msgs)
		}
		if want := `{` + members + rest + `}`; string(msgs[1].Result) != want {
			t.Errorf("%s: %s\nwant %s", how, msgs[1].text, want)
		}
		if string(got.Args) != `{"_detach":"5","channel":"general","days":3}` || got.TabID != 5 || got.Tool.Name != "summarise" || !got.Tool.Prompt {
			t.Errorf("%s: the prompt ran with %+v", how, got)
		}
		got = dispatch.Call{}
	}
	const args = `{"channel":"general","days":"3","tabId":"5","_detach":"5"}` // a prompt never becomes a job
	check("http", s.open(t, "a").requestAndRead(newGetPromptText(`1`, "messages__summarise", args, `{"progressToken":"p"}`)), "")

	p := s.dial(t)
	p.initialize("a")
	p.send(newGetPromptText(`1`, "messages__summarise", args, `{"progressToken":"p"}`))
	check("stdio", []receivedMessage{p.mustRead(), p.mustRead()}, "")

	const modern = `,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"opentabs","version":"dev"}}`
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "prompts/get")
	c.headers.Set("Mcp-Name", "messages__summarise")
	check("modern", c.requestAndRead(newGetPromptText(`1`, "messages__summarise", args, modernMeta)), modern)
	p.send(newGetPromptText(`2`, "messages__summarise", args, modernMeta))
	check("modern stdio", []receivedMessage{p.mustRead(), p.mustRead()}, modern)
}

func TestPromptResults(t *testing.T) {
	block := func(content string) string { return `"messages":[{"role":"user","content":` + content + `}]` }
	for input, want := range map[string]string{
		`"a\nb"`: block(`{"type":"text","text":"a\nb"}`),
		`[]`:     `"messages":[]`,
		`[{"role":"assistant","content":"a"},{"content":{"type":"text","text":"b"},"role":"user","x":1}]`: `"messages":[{"role":"assistant","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"b"}}]`,
		`{"description":"d","messages":[{"role":"user","content":"a"}]}`:                                  `"description":"d",` + block(`{"type":"text","text":"a"}`),
		`[{"role":"user","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]`:               block(`{"type":"image","data":"AAAA","mimeType":"image/png"}`),
		`[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":"t"}}}]`:             block(`{"type":"resource","resource":{"uri":"a:b","text":"t"}}`),

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
			t.Errorf("%s: %v, want %s", input, err, want)
		case err == nil && string(got) != want:
			t.Errorf("%s: %s\nwant %s", input, got, want)
		}
	}
}

// TestPromptFailures checks that each failure of a prompt is a JSON-RPC error with a code
// and a message.
func TestPromptFailures(t *testing.T) {
	fails := callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, &dispatch.Error{Code: wire.ErrIdleTimeout, CallID: "call_9", Retryable: true, Message: "It was silent."}
	})
	for _, test := range []struct {
		caller     Caller
		name, args string
		code       int
		text, kind string
		status     int // the field status is the HTTP status in protocol version 2026-07-28
	}{
		{fails, "messages__nope", `{}`, -32602, `no prompt \"messages__nope\"`, "", 400},
		{fails, "messages__summarise", `{}`, -32602, "channel", "invalid_arguments", 400},
		{fails, "messages__summarise", `{"channel":"c","days":"many"}`, -32602, "days", "invalid_arguments", 400},
		{fails, "messages__summarise", `{"channel":"c","tabId":"x"}`, -32602, "tabId", "invalid_arguments", 400},
		{fails, "messages__plain", `{}`, -32603, "It was silent.", "idle_timeout", 200},
		{returnOutput(`7`), "messages__plain", `{}`, -32603, "prompt plain of plugin messages failed: its messages are not an array. Report", "invalid_result", 200},
		{callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) { panic("x") }), "messages__plain", `{}`, -32603, "Check the log", "internal", 200},
	} {
		s := serveTools(t, test.caller, Options{}, withPrompts)
		c := s.modernClient(t)
		c.headers.Set("Mcp-Method", "prompts/get")
		c.headers.Set("Mcp-Name", test.name)
		res := c.post(t.Context(), newGetPromptText(`1`, test.name, test.args, modernMeta))
		for how, m := range map[string]receivedMessage{
			"sessions": s.open(t, "a").answer(newGetPromptText(`1`, test.name, test.args, `{}`)),
			"modern":   readMessages(t, res)[0],
		} {
			if m.Error == nil || m.Error.Code != test.code || !strings.Contains(m.text, test.text) || !strings.Contains(m.text, test.kind) {
				t.Errorf("%s: %s %s: %s", how, test.name, test.args, m.text)
			}
		}
		if res.StatusCode != test.status {
			t.Errorf("%s %s: %s; want %v", test.name, test.args, res.Status, test.status)
		}
	}
}

// TestPromptIsCancelled checks that the client receives nothing after it has cancelled a
// prompt.
func TestPromptIsCancelled(t *testing.T) {
	h := newHangingCaller()
	s := serveTools(t, h, Options{}, withPrompts)
	p := s.dial(t)
	p.initialize("a")
	p.send(newGetPromptText(`7`, "messages__plain", `{}`, `{}`))
	<-h.started
	p.send(cancelText(`7`), `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	<-h.ended
	if m := p.mustRead(); string(m.ID) != `8` {
		t.Error(m.text)
	}

	ctx, disconnect := context.WithCancel(t.Context())
	c := s.open(t, "b")
	c.postLater(ctx, newGetPromptText(`1`, "messages__plain", `{}`, `{}`))
	<-h.started
	disconnect()
	<-h.ended
}

func TestPromptsParamsAreChecked(t *testing.T) {
	s := serveTools(t, returnOutput(`"x"`), Options{}, withPrompts)
	m := s.open(t, "a").answer(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":5}}`)
	if m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, "params of prompts/get are malformed") {
		t.Error(m.text)
	}
	c := s.modernClient(t)
	c.headers.Set("Mcp-Method", "prompts/get")
	c.headers.Set("Mcp-Name", "other")
	res := c.post(t.Context(), newGetPromptText(`1`, "messages__plain", `{}`, modernMeta))
	if m := readMessages(t, res)[0]; res.StatusCode != http.StatusBadRequest || m.Error == nil || m.Error.Code != -32020 {
		t.Errorf("%s %s", res.Status, m.text)
	}
}
