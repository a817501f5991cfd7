package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/dispatch/joblist"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

// The word JOB in the arguments is replaced with the ID of the last job.
type featureTestCall struct{ name, arguments string }

type featureTest struct {
	calls []featureTestCall
	// The field decision is the user's answer to each form, or empty if the client does not
	// support forms.
	decision             string
	cancelAfter          time.Duration
	expectedGatewayExtra string
	want                 string
}

const countSchema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`

func newFeaturePackage() plugintest.Package {
	isReadOnly := true
	echoTool := func(name string) plugintest.Tool { return plugintest.Tool{Name: name, Description: "A tool."} }
	count, invalidResultTool, send := echoTool("count"), echoTool("wrong"), echoTool("send")
	count.Output, invalidResultTool.Output = json.RawMessage(countSchema), json.RawMessage(countSchema)
	count.Annotations = &plugin.Annotations{ReadOnly: &isReadOnly}
	send.Input = json.RawMessage(countSchema)
	return plugintest.Package{Name: "site", Tools: []plugintest.Tool{
		count, invalidResultTool, send, echoTool("echo"), echoTool("picture"), echoTool("text"), echoTool("nothing"), echoTool("fail"), echoTool("hang"), echoTool("flood"),
		echoTool("asks"), echoTool("login"), echoTool("nested"), echoTool("limited"), echoTool("slow"),
	}}
}

const schemaHint = "\nThe schema of the arguments of "

var featureTests = map[string]featureTest{
	"progress":                     {calls: []featureTestCall{{"site__count", `{}`}}, want: `"progressToken":"p","progress":3,"total":3,"message":"page 3"`},
	"big numbers":                  {calls: []featureTestCall{{"site__echo", `{"big":12345678901234567890,"q":"\u003c<"}`}}, want: `{"big":12345678901234567890,"q":"\u003c<"}`},
	"tab and browser":              {calls: []featureTestCall{{"site__echo", `{"tabId":7,"browser":"b1","a":1}`}}, want: `"structuredContent":{"a":1}`},
	"unknown tab":                  {calls: []featureTestCall{{"site__echo", `{"tabId":8}`}}, want: `no_tab`},
	"wrong tab":                    {calls: []featureTestCall{{"site__echo", `{"tabId":"x"}`}}, want: `The argument \"tabId\" is`, expectedGatewayExtra: schemaHint + "site__echo: " + `{"type":"object"}`},
	"wrong arguments":              {calls: []featureTestCall{{"site__send", `{"n":"x","m":1}`}}, want: `invalid_arguments`, expectedGatewayExtra: schemaHint + "site__send: " + countSchema},
	"image":                        {calls: []featureTestCall{{"site__picture", `{}`}}, want: `"type":"image"`},
	"text":                         {calls: []featureTestCall{{"site__text", `{}`}}, want: `"text":"a \u003ctext\u003e"`},
	"no result":                    {calls: []featureTestCall{{"site__nothing", `{}`}}, want: `"content":[`},
	"error of the tool":            {calls: []featureTestCall{{"site__fail", `{}`}}, want: `"isError":true`},
	"wrong result":                 {calls: []featureTestCall{{"site__wrong", `{}`}}, want: `"isError":true`},
	"idle limit":                   {calls: []featureTestCall{{"site__hang", `{}`}}, want: `"code":"idle_timeout"`},
	"many progress reports":        {calls: []featureTestCall{{"site__flood", `{}`}}, want: `"progress":300`},
	"cancellation":                 {calls: []featureTestCall{{"site__hang", `{}`}}, cancelAfter: 5 * time.Second},
	"rate limit":                   {calls: []featureTestCall{{"site__limited", `{}`}, {"site__limited", `{}`}}, want: `"code":"rate_limited"`},
	"approval":                     {calls: []featureTestCall{{"site__asks", `{"a":1}`}}, decision: "allow once", want: `May site__asks run`},
	"denial":                       {calls: []featureTestCall{{"site__asks", `{"a":1}`}}, decision: "deny", want: `"code":"denied"`},
	"no forms":                     {calls: []featureTestCall{{"site__asks", `{"a":1}`}}, want: `"code":"approval_timeout"`},
	"tool that waits for the user": {calls: []featureTestCall{{"site__login", `{}`}}, decision: "allow once", want: `site__login is waiting for you`},
	"nested call":                  {calls: []featureTestCall{{"site__nested", `{}`}}, want: `"structuredContent":{"inner":1}`},
	"nested approval":              {calls: []featureTestCall{{"site__nested", `{"tool":"asks"}`}}, decision: "allow once", want: `May site__asks run`},
	"job":                          {calls: []featureTestCall{{"site__slow", `{"_detach":4.5}`}, {"job_list", `{}`}, {"job_wait", `{"job":"JOB"}`}}, want: `"structuredContent":{"n":30}`},
	"cancelled job":                {calls: []featureTestCall{{"site__slow", `{"_detach":4.5}`}, {"job_cancel", `{"job":"JOB","reason":"enough"}`}}, want: `"status":"cancelled"`},
	"tabs of plugins":              {calls: []featureTestCall{{"plugin_list_tabs", `{}`}}, want: `"tabId":7`},
	"wrong job":                    {calls: []featureTestCall{{"job_wait", `{"job":1}`}}, want: `The arguments of job_wait do not match`, expectedGatewayExtra: schemaHint + "job_wait: " + jobWaitSchema},
}

// Direct and gateway calls must produce the same MCP messages, call records and gate inputs.
func TestGatewayFeaturesMatchDirectCalls(t *testing.T) {
	registry, _ := plugintest.Registry(t, newFeaturePackage())
	for name, f := range featureTests {
		for _, transportName := range []string{"HTTP", "stdio"} {
			directResult := runFeatureTest(t, registry, f, transportName, "")
			if f.want != "" && !strings.Contains(directResult, f.want) {
				t.Errorf("%s over %s: want the text %s in the messages:\n%s", name, transportName, f.want, directResult)
			}
			for _, tool := range []string{toolsCall, toolsRead} {
				if tool == toolsRead && name != "progress" && name != "tabs of plugins" {
					continue // tools_read calls only read-only tools, which only these two features use
				}
				gatewayResult := runFeatureTest(t, registry, f, transportName, tool)
				if f.expectedGatewayExtra != "" {
					escapedText := strings.Trim(string(mustEncode(t, f.expectedGatewayExtra)), `"`)
					if !strings.Contains(gatewayResult, escapedText) {
						t.Errorf("%s over %s: the answer through %s lacks the wanted text %s", name, transportName, tool, escapedText)
					}
					gatewayResult = strings.ReplaceAll(gatewayResult, escapedText, "")
				}
				directCallLine, line := firstDifference(directResult, gatewayResult)
				if directCallLine != line {
					t.Errorf("%s over %s: the first line that differs is\n%s\nin a direct call, and through %s\n%s; want equal lines", name, transportName, directCallLine, tool, line)
				}
			}
		}
	}
}

func firstDifference(a, b string) (firstLine, secondLine string) {
	linesOfA, linesOfB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(linesOfA), len(linesOfB)) {
		firstLine, secondLine = "(no line)", "(no line)"
		if i < len(linesOfA) {
			firstLine = linesOfA[i]
		}
		if i < len(linesOfB) {
			secondLine = linesOfB[i]
		}
		if firstLine != secondLine {
			break
		}
	}
	return firstLine, secondLine
}

func mustEncode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// randomIDs matches IDs that differ in each test run: those of calls, tickets, forms and
// sessions.
var randomIDs = regexp.MustCompile(`\b(call_|ticket_|opentabs-)?[a-z0-9]{26}\b|session-[0-9a-f]{12}`)

// runFeatureTest makes the calls of a tested feature in fake time, through the named gateway tool or directly if tool is
// empty.
func runFeatureTest(t *testing.T, registry *plugin.Registry, f featureTest, transportName, tool string) (callReport string) {
	synctest.Test(t, func(t *testing.T) {
		recorder := &callRecorder{t: t}
		d := dispatch.New(newFeatureTestBridge(t), dispatch.Options{
			Gates: []dispatch.Gate{recorder}, AfterHooks: []dispatch.AfterHook{recorder}, SuspendLimit: 40 * time.Second,
			ResolveTool: func(_ dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
				return dispatch.Tool{Plugin: "site", Name: name}, args, nil
			},
		})
		s := New(d, registry, Options{
			Jobs: joblist.New(d, joblist.Options{}), Detach: fixedDetachPolicy(DetachPolicy{After: 10 * time.Minute}), CallWatcher: d,
			Tabs: func(string) dispatch.Targets {
				return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{dispatchtest.DefaultTarget}}
			},
		})
		p := newFeatureClient(t, s, transportName, f.decision)
		job := ""
		for i, c := range f.calls {
			requestJSON := newToolCallMessage(c.name, strings.ReplaceAll(c.arguments, "JOB", job), progressTokenMeta)
			if tool != "" {
				requestJSON = metaVersion(t, requestJSON, tool)
			}
			cancelAfter := f.cancelAfter
			if i < len(f.calls)-1 {
				cancelAfter = 0
			}
			result := p.call(requestJSON, cancelAfter)
			if job == "" {
				job = callIDs.FindString(result)
			}
			callReport += result
		}
		d.Shutdown()
		synctest.Wait()
		time.Sleep(time.Second) // let the AfterHooks of the calls run
		recorder.mu.Lock()
		callReport += strings.Join(recorder.lines, "\n") + "\n"
		recorder.mu.Unlock()
		for _, v := range d.Calls() {
			callReport += string(mustEncode(t, v)) + "\n"
		}
		p.close()
		time.Sleep(time.Minute) // let the tools that still run in the page end
	})
	return randomIDs.ReplaceAllString(callReport, "ID")
}

// callRecorder is a gate and after hook that records its inputs.
type callRecorder struct {
	t *testing.T

	mu               sync.Mutex // the mutex guards all fields below
	lines            []string
	limitedCallCount int
}

func (*callRecorder) Name() string { return "recorder" }

func (r *callRecorder) Decide(i dispatch.CallInfo) dispatch.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, "gate "+string(mustEncode(r.t, i)))
	switch i.Tool.Name {
	case "asks":
		return alwaysAskGate{}.Decide(i)
	case "limited":
		if r.limitedCallCount++; r.limitedCallCount > 1 {
			return dispatch.NewBlockVerdict(wire.ErrRateLimited, "at most one call", "")
		}
	}
	return dispatch.Verdict{}
}

func (r *callRecorder) AfterCall(i dispatch.CallInfo, endedCall dispatch.EndedCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, "after "+string(mustEncode(r.t, i))+string(mustEncode(r.t, endedCall)))
}

func newFeatureTestBridge(t *testing.T) *dispatchtest.Bridge {
	var mu sync.Mutex
	sinksByAskingRun := map[string]dispatch.Sink{}
	return &dispatchtest.Bridge{
		StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
			sendToolAsk := func(params wire.ToolAskParams) {
				mu.Lock()
				defer mu.Unlock()
				params.Ask, sinksByAskingRun[toolRun.ID] = 1, sink
				go sink.Ask(params)
			}
			switch toolRun.Tool {
			case "login":
				sendToolAsk(wire.ToolAskParams{User: &wire.AskUser{Reason: "Log in.", Title: "Login"}})
			case "nested":
				nestedTool := "echo"
				if strings.Contains(string(toolRun.Args), "asks") {
					nestedTool = "asks"
				}
				sendToolAsk(wire.ToolAskParams{Call: &wire.AskCall{Tool: nestedTool, Args: json.RawMessage(`{"inner":1}`)}})
			default:
				go runFeatureTool(t, toolRun, sink)
			}
			return nil
		},
		AnswerFunc: func(id string, _ int, toolOutput json.RawMessage, err *wire.CallError) {
			mu.Lock()
			defer mu.Unlock()
			go sinksByAskingRun[id].Finish(toolOutput, err)
		},
	}
}

func runFeatureTool(t *testing.T, toolRun dispatch.Run, sink dispatch.Sink) {
	switch toolRun.Tool {
	case "count":
		newCountingTool(3, `{"n":3}`)(sink)
	case "slow":
		newCountingTool(30, `{"n":30}`)(sink)
	case "flood":
		for i := range 300 {
			<-time.After(7300 * time.Microsecond)
			progressDone := float64(i + 1)
			sink.Reports([]wire.Report{{Progress: &progressDone}}, 0)
		}
		sink.Finish(json.RawMessage(`{}`), nil)
	case "wrong":
		sink.Finish(json.RawMessage(`{"n":"three"}`), nil)
	case "picture":
		sink.Finish(json.RawMessage(`{"picture":{"type":"image","data":"`+pngData+`","mimeType":"image/png"},"n":12345678901234567890}`), nil)
	case "text":
		sink.Finish(json.RawMessage(`"a \u003ctext\u003e"`), nil)
	case "nothing":
		sink.Finish(nil, nil)
	case "fail":
		sink.Finish(nil, &wire.CallError{Code: wire.ErrToolError, Message: "No channel.", Tool: &wire.ToolErrorInfo{Code: "NOT_FOUND"}})
	case "hang":
	case "echo", "asks", "limited":
		sink.Finish(toolRun.Args, nil)
	default:
		t.Errorf("the tool %s is unknown; want echo, asks or limited", toolRun.Tool)
	}
}

// featureClient is a test client in fake time that answers forms and pings.
type featureClient struct {
	t           *testing.T
	decision    string
	postRequest func(requestJSON string)
	messages    chan receivedMessage
	close       func()
}

// newFeatureClient connects a test client over HTTP or stdio.
func newFeatureClient(t *testing.T, s *Server, transportName, decision string) *featureClient {
	p := &featureClient{t: t, decision: decision, messages: make(chan receivedMessage, 10_000)}
	initialize := initializeText("a")
	if decision != "" {
		initialize = strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)
	}
	if transportName == "stdio" {
		p.connectStdio(s)
		p.postRequest(initialize)
		<-p.messages
		p.postRequest(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return p
	}
	p.connectHTTP(s, initialize)
	return p
}

func (p *featureClient) connectStdio(s *Server) {
	serverConn, clientConn := net.Pipe()
	callErrors := make(chan error)
	go func() { callErrors <- s.ServeStdio(p.t.Context(), serverConn, serverConn) }()
	go func() {
		lines := bufio.NewReader(clientConn)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				close(p.messages)
				return
			}
			p.messages <- parseMessage(p.t, strings.TrimRight(line, " \n"))
		}
	}()
	p.postRequest = func(requestJSON string) {
		if _, err := clientConn.Write([]byte(requestJSON + "\n")); err != nil {
			p.t.Error(err)
		}
	}
	p.close = func() {
		clientConn.Close()
		<-callErrors
		serverConn.Close()
		p.shutdown(s)
	}
}

func (p *featureClient) connectHTTP(s *Server, initialize string) {
	listener := newPipeListener()
	server := &http.Server{Handler: s.Handler()}
	callErrors := make(chan error)
	go func() { callErrors <- server.Serve(listener) }()
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return listener.dial(), nil }}
	c := &client{t: p.t, url: "http://127.0.0.1", http: &http.Client{Transport: tr}, headers: http.Header{}}
	res := c.postRequest(p.t.Context(), initialize)
	readMessages(p.t, res)
	c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	p.postRequest = func(requestJSON string) {
		go func() {
			res := c.postRequest(p.t.Context(), requestJSON)
			defer res.Body.Close()
			if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
				for _, m := range readMessages(p.t, res) {
					p.messages <- m
				}
				return
			}
			events := newEvents(res.Body)
			for eventData, ok := events.readEventData(); ok; eventData, ok = events.readEventData() {
				p.messages <- parseMessage(p.t, eventData)
			}
		}()
	}
	p.close = func() {
		p.shutdown(s)
		tr.CloseIdleConnections()
		server.Close()
		<-callErrors
	}
}

func (p *featureClient) shutdown(s *Server) {
	synctest.Wait()
	ctx, cancel := context.WithCancel(p.t.Context())
	cancel()
	_ = s.Shutdown(ctx)
}

const decisionDelay = time.Second

// Messages with equal times are sorted, because a form and its reminder may arrive in any order.
func (p *featureClient) call(requestJSON string, cancelAfter time.Duration) string {
	startTime := time.Now()
	p.postRequest(requestJSON)
	var cancelTime <-chan time.Time
	if cancelAfter > 0 {
		cancelTime = time.After(cancelAfter)
	}
	timeout := time.After(time.Hour)
	var lines []string
	for {
		select {
		case m := <-p.messages:
			if m.Method == "ping" {
				p.postRequest(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
				continue
			}
			lines = append(lines, fmt.Sprintf("%9s %s\n", time.Since(startTime), m.messageJSON))
			switch {
			case m.Method == methodElicit:
				action := fmt.Sprintf(`{"action":"accept","content":{"decision":%q}}`, p.decision)
				time.AfterFunc(decisionDelay, func() { p.postRequest(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, action)) })
			case string(m.ID) == "1":
				slices.Sort(lines)
				return strings.Join(lines, "")
			}
		case <-cancelTime:
			p.postRequest(newCancelMessage(`1`))
			timeout = time.After(time.Minute)
		case <-timeout:
			slices.Sort(lines)
			return strings.Join(lines, "")
		}
	}
}
