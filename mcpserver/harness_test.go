package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

// callerFunc is a function that implements Caller by running each call.
type callerFunc func(ctx context.Context, c dispatch.Call) (dispatch.Result, error)

var _ Caller = callerFunc(nil)

// Call runs the function and validates its output against the tool's output schema, as the
// dispatcher does.
func (f callerFunc) Call(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
	callResult, err := f(ctx, c)
	if err == nil && c.Tool.Output != nil {
		if e := c.Tool.Output.CheckOutput(callResult.Output); e != nil {
			return dispatch.Result{}, &dispatch.Error{Code: e.Code, CallID: callResult.CallID, Message: fmt.Sprintf("failed: %s (%s).\n%s", e.Message, e.Code, e.PageText)}
		}
	}
	return callResult, err
}

// Decide rejects each decision, because a callerFunc has no suspended calls.
func (callerFunc) Decide(string, string, dispatch.Resolution) (dispatch.DecisionResult, error) {
	return dispatch.DecisionResult{Outcome: wire.DecisionNotPending}, nil
}

// SendReminder does nothing, because a callerFunc has no suspended calls.
func (callerFunc) SendReminder(dispatch.WaitingTicket, string) {}

func echoArguments(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
	return dispatch.Result{CallID: "call_1", Output: c.Args}, nil
}

func callerReturning(output string) callerFunc {
	return func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{CallID: "call_1", Output: json.RawMessage(output)}, nil
	}
}

type hangingCaller struct {
	callerFunc   // provides the method Decide
	startedCalls chan dispatch.Call
	callErrors   chan error // the cause of the call's context
}

func newHangingCaller() *hangingCaller {
	return &hangingCaller{startedCalls: make(chan dispatch.Call, 1000), callErrors: make(chan error, 1000)}
}

func (h *hangingCaller) Call(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
	h.startedCalls <- c
	<-ctx.Done()
	h.callErrors <- context.Cause(ctx)
	return dispatch.Result{}, &dispatch.Error{Code: wire.ErrCancelled, Message: "cancelled by the client"}
}

type testServer struct {
	*Server
	url   string
	store *plugin.Store
	reg   *plugin.Registry
}

func newServer(t testing.TB, c Caller, o Options, packages ...plugintest.Package) *testServer {
	t.Helper()
	if packages == nil {
		packages = []plugintest.Package{{}}
	}
	reg, store := plugintest.Registry(t, packages...)
	return &testServer{Server: New(c, reg, o), reg: reg, store: store}
}

func serveTools(t testing.TB, c Caller, o Options, packages ...plugintest.Package) *testServer {
	t.Helper()
	return startTestServer(t, newServer(t, c, o, packages...))
}

func serveRegistry(t testing.TB, registry *plugin.Registry, o Options) *testServer {
	t.Helper()
	return startTestServer(t, &testServer{Server: New(callerFunc(echoArguments), registry, o), reg: registry})
}

func startTestServer(t testing.TB, s *testServer) *testServer {
	ts := httptest.NewServer(s.Handler())
	s.url = ts.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // a cancelled ctx makes Shutdown cancel running calls at once
		_ = s.Shutdown(ctx)
		ts.Close()
	})
	return s
}

type client struct {
	t       testing.TB
	url     string
	http    *http.Client
	session string
	version string
	headers http.Header
}

func (s *testServer) sessionlessClient(t testing.TB) *client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &client{t: t, url: s.url, http: &http.Client{Transport: tr}, headers: http.Header{}}
}

func (s *testServer) open(t testing.TB, name string) *client {
	t.Helper()
	return s.openWithInitialize(t, initializeText(name))
}

func (s *testServer) openWithInitialize(t testing.TB, initialize string) *client {
	t.Helper()
	c := s.sessionlessClient(t)
	res := c.postRequest(context.Background(), initialize)
	readMessages(t, res)
	c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	if c.session == "" {
		t.Fatal("the response to initialize has no session ID; want one")
	}
	res = c.postRequest(context.Background(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	readMessages(t, res)
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("notifications/initialized: status %s; want 202", res.Status)
	}
	return c
}

func initializeText(name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":%q,"version":"1.2"}}}`, name)
}

func (c *client) newRequest(ctx context.Context, method, requestBody string) *http.Request {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(requestBody))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.version != "" {
		r.Header.Set("Mcp-Protocol-Version", c.version)
	}
	for k, v := range c.headers {
		r.Header[k] = v
	}
	return r
}

// The caller of postRequest must read the response.
func (c *client) postRequest(ctx context.Context, requestBody string) *http.Response {
	c.t.Helper()
	return c.do(c.newRequest(ctx, http.MethodPost, requestBody))
}

func (c *client) do(r *http.Request) *http.Response {
	c.t.Helper()
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

func (c *client) requestAndRead(requestBody string) []receivedMessage {
	c.t.Helper()
	return readMessages(c.t, c.postRequest(context.Background(), requestBody))
}

func (c *client) call(requestBody string) receivedMessage {
	c.t.Helper()
	allMessages := c.requestAndRead(requestBody)
	if len(allMessages) != 1 {
		c.t.Fatalf("%d messages answer the request, want 1: %s", len(allMessages), requestBody)
	}
	return allMessages[0]
}

func callText(id, args, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"messages__echo","arguments":%s,"_meta":%s}}`, id, args, meta)
}

func newCancelMessage(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

type receivedMessage struct {
	messageJSON string
	ID          json.RawMessage `json:"id"`
	Method      string          `json:"method"`
	Params      struct {
		Token    json.RawMessage   `json:"progressToken"`
		Progress float64           `json:"progress"`
		Total    *float64          `json:"total"`
		Message  string            `json:"message"`
		Meta     map[string]string `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type toolResult struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage            `json:"structuredContent"`
	IsError    bool                       `json:"isError"`
	Meta       map[string]json.RawMessage `json:"_meta"`
	ResultType string                     `json:"resultType"`
}

func parseMessage(t testing.TB, messageText string) receivedMessage {
	t.Helper()
	r := receivedMessage{messageJSON: messageText}
	if err := json.Unmarshal([]byte(messageText), &r); err != nil {
		t.Errorf("decoding a message failed: %v; want JSON:\n%.300s", err, messageText)
	}
	return r
}

func (r receivedMessage) toolResultOf(t testing.TB) toolResult {
	t.Helper()
	var res toolResult
	if r.Result == nil {
		t.Fatalf("answer = %.300s; want a result", r.messageJSON)
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		t.Fatal(err)
	}
	return res
}

func readMessages(t testing.TB, res *http.Response) []receivedMessage {
	t.Helper()
	defer res.Body.Close()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Errorf("reading the response failed: %v; want no error", err)
		}
		if len(bytes.TrimSpace(b)) == 0 {
			return nil
		}
		return []receivedMessage{parseMessage(t, string(b))}
	}
	var allMessages []receivedMessage
	events := newEvents(res.Body)
	for {
		eventData, ok := events.readEventData()
		if !ok {
			return allMessages
		}
		allMessages = append(allMessages, parseMessage(t, eventData))
	}
}

type events struct {
	r        *bufio.Reader
	comments int
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReader(r)} }

func (e *events) readEventData() (string, bool) {
	var eventData string
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return "", false
		}
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" && eventData != "":
			return eventData, true
		case strings.HasPrefix(line, ":"):
			e.comments++
		case strings.HasPrefix(line, "data: "):
			eventData = line[len("data: "):]
		}
	}
}

type stdioPeer struct {
	t            testing.TB
	in           io.WriteCloser
	stdoutReader *bufio.Reader
	done         chan error // the error that ServeStdio returned
}

func (s *testServer) dial(t testing.TB) *stdioPeer {
	t.Helper()
	inR, inW := systemPipe(t)
	outReader, outWriter := systemPipe(t)
	p := &stdioPeer{t: t, in: inW, stdoutReader: bufio.NewReader(outReader), done: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(t.Context(), inR, outWriter)
		outWriter.Close()
		p.done <- err
	}()
	t.Cleanup(func() { inW.Close() })
	return p
}

func systemPipe(t testing.TB) (*os.File, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

func (p *stdioPeer) sendMessage(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// readNext answers pings from the server, and returns the next other message, or false at the end of the stream.
func (p *stdioPeer) readNext() (receivedMessage, bool) {
	p.t.Helper()
	for {
		line, err := p.stdoutReader.ReadString('\n')
		if err != nil {
			return receivedMessage{}, false
		}
		m := parseMessage(p.t, strings.TrimRight(line, " \n"))
		if m.Method != "ping" {
			return m, true
		}
		_, _ = fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID) // the write fails if the test has closed the pipe
	}
}

func (p *stdioPeer) mustReadMessage() receivedMessage {
	p.t.Helper()
	m, ok := p.readNext()
	if !ok {
		p.t.Fatal("the server has closed the stream; want a message")
	}
	return m
}

// The method initialize returns when the server has handled both initialization messages and notifies the client
// of changes.
func (p *stdioPeer) initialize(name string) {
	p.t.Helper()
	p.sendMessage(initializeText(name), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":"ready","method":"ping"}`)
	for range 2 {
		if m := p.mustReadMessage(); m.Error != nil {
			p.t.Fatal(m.messageJSON)
		}
	}
}

func (p *stdioPeer) closeAndReadAll() []receivedMessage {
	p.t.Helper()
	p.in.Close()
	var allMessages []receivedMessage
	for {
		m, ok := p.readNext()
		if !ok {
			return allMessages
		}
		allMessages = append(allMessages, m)
	}
}

func (s *testServer) add(t testing.TB, name string) {
	t.Helper()
	if _, err := s.store.Add(plugintest.Package{Name: name}.Write(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.reg.Reload(); err != nil {
		t.Fatal(err)
	}
}

func serveRequest(t testing.TB, s *Server, q transport.Request) reply {
	t.Helper()
	r, ok := s.Serve(t.Context(), q).(reply)
	if !ok {
		t.Fatal("Serve returned a reply of another package; want a reply of package mcpserver")
	}
	return r
}

func decodeParams(paramsJSON json.RawMessage) (p transport.Params, err error) {
	err = json.Unmarshal(paramsJSON, &p)
	return p, err
}

type subscriber struct {
	*transport.Subscriber
	resources     *resources
	updatesSignal chan struct{}
}

func newSubscriber(r *resources) *subscriber {
	updates := make(chan struct{}, 1)
	return &subscriber{transport.NewSubscriber(updates), r, updates}
}

func (s *subscriber) subscribe(uri string) error { return s.resources.Subscribe(s.Subscriber, uri) }

func (s *subscriber) awaitChangedURIs(ctx context.Context) []string {
	select {
	case <-s.updatesSignal:
		return s.PopChangedURIs()
	case <-ctx.Done():
		return nil
	}
}
