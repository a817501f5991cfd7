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
	result, err := f(ctx, c)
	if err == nil && c.Tool.Output != nil {
		if e := c.Tool.Output.CheckOutput(result.Output); e != nil {
			return dispatch.Result{}, &dispatch.Error{Code: e.Code, CallID: result.CallID, Message: fmt.Sprintf("failed: %s (%s).\n%s", e.Message, e.Code, e.PageText)}
		}
	}
	return result, err
}

// Decide rejects each decision, because a callerFunc has no suspended calls.
func (callerFunc) Decide(string, string, dispatch.Resolution) (dispatch.DecisionResult, error) {
	return dispatch.DecisionResult{Outcome: wire.DecisionNotPending}, nil
}

// Remind does nothing, because a callerFunc has no suspended calls.
func (callerFunc) Remind(dispatch.WaitingTicket, string) {}

// echoArguments is a test tool that returns its arguments as its result.
func echoArguments(_ context.Context, c dispatch.Call) (dispatch.Result, error) {
	return dispatch.Result{CallID: "call_1", Output: c.Args}, nil
}

// returnOutput returns a Caller that answers every call with the given output.
func returnOutput(output string) callerFunc {
	return func(context.Context, dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{CallID: "call_1", Output: json.RawMessage(output)}, nil
	}
}

// hangingCaller is a Caller whose calls end only when they are cancelled.
type hangingCaller struct {
	callerFunc // provides the method Decide
	started    chan dispatch.Call
	ended      chan error // the cause of the call's context
}

func newHangingCaller() *hangingCaller {
	return &hangingCaller{started: make(chan dispatch.Call, 1000), ended: make(chan error, 1000)}
}

func (h *hangingCaller) Call(ctx context.Context, c dispatch.Call) (dispatch.Result, error) {
	h.started <- c
	<-ctx.Done()
	h.ended <- context.Cause(ctx)
	return dispatch.Result{}, &dispatch.Error{Code: wire.ErrCancelled, Message: "cancelled by the client"}
}

// testServer is a server that listens on loopback.
type testServer struct {
	*Server
	url   string
	store *plugin.Store
	reg   *plugin.Registry
}

// newServer returns a server with the plugins in packages.
func newServer(t testing.TB, c Caller, o Options, packages ...plugintest.Package) *testServer {
	t.Helper()
	if packages == nil {
		packages = []plugintest.Package{{}}
	}
	reg, store := plugintest.Registry(t, packages...)
	return &testServer{Server: New(c, reg, o), reg: reg, store: store}
}

// serveTools starts a test server whose plugins are the given packages. The server
// listens until the test ends.
func serveTools(t testing.TB, c Caller, o Options, packages ...plugintest.Package) *testServer {
	t.Helper()
	return listenFor(t, newServer(t, c, o, packages...))
}

// serveRegistry returns a test server that offers the plugins of a registry. The server
// listens until the test ends. When a client calls a tool of the registry, the test
// server returns the call's arguments.
func serveRegistry(t testing.TB, registry *plugin.Registry, o Options) *testServer {
	t.Helper()
	return listenFor(t, &testServer{Server: New(callerFunc(echoArguments), registry, o), reg: registry})
}

func listenFor(t testing.TB, s *testServer) *testServer {
	ts := httptest.NewServer(s.Handler())
	s.url = ts.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // cancels running calls at once
		_ = s.Shutdown(ctx)
		ts.Close()
	})
	return s
}

// client is a plain HTTP client that speaks MCP.
type client struct {
	t       testing.TB
	url     string
	http    *http.Client
	session string
	version string
	headers http.Header
}

// sessionlessClient returns an HTTP client that sends no MCP session ID.
func (s *testServer) sessionlessClient(t testing.TB) *client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &client{t: t, url: s.url, http: &http.Client{Transport: tr}, headers: http.Header{}}
}

// open returns a client with a new MCP session. In the initialize request, the client sends
// the argument name as its name.
func (s *testServer) open(t testing.TB, name string) *client {
	t.Helper()
	return s.openWith(t, initializeText(name))
}

// openWith returns a client with a session that the given initialize request starts.
func (s *testServer) openWith(t testing.TB, initialize string) *client {
	t.Helper()
	c := s.sessionlessClient(t)
	res := c.post(context.Background(), initialize)
	readMessages(t, res)
	c.session, c.version = res.Header.Get("Mcp-Session-Id"), "2025-11-25"
	if c.session == "" {
		t.Fatal("initialize gave no session")
	}
	res = c.post(context.Background(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	readMessages(t, res)
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("the notification initialized got the status %s", res.Status)
	}
	return c
}

func initializeText(name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":%q,"version":"1.2"}}}`, name)
}

// request returns an HTTP request with the client's headers.
func (c *client) request(ctx context.Context, method, body string) *http.Request {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
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

// post sends one message. The caller of post must read the response.
func (c *client) post(ctx context.Context, body string) *http.Response {
	c.t.Helper()
	return c.do(c.request(ctx, http.MethodPost, body))
}

func (c *client) do(r *http.Request) *http.Response {
	c.t.Helper()
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return res
}

// requestAndRead posts one message and returns all messages of the response.
func (c *client) requestAndRead(body string) []receivedMessage {
	c.t.Helper()
	return readMessages(c.t, c.post(context.Background(), body))
}

// answer posts one message to the server, and returns the only message of the server's
// HTTP response.
func (c *client) answer(body string) receivedMessage {
	c.t.Helper()
	all := c.requestAndRead(body)
	if len(all) != 1 {
		c.t.Fatalf("%d messages, want one: %s", len(all), body)
	}
	return all[0]
}

// callText returns a tools/call of messages__echo.
func callText(id, args, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"messages__echo","arguments":%s,"_meta":%s}}`, id, args, meta)
}

func cancelText(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

// receivedMessage is one message as a client sees it.
type receivedMessage struct {
	text   string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
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

// toolResult is the result of a tools/call.
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

func parseReceived(t testing.TB, text string) receivedMessage {
	t.Helper()
	r := receivedMessage{text: text}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Errorf("the text is not a message: %v\n%.300s", err, text)
	}
	return r
}

// toolResultOf decodes the result of a tools/call.
func (r receivedMessage) toolResultOf(t testing.TB) toolResult {
	t.Helper()
	var res toolResult
	if r.Result == nil {
		t.Fatalf("the answer has no result: %.300s", r.text)
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		t.Fatal(err)
	}
	return res
}

// readMessages reads a whole HTTP response, either JSON or server-sent events.
func readMessages(t testing.TB, res *http.Response) []receivedMessage {
	t.Helper()
	defer res.Body.Close()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Errorf("the response cannot be read: %v", err)
		}
		if len(bytes.TrimSpace(b)) == 0 {
			return nil
		}
		return []receivedMessage{parseReceived(t, string(b))}
	}
	var all []receivedMessage
	events := newEvents(res.Body)
	for {
		data, ok := events.nextData()
		if !ok {
			return all
		}
		all = append(all, parseReceived(t, data))
	}
}

// events reads server-sent events from a response body.
type events struct {
	r        *bufio.Reader
	comments int
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReader(r)} }

// nextData returns the data of the next event, or false at the end of the stream.
func (e *events) nextData() (string, bool) {
	var data string
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return "", false
		}
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" && data != "":
			return data, true
		case strings.HasPrefix(line, ":"):
			e.comments++
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		}
	}
}

// stdioPeer is a client at the other end of ServeStdio's streams.
type stdioPeer struct {
	t    testing.TB
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error // the error that ServeStdio returned
}

// dial runs ServeStdio over system pipes until the test ends.
func (s *testServer) dial(t testing.TB) *stdioPeer {
	t.Helper()
	inR, inW := systemPipe(t)
	outR, outW := systemPipe(t)
	p := &stdioPeer{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(t.Context(), inR, outW)
		outW.Close()
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

// send writes lines to the server in one chunk.
func (p *stdioPeer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// readNext returns the next message from the server, or false at the end of the stream.
// Like a real client, readNext answers pings from the server.
func (p *stdioPeer) readNext() (receivedMessage, bool) {
	p.t.Helper()
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			return receivedMessage{}, false
		}
		m := parseReceived(p.t, strings.TrimRight(line, " \n"))
		if m.Method != "ping" {
			return m, true
		}
		_, _ = fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID) // the write fails if the test has closed the pipe
	}
}

// mustRead returns the next message, and fails the test if the stream has ended.
func (p *stdioPeer) mustRead() receivedMessage {
	p.t.Helper()
	m, ok := p.readNext()
	if !ok {
		p.t.Fatal("the server has closed the stream")
	}
	return m
}

// initialize sends the messages with which an MCP client starts a session. When initialize
// returns, the server has handled both initialization messages, and the server notifies the
// client of changes from then on.
func (p *stdioPeer) initialize(name string) {
	p.t.Helper()
	p.send(initializeText(name), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":"ready","method":"ping"}`)
	for range 2 {
		if m := p.mustRead(); m.Error != nil {
			p.t.Fatal(m.text)
		}
	}
}

// closeAndReadAll closes the client's end and returns all remaining messages.
func (p *stdioPeer) closeAndReadAll() []receivedMessage {
	p.t.Helper()
	p.in.Close()
	var all []receivedMessage
	for {
		m, ok := p.readNext()
		if !ok {
			return all
		}
		all = append(all, m)
	}
}

// add writes a plugin with the given name, installs it in the test server and reloads the
// plugin registry.
func (s *testServer) add(t testing.TB, name string) {
	t.Helper()
	if _, err := s.store.Add(plugintest.Package{Name: name}.Write(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.reg.Reload(); err != nil {
		t.Fatal(err)
	}
}

// serveRequest passes a request directly to the MCP server, without HTTP or stdio, and
// returns the reply.
func serveRequest(t testing.TB, s *Server, q transport.Request) reply {
	t.Helper()
	r, ok := s.Serve(t.Context(), q).(reply)
	if !ok {
		t.Fatal("Serve returned a reply of another package")
	}
	return r
}

// paramsOf parses the parameters of a request.
func paramsOf(text json.RawMessage) (p transport.Params, err error) {
	err = json.Unmarshal(text, &p)
	return p, err
}

// subscriber is a test client that can subscribe to MCP resources.
type subscriber struct {
	*transport.Subscriber
	resources     *resources
	updatesSignal chan struct{}
}

func newSubscriber(r *resources) *subscriber {
	news := make(chan struct{}, 1)
	return &subscriber{transport.NewSubscriber(news), r, news}
}

func (s *subscriber) subscribe(uri string) error { return s.resources.Subscribe(s.Subscriber, uri) }

// next waits until subscribed resources have changed, and returns their URIs. If ctx ends
// before a resource has changed, next returns no URIs.
func (s *subscriber) next(ctx context.Context) []string {
	select {
	case <-s.updatesSignal:
		return s.PopChanged()
	case <-ctx.Done():
		return nil
	}
}
