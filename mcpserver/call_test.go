package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/mcpserver/gateway"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

// The tests make callCount calls with reportsPerCall progress reports each, and check
// that no report is lost.
const (
	reportsPerCall = 1000
	callCount      = 5
)

func reportProgressManyTimes(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
	for i := range reportsPerCall {
		c.Progress(dispatch.Progress{Progress: float64(i + 1), Total: reportsPerCall, HasTotal: true, Message: "of " + c.Client.Name})
	}
	return dispatch.Result{Output: json.RawMessage(`{"by":"` + c.Client.Name + `"}`)}, nil
}

func reportingBridge() *dispatchtest.Bridge {
	return &dispatchtest.Bridge{StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
		go func() {
			for i := range reportsPerCall {
				n, totalProgress := float64(i+1), float64(reportsPerCall)
				sink.Reports([]wire.Report{{Progress: &n, Total: &totalProgress, Message: string(toolRun.Args)}}, 0)
			}
			sink.Finish(toolRun.Args, nil)
		}()
		return nil
	}}
}

func callersByName() map[string]Caller {
	return map[string]Caller{
		"fake": callerFunc(reportProgressManyTimes),
		"real": dispatch.New(reportingBridge(), dispatch.Options{ProgressInterval: -1}),
	}
}

func checkProgressReports(t *testing.T, msgs []receivedMessage, id, token string) {
	t.Helper()
	if len(msgs) != reportsPerCall+1 {
		t.Errorf("call %s: %d messages, want %d", id, len(msgs), reportsPerCall+1)
		return
	}
	for i, m := range msgs[:reportsPerCall] {
		if m.Method != "notifications/progress" || string(m.Params.Token) != token || m.Params.Progress != float64(i+1) ||
			m.Params.Total == nil || *m.Params.Total != reportsPerCall {
			t.Errorf("call %s: message %d is %s; want a progress notification with the next number", id, i, m.messageJSON)
			return
		}
	}
	if lastMessage := msgs[reportsPerCall]; string(lastMessage.ID) != id || lastMessage.Result == nil {
		t.Errorf("call %s: the last message is %s; want the result of this call", id, lastMessage.messageJSON)
	}
}

func TestProgressOverHTTPIsCompleteAndInOrder(t *testing.T) {
	for name, caller := range callersByName() {
		for _, isListening := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/get=%v", name, isListening), func(t *testing.T) {
				s := serveTools(t, caller, Options{})
				c := s.open(t, "a")
				countUnexpectedMessages := func() int { return 0 }
				if isListening {
					countUnexpectedMessages = c.countMessages()
				}
				for round := range callCount {
					id := fmt.Sprint(round)
					checkProgressReports(t, c.requestAndRead(callText(id, `{}`, `{"progressToken":"t`+id+`"}`)), id, `"t`+id+`"`)
				}
				if n := countUnexpectedMessages(); n != 0 {
					t.Errorf("%d progress messages arrived on the GET stream; want 0, because each call has its own response", n)
				}
			})
		}
	}
}

func (c *client) countMessages() func() int {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	res := c.do(c.newRequest(ctx, http.MethodGet, ""))
	count := make(chan int)
	go func() {
		defer res.Body.Close()
		e, n := newEvents(res.Body), 0
		for {
			if _, ok := e.readEventData(); !ok {
				count <- n
				return
			}
			n++
		}
	}()
	return func() int {
		cancel()
		return <-count
	}
}

func TestProgressOfConcurrentCallsStaysApart(t *testing.T) {
	for name, caller := range callersByName() {
		t.Run(name, func(t *testing.T) {
			s := serveTools(t, caller, Options{})
			c := s.open(t, "a")
			countUnexpectedMessages := c.countMessages()
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					for round := range callCount {
						id := fmt.Sprint(i*100 + round)
						checkProgressReports(t, c.requestAndRead(callText(id, `{}`, `{"progressToken":`+id+`}`)), id, id)
					}
				})
			}
			wg.Wait()
			if n := countUnexpectedMessages(); n != 0 {
				t.Errorf("%d progress messages arrived on the GET stream; want 0, because each call has its own response", n)
			}
		})
	}
}

func TestProgressOverStdioIsCompleteAndInOrder(t *testing.T) {
	for name, caller := range callersByName() {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, caller, Options{})
			p := s.dial(t)
			p.initialize("a")
			const at = 4 // the constant at is the number of concurrent calls
			for round := range callCount {
				messagesByToken := map[string][]receivedMessage{}
				for i := range at {
					id := fmt.Sprint(round*at + i)
					p.sendMessage(callText(id, `{}`, `{"progressToken":"`+id+`"}`))
				}
				for range at * (reportsPerCall + 1) {
					m := p.mustReadMessage()
					key := strings.Trim(string(m.Params.Token), `"`)
					if m.Method == "" {
						key = string(m.ID)
					}
					messagesByToken[key] = append(messagesByToken[key], m)
				}
				for i := range at {
					id := fmt.Sprint(round*at + i)
					checkProgressReports(t, messagesByToken[id], id, `"`+id+`"`)
				}
			}
			if unreadMessages := p.closeAndReadAll(); len(unreadMessages) > 0 {
				t.Errorf("message after the last result = %s; want none", unreadMessages[0].messageJSON)
			}
		})
	}
}

func TestNothingIsSentAfterACancel(t *testing.T) {
	started, callEnded := make(chan struct{}, 1), make(chan struct{}, 1)
	s := serveTools(t, callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		c.Progress(dispatch.Progress{Progress: 1})
		started <- struct{}{}
		<-ctx.Done()
		c.Progress(dispatch.Progress{Progress: 2})
		callEnded <- struct{}{}
		return dispatch.Result{Output: json.RawMessage(`{}`)}, nil // the result arrives together with the cancellation
	}), Options{})
	c := s.open(t, "a")
	got := c.postAsync(context.Background(), callText(`1`, `{}`, `{"progressToken":1}`))
	<-started
	c.cancel(`1`)
	<-callEnded
	if msgs := <-got; len(msgs) != 1 || msgs[0].Params.Progress != 1 {
		t.Errorf("messages to the client over HTTP = %v; want one progress notification with progress 1", msgs)
	}
	p := s.dial(t)
	p.initialize("a")
	p.sendMessage(callText(`1`, `{}`, `{"progressToken":1}`))
	<-started
	p.sendMessage(newCancelMessage(`1`))
	<-callEnded
	if msgs := p.closeAndReadAll(); len(msgs) != 1 || msgs[0].Params.Progress != 1 {
		t.Errorf("messages to the client over stdio = %v; want one progress notification with progress 1", msgs)
	}
}

func TestProgressTokenIsEchoedAsWritten(t *testing.T) {
	one := callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		if c.Progress != nil {
			c.Progress(dispatch.Progress{Progress: 0.1, Message: "a <b>", StatusWord: "index\"ing", Audience: "user"})
			c.Progress(dispatch.Progress{Progress: 1, Total: 2, HasTotal: true})
		}
		return dispatch.Result{Output: json.RawMessage(`{}`)}, nil
	})
	s := serveTools(t, one, Options{})
	c := s.open(t, "a")
	p := s.dial(t)
	p.initialize("a")
	for _, testCase := range []struct{ meta, token string }{
		{`{"progressToken":"<tok&en> \u00e9"}`, `"<tok&en> \u00e9"`},
		{`{"progressToken":""}`, `""`},
		{`{"progressToken":7}`, `7`},
		{`{"progressToken":0}`, `0`},
		{`{"progressToken":9007199254740993}`, `9007199254740993`},
		{`{"progressToken":-12345678901234567890}`, `-12345678901234567890`},
		{`{"progressToken":null}`, ``},
		{`{"progressToken":{"a":1}}`, ``},
		{`{"progressToken":true}`, ``},
		{`{}`, ``},
		{`null`, ``},
	} {
		want := []string{}
		if testCase.token != "" {
			want = append(want, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+testCase.token+
				`,"progress":0.1,"message":"a <b>","_meta":{"opentabs/audience":"user","opentabs/status":"index\"ing"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+testCase.token+
					`,"progress":1,"total":2,"_meta":{"opentabs/audience":"internal"}}}`)
		}
		want = append(want, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}`)
		got := []string{}
		for _, m := range c.requestAndRead(callText("1", `{}`, testCase.meta)) {
			got = append(got, m.messageJSON)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("messages of a call with _meta %s over HTTP:\n%s\nwant\n%s", testCase.meta, got, want)
		}
		p.sendMessage(callText("1", `{}`, testCase.meta))
		for _, w := range want {
			if m := p.mustReadMessage(); m.messageJSON != w {
				t.Errorf("message of a call with _meta %s over stdio:\n%s\nwant\n%s", testCase.meta, m.messageJSON, w)
			}
		}
	}
}

func TestCallWithoutProgressToken(t *testing.T) {
	s := serveTools(t, callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{Output: json.RawMessage(fmt.Sprint(c.Progress != nil))}, nil
	}), Options{})
	c := s.open(t, "a")
	if resultText := c.call(callText("1", `{}`, `{}`)).toolResultOf(t).Content[0].Text; resultText != "false" {
		t.Error("a call without a progress token has a progress function; want none")
	}
	if resultText := c.call(callText("1", `{}`, `{"progressToken":1}`)).toolResultOf(t).Content[0].Text; resultText != "true" {
		t.Error("a call with a progress token has no progress function; want one")
	}
}

func TestDispatcherReceivesRequestFields(t *testing.T) {
	var got dispatch.Call
	s := serveTools(t, callerFunc(func(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
		got = c
		return echoArguments(ctx, c)
	}), Options{})
	c := s.open(t, "an agent")
	res := c.call(callText("1", `{"big": 9007199254740993, "tabId": 42, "browser": "Work", "tiny":1e-400}`, `{}`)).toolResultOf(t)
	if want := `{"big":9007199254740993,"tiny":1e-400}`; string(got.Args) != want || string(res.Structured) != want || res.Content[0].Text != want {
		t.Errorf("arguments %s, result %s, text %s, want %s", got.Args, res.Structured, res.Content[0].Text, want)
	}
	if got.TabID != 42 || got.Browser != "Work" || got.Tool.FullName() != "messages__echo" ||
		got.Client.Name != "an agent" || got.Client.Session == "" || strings.Contains(got.Client.Session, c.session) {
		t.Errorf("call that the dispatcher received = %+v; want messages__echo with tab 42, browser Work, client \"an agent\" and no secret session ID", got)
	}
}

// A strict client would reject a result that violates the output schema with an error that does not name the plugin.
func TestInvalidResultNamesPlugin(t *testing.T) {
	for output, want := range map[string]string{`{"n":"one"}`: "/n", `null`: "null", ``: "undefined"} {
		s := serveTools(t, callerReturning(output), Options{}, plugintest.Package{Tools: []plugintest.Tool{{
			Name: "echo", Description: "d", Output: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		}}})
		res := s.open(t, "a").call(callText("1", `{}`, `{}`)).toolResultOf(t)
		if !res.IsError || res.Structured != nil || !strings.Contains(res.Content[0].Text, want) || !strings.Contains(res.Content[0].Text, "invalid_result") {
			t.Errorf("result for the output %q = %+v; want the error invalid_result", output, res)
		}
	}
}

func TestInvalidArgumentsAreAToolError(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{}, plugintest.Package{Tools: []plugintest.Tool{{
		Name: "echo", Description: "d",
		Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"],"additionalProperties":false}`),
	}}})
	c := s.open(t, "a")
	for args, want := range map[string][]string{
		`{"n":"x","extra":1}`:          {"text", "extra", "/n"},
		`[]`:                           {"object"},
		`"text"`:                       {"object"},
		`{"text":"a","tabId":"seven"}`: {"tabId", "positive integer", "Correct it"},
		`{"text":"a","tabId":0}`:       {"tabId"},
		`{"text":"a","tabId":1.5}`:     {"tabId"},
		`{"text":"a","browser":5}`:     {"browser", "Correct it"},
	} {
		m := c.call(callText("1", args, `{}`))
		if m.Error != nil {
			t.Errorf("call with the arguments %s: answer %s; want a tool result, not a JSON-RPC error", args, m.messageJSON)
			continue
		}
		res := m.toolResultOf(t)
		if !res.IsError || !strings.Contains(string(res.Meta["opentabs/error"]), `"code":"invalid_arguments"`) {
			t.Errorf("call with the arguments %s: answer %s; want the tool error invalid_arguments", args, m.messageJSON)
		}
		for _, w := range want {
			if !strings.Contains(res.Content[0].Text, w) {
				t.Errorf("call with the arguments %s: want the text %q in the error %q", args, w, res.Content[0].Text)
			}
		}
	}
	for _, args := range []string{`{"text":"a","tabId":null,"browser":null}`, `{"text":"a"}`} {
		if m := c.call(callText("1", args, `{}`)); m.toolResultOf(t).IsError {
			t.Errorf("call with the arguments %s: answer %s; want a result without an error", args, m.messageJSON)
		}
	}
}

func TestMissingArgumentsAreEmptyObject(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.open(t, "a")
	for _, params := range []string{`{"name":"messages__echo"}`, `{"name":"messages__echo","arguments":null}`} {
		m := c.call(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
		if string(m.toolResultOf(t).Structured) != `{}` {
			t.Errorf("answer to the params %s = %s; want %q", params, m.messageJSON, `{}`)
		}
	}
}

func TestUnknownToolIsAProtocolError(t *testing.T) {
	for _, testCase := range []struct {
		mode       gateway.Mode
		name, want string
	}{
		{gateway.ListAllTools, "nope", `There is no tool "nope". List the tools (tools/list), then call again.`},
		{gateway.ListGatewayTools, "nope", `There is no tool "nope". Search for a tool (tools_search), then call again.`},
		{gateway.ListAllTools, "mesages__eco", `Similar names: messages__echo. Call one of those. List the tools (tools/list) if none of them fits.`},
		{gateway.ListGatewayTools, "messages_echo", `Similar names: messages__echo. Call one of those. Search for a tool (tools_search) if none of them fits.`},
	} {
		s := serveTools(t, callerFunc(echoArguments), Options{ListMode: listMode(testCase.mode)})
		m := s.open(t, "a").call(strings.Replace(callText("1", `{}`, `{}`), "messages__echo", testCase.name, 1))
		if m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, testCase.want) {
			t.Errorf("in list mode %s, a call of the unknown tool %s returns %s, want %s", testCase.mode, testCase.name, m.messageJSON, testCase.want)
		}
	}
}

func TestMalformedCallsAreProtocolErrors(t *testing.T) {
	s := serveTools(t, callerFunc(echoArguments), Options{})
	c := s.open(t, "a")
	p := s.dial(t)
	p.initialize("a")
	for body, code := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`:                   -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`:                           -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                       -32602,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`:                         -32602,
		`{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"messages__echo"}}`:   -32600,
		`{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"messages__echo"}}`: -32600,
	} {
		if m := c.call(body); m.Error == nil || m.Error.Code != code {
			t.Errorf("answer over HTTP to %s = %s; want the JSON-RPC error %d", body, m.messageJSON, code)
		}
		p.sendMessage(body)
		if m := p.mustReadMessage(); m.Error == nil || m.Error.Code != code {
			t.Errorf("answer over stdio to %s = %s; want the JSON-RPC error %d", body, m.messageJSON, code)
		}
	}
}

func TestUnknownErrorHidesDetails(t *testing.T) {
	s := serveTools(t, callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, errors.New("secret path /home/x")
	}), Options{})
	m := s.open(t, "a").call(callText("1", `{}`, `{}`))
	if strings.Contains(m.messageJSON, "secret") || !m.toolResultOf(t).IsError || !strings.Contains(m.messageJSON, `"code":"internal"`) {
		t.Error(m.messageJSON)
	}
}

func TestPanicFailsOnlyOneCall(t *testing.T) {
	s := newServer(t, callerFunc(func(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
		if strings.Contains(string(c.Args), "boom") {
			panic("boom")
		}
		return dispatch.Result{Output: c.Args}, nil
	}), Options{})
	p := s.dial(t)
	p.initialize("a")
	p.sendMessage(callText("1", `{"boom":1}`, `{}`))
	if m := p.mustReadMessage(); !m.toolResultOf(t).IsError {
		t.Error(m.messageJSON)
	}
	p.sendMessage(callText("2", `{}`, `{}`))
	if m := p.mustReadMessage(); m.toolResultOf(t).IsError {
		t.Error(m.messageJSON)
	}
}

func TestErrorReplyHasDetails(t *testing.T) {
	retryAfter := 1500.0
	s := serveTools(t, callerFunc(func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{}, &dispatch.Error{
			Code: wire.ErrToolError, Message: "messages__echo failed: no <luck>. Retry it.", CallID: "call_7", Retryable: true,
			RunTime: 1234567 * 1000, ReportCount: 3, SinceLastReport: 5e6, StopOutcome: wire.CancelAborted,
			ToolError: &wire.ToolErrorInfo{Code: "LUCK", Category: "rate_limit", Retryable: true, RetryAfterMs: &retryAfter},
		}
	}), Options{})
	m := s.open(t, "a").call(callText("1", `{}`, `{}`))
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"messages__echo failed: no <luck>. Retry it."}],"isError":true,` +
		`"_meta":{"opentabs/error":{"code":"tool_error","retryable":true,"call_id":"call_7","ran_ms":1234.567,"reports":3,"since_report_ms":5,` +
		`"stopped":"aborted","tool":{"code":"LUCK","category":"rate_limit","retryable":true,"retryAfterMs":1500}}}}}`
	if m.messageJSON != want {
		t.Errorf("answer = %s\nwant\n%s", m.messageJSON, want)
	}
}
