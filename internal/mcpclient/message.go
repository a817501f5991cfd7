package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/internal/sse"
)

// RPCError is a JSON-RPC error that the server has returned.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the server's error message.
func (e *RPCError) Error() string { return e.Message }

// statusError is an HTTP error response without a JSON-RPC message.
type statusError struct {
	Status int
	// ReasonText is the server's error message, truncated to 1,000 bytes.
	ReasonText string
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the server answered %d %s: %s", e.Status, http.StatusText(e.Status), e.ReasonText))
}

// rpcMessage is a JSON-RPC request, notification or response.
type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// pendingRequest is a request that the server has not answered yet.
type pendingRequest struct {
	client   *Client
	id       int64
	progress func(Progress)
	onData   func()
	forms    *openForms
}

// openForms are the server's forms that are shown during one request. Only the goroutine
// that sends the request uses cancelFuncs, so cancelFuncs needs no lock.
type openForms struct {
	cancelFuncs map[string]context.CancelFunc
	shownForms  sync.WaitGroup
}

func (f *openForms) closeAll() {
	for _, cancel := range f.cancelFuncs {
		cancel()
	}
	f.shownForms.Wait()
}

func (x pendingRequest) showForm(ctx context.Context, m rpcMessage) {
	formCtx, cancel := context.WithCancel(ctx)
	x.forms.cancelFuncs[string(m.ID)] = cancel
	x.forms.shownForms.Go(func() {
		defer cancel()
		x.client.options.ShowForm(formCtx, m.Params)
		if formCtx.Err() != nil {
			return
		}
		// If the report that the form was closed does not reach the server, the call
		// continues to wait for a decision in the side panel or a terminal.
		if body, err := encodeMessage(rpcMessage{ID: m.ID, Result: json.RawMessage(`{"action":"cancel"}`)}, nil); err == nil {
			_ = x.client.post(formCtx, body)
		}
	})
}

func (x pendingRequest) cancelForm(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if cancel := x.forms.cancelFuncs[string(p.RequestID)]; cancel != nil {
		cancel()
	}
}

// notifyingReader calls onData after each read. The function onData resets the silence timer.
type notifyingReader struct {
	r      io.Reader
	onData func()
}

func (l notifyingReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.onData()
	return n, err
}

func (c *Client) request(ctx context.Context, method string, params any, progress func(Progress), result any) error {
	x := pendingRequest{client: c, id: c.lastID.Add(1), progress: progress, forms: &openForms{cancelFuncs: map[string]context.CancelFunc{}}}
	defer x.forms.closeAll()
	if progress != nil {
		if paramMap, ok := params.(map[string]any); ok {
			meta, _ := paramMap["_meta"].(map[string]any)
			if meta == nil {
				meta = map[string]any{}
				paramMap["_meta"] = meta
			}
			meta["progressToken"] = x.id
		}
	}
	body, err := encodeMessage(rpcMessage{ID: fmt.Appendf(nil, "%d", x.id), Method: method}, params)
	if err != nil {
		return err
	}
	// The HTTP request must outlive ctx, because the client cancels a call with a separate message while the event
	// stream is still open.
	streamCtx, closeStream := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStream()
	var hasTimedOut atomic.Bool
	silenceTimer := time.AfterFunc(maxStreamSilence, func() { hasTimedOut.Store(true); closeStream() })
	defer silenceTimer.Stop()
	x.onData = func() { silenceTimer.Reset(maxStreamSilence) }
	stop := context.AfterFunc(ctx, func() {
		if method == "tools/call" {
			x.cancel(streamCtx)
		}
		closeStream()
	})
	defer stop()
	response, err := x.run(streamCtx, body)
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
	if err != nil && hasTimedOut.Load() {
		return fmt.Errorf("%s: %w", method, ErrServerUnresponsive)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if response.Error != nil {
		return response.Error
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		return fmt.Errorf("read the answer of %s: %w", method, err)
	}
	return nil
}

// The method cancel returns when the server has closed the event stream, or after
// cancelTimeout.
func (x pendingRequest) cancel(streamCtx context.Context) {
	ctx, cancel := context.WithTimeout(streamCtx, cancelTimeout)
	defer cancel()
	// If the client cannot send the cancellation, the caller closes the connection, which also cancels the call.
	if x.client.notify(ctx, "notifications/cancelled", map[string]any{"requestId": x.id, "reason": "interrupted"}) == nil {
		<-ctx.Done()
	}
}

func (x pendingRequest) run(ctx context.Context, requestBody []byte) (rpcMessage, error) {
	resp, err := x.client.send(ctx, http.MethodPost, requestBody)
	if err != nil {
		return rpcMessage{}, err
	}
	defer resp.Body.Close()
	x.onData()
	input := notifyingReader{resp.Body, x.onData}
	// Only the response to initialize may set the MCP session ID.
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && x.client.version == "" {
		x.client.session = id
	}
	contentType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if contentType != "text/event-stream" {
		return x.readSingle(resp.StatusCode, input)
	}
	for event, err := range sse.Read(input, maxMessageBytes) {
		if err != nil {
			return rpcMessage{}, fmt.Errorf("%w (%w)", ErrNoResponse, err)
		}
		response, ok, err := x.handleMessage(ctx, event.Data)
		if ok || err != nil {
			return response, err
		}
	}
	return rpcMessage{}, ErrNoResponse
}

func (x pendingRequest) readSingle(httpStatus int, body io.Reader) (rpcMessage, error) {
	messageJSON, err := io.ReadAll(io.LimitReader(body, maxMessageBytes))
	if err != nil {
		return rpcMessage{}, fmt.Errorf("%w (%w)", ErrNoResponse, err)
	}
	var response rpcMessage
	if json.Unmarshal(messageJSON, &response) == nil && (response.Error != nil || response.Result != nil && x.isOwnID(response)) {
		return response, nil
	}
	return rpcMessage{}, readStatusError(httpStatus, messageJSON)
}

func readStatusError(httpStatus int, requestBody []byte) error {
	var response struct {
		Error string `json:"error"`
	}
	errorText := string(requestBody)
	if json.Unmarshal(requestBody, &response) == nil && response.Error != "" {
		errorText = response.Error
	}
	errorText = strings.TrimSpace(strings.ToValidUTF8(errorText[:min(len(errorText), 1000)], "?"))
	return &statusError{Status: httpStatus, ReasonText: errorText}
}

func (x pendingRequest) isOwnID(m rpcMessage) bool { return string(m.ID) == fmt.Sprint(x.id) }

func (x pendingRequest) handleMessage(ctx context.Context, messageJSON []byte) (response rpcMessage, ok bool, err error) {
	if len(bytes.TrimSpace(messageJSON)) == 0 { // an event stream may begin with an empty event
		return rpcMessage{}, false, nil
	}
	var m rpcMessage
	if err := json.Unmarshal(messageJSON, &m); err != nil {
		return rpcMessage{}, false, fmt.Errorf("the server sent a malformed message: %w", err)
	}
	switch {
	case m.Method == "notifications/progress":
		x.reportProgress(m.Params)
	case m.Method == "notifications/cancelled":
		x.cancelForm(m.Params)
	case m.Method == "elicitation/create" && m.ID != nil && x.client.options.ShowForm != nil:
		x.showForm(ctx, m)
	case m.Method != "" && m.ID != nil:
		return rpcMessage{}, false, x.client.respond(ctx, m)
	case m.Method == "" && x.isOwnID(m):
		return m, true, nil
	}
	return rpcMessage{}, false, nil
}

func (x pendingRequest) reportProgress(params json.RawMessage) {
	var p struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    *float64        `json:"total"`
		Message  string          `json:"message"`
		Meta     struct {
			Audience any `json:"opentabs/audience"`
			Status   any `json:"opentabs/status"`
		} `json:"_meta"`
	}
	// Malformed progress reports are ignored, because progress never changes the result
	// of a call.
	if x.progress == nil || json.Unmarshal(params, &p) != nil || string(p.Token) != fmt.Sprint(x.id) {
		return
	}
	report := Progress{Progress: p.Progress, Message: p.Message}
	report.Audience, _ = p.Meta.Audience.(string)
	report.StatusWord, _ = p.Meta.Status.(string)
	if p.Total != nil {
		report.Total, report.HasTotal = *p.Total, true
	}
	x.progress(report)
}

// The client supports only the server's request ping, and answers all other requests with an error.
func (c *Client) respond(ctx context.Context, m rpcMessage) error {
	response := rpcMessage{ID: m.ID, Result: json.RawMessage(`{}`)}
	if m.Method != "ping" {
		response = rpcMessage{ID: m.ID, Error: &RPCError{Code: -32601, Message: "this client does not support " + m.Method}}
	}
	body, err := encodeMessage(response, nil)
	if err != nil {
		return err
	}
	return c.post(ctx, body)
}

func (c *Client) notify(ctx context.Context, method string, params any) error {
	body, err := encodeMessage(rpcMessage{Method: method}, params)
	if err != nil {
		return err
	}
	if err := c.post(ctx, body); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (c *Client) post(ctx context.Context, requestBody []byte) error {
	resp, err := c.send(ctx, http.MethodPost, requestBody)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return nil
	}
	messageJSON, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return errors.Join(readStatusError(resp.StatusCode, messageJSON), err)
}

func encodeMessage(m rpcMessage, params any) ([]byte, error) {
	m.JSONRPC = "2.0"
	if params != nil {
		encodedJSON, err := rawjson.Marshal(params)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", m.Method, err)
		}
		m.Params = encodedJSON
	}
	body, err := rawjson.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.Method, err)
	}
	return body, nil
}

func (c *Client) send(ctx context.Context, method string, requestBody []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.options.URL, bytes.NewReader(requestBody))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", c.options.URL, err)
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if c.options.Token != "" {
		h.Set("Authorization", "Bearer "+c.options.Token)
	}
	if c.session != "" {
		h.Set("Mcp-Session-Id", c.session)
	}
	if c.version != "" {
		h.Set("MCP-Protocol-Version", c.version)
	}
	resp, err := c.http.Do(req)
	var op *net.OpError
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("ask the server: %w", ctx.Err())
	case errors.As(err, &op) && op.Op == "dial":
		return nil, fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	return nil, fmt.Errorf("%w (%w)", ErrNoResponse, err)
}
