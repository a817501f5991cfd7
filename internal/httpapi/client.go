package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/sse"
)

const (
	// maxAnswerBytes is the largest response that a client reads.
	maxAnswerBytes = 256 << 20
	// dialTimeout is how long a client waits for a connection. The server is
	// on this machine.
	dialTimeout = 2 * time.Second
	// healthTimeout limits the response of /healthz. It is long enough for a busy
	// machine, because a server that takes longer is reported as not answering.
	healthTimeout = 3 * time.Second
	// askTimeout limits most requests, reloadTimeout the request that reloads all
	// plugins.
	askTimeout    = 10 * time.Second
	reloadTimeout = 2 * time.Minute
)

// ErrNoServer is the error if no program listens on the port.
var ErrNoServer = errors.New("no opentabs server is running")

// ErrSilent is the error if a program listens on the port and does not answer in
// time.
var ErrSilent = errors.New("the program on the port does not answer")

// ErrEnded is the error if the server ended a stream.
var ErrEnded = errors.New("the server has ended the stream")

// Refused is an error response of the server.
type Refused struct {
	Status   int
	Sentence string
}

// Error returns the sentence that the server sent.
func (e *Refused) Error() string { return e.Sentence }

// Client sends requests to a running server. Its methods return ErrNoServer if no
// program listens, ErrForeignServer if another program listens, ErrSilent if the
// server does not answer, and *Refused if the server rejects the request.
type Client struct {
	address string
	port    int
	token   string
	http    *http.Client
}

// NewClient returns a client of the server on the loopback port. With a token, it
// sends requests only to a server that has proved that it has the token (proof.go).
// Without a token, it sends requests to any program that listens.
func NewClient(port int, token string) *Client {
	c := &Client{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), port: port, token: token}
	transport := c.Transport()
	// Code that searches for a server creates many clients.
	transport.DisableKeepAlives = true
	c.http = &http.Client{Transport: transport}
	return c
}

// Transport returns a transport for other clients of the same server. Whatever
// the URL, it connects to this server, with the same proof.
func (c *Client) Transport() *http.Transport {
	// No proxy: the server is on this machine.
	return &http.Transport{DialContext: c.dial, DisableCompression: true}
}

// URL returns the server's address with path appended.
func (c *Client) URL(path string) string { return "http://" + c.address + path }

// Health requests the health of the server. It returns an error if the program on
// the port is not an opentabs server.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	if err := c.ask(ctx, healthTimeout, http.MethodGet, "/healthz", &h); err != nil {
		return Health{}, err
	}
	if !h.OK || h.PID <= 0 || h.Version == "" {
		return Health{}, fmt.Errorf("the program on %s is not an opentabs server", c.address)
	}
	return h, nil
}

// Status requests the status of the server.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	err = c.ask(ctx, askTimeout, http.MethodGet, "/status", &s)
	return s, err
}

// Call requests one call, with its activities and its timeline.
func (c *Client) Call(ctx context.Context, callID string) (v dispatch.View, err error) {
	err = c.ask(ctx, askTimeout, http.MethodGet, "/calls/"+url.PathEscape(callID), &v)
	return v, err
}

// Calls requests the calls: running and waiting calls, oldest first, then the last
// finished calls, newest first.
func (c *Client) Calls(ctx context.Context) ([]dispatch.View, error) {
	var list callList
	err := c.ask(ctx, askTimeout, http.MethodGet, "/calls", &list)
	return list.Calls, err
}

// Cancel cancels a call, with an optional reason. It returns false if the call had
// ended.
func (c *Client) Cancel(ctx context.Context, callID, reason string) (bool, error) {
	var done cancelled
	err := c.post(ctx, "/calls/"+url.PathEscape(callID)+"/cancel", cancelBody{Reason: reason}, &done)
	return done.Cancelled, err
}

// Decide sends the user's decision about a waiting call.
func (c *Client) Decide(ctx context.Context, callID string, d Decision) (done Decided, err error) {
	err = c.post(ctx, "/calls/"+url.PathEscape(callID)+"/decide", d, &done)
	return done, err
}

// Reload has the server reload the plugins.
func (c *Client) Reload(ctx context.Context) error {
	return c.ask(ctx, reloadTimeout, http.MethodPost, "/plugins/reload", nil)
}

// ReloadClients has the server reload the tokens of MCP clients. When it returns, the
// requests of removed clients have ended.
func (c *Client) ReloadClients(ctx context.Context) error {
	return c.ask(ctx, askTimeout, http.MethodPost, "/clients/reload", nil)
}

// Listener receives the events of [Client.Follow]. Its functions are called one at a
// time, by the goroutine that follows.
type Listener struct {
	// Following is called when the server has started to send events.
	Following func() error
	// Event receives an event and its JSON.
	Event func(e dispatch.Event, raw []byte) error
	// Missed receives the number of lost events before the next event.
	Missed func(n int) error
}

// Follow receives the events that o selects until ctx ends, the server ends the stream
// (ErrEnded), or one of the listener's functions returns an error.
func (c *Client) Follow(ctx context.Context, o dispatch.FollowOptions, l Listener) error {
	query := url.Values{}
	for name, value := range map[string]string{"call": o.CallID, "tool": o.Tool, "audience": o.Audience} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if o.After > 0 {
		query.Set("after", strconv.FormatUint(o.After, 10))
	}
	return c.follow(ctx, "/events?"+query.Encode(), l.Following, l.hear)
}

// follow calls begun, if it is not nil, when the server starts the stream, and hear
// for each event. It ends when ctx ends, the stream ends (ErrEnded), or a function
// returns an error.
func (c *Client) follow(ctx context.Context, path string, begun func() error, hear func(sse.Event) error) error {
	resp, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if begun != nil {
		if err := begun(); err != nil {
			return err
		}
	}
	for e, err := range sse.Read(resp.Body, maxAnswerBytes) {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrEnded, err)
		}
		if err := hear(e); err != nil {
			return err
		}
	}
	return ErrEnded
}

func (l Listener) hear(e sse.Event) error {
	if e.Name == missedEvent {
		return readMissed(e, l.Missed)
	}
	var event dispatch.Event
	if err := json.Unmarshal(e.Data, &event); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	return l.Event(event, e.Data)
}

// readMissed calls report with the number of lost events.
func readMissed(e sse.Event, report func(int) error) error {
	var m missed
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	return report(m.Missed)
}

// Stdio opens a connection of newline-delimited MCP messages to the server.
// ctx limits the opening only. The connection has CloseWrite, which signals the end of
// the input to the server.
func (c *Client) Stdio(ctx context.Context) (*StdioConn, error) {
	conn, err := c.dial(ctx, "tcp", c.address)
	if err != nil {
		return nil, dialError(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	s, err := c.handshake(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

func (c *Client) handshake(ctx context.Context, conn net.Conn) (*StdioConn, error) {
	req, err := c.request(ctx, http.MethodGet, "/stdio", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", StdioProtocol)
	if err := req.Write(conn); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	reader := bufio.NewReaderSize(conn, 64<<10)
	resp, err := http.ReadResponse(reader, req)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return &StdioConn{Conn: conn, reader: reader}, nil
}

// StdioConn is a connection to /stdio. Its first bytes may be in a buffer already.
type StdioConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads what the server wrote.
func (s *StdioConn) Read(p []byte) (int, error) { return s.reader.Read(p) }

// CloseWrite signals the end of the input to the server.
func (s *StdioConn) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return s.Conn.Close()
}

// ask sends a request without a body and decodes the response into v, if v is not
// nil. timeout limits the whole exchange.
func (c *Client) ask(ctx context.Context, timeout time.Duration, method, path string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.answered(ctx, method, path, nil, v)
}

// post sends body as JSON, and is otherwise like ask.
func (c *Client) post(ctx context.Context, path string, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("ask %s: %w", c.URL(path), err)
	}
	return c.answered(ctx, http.MethodPost, path, data, v)
}

// answered sends a request and decodes the response into v, if v is not nil.
func (c *Client) answered(ctx context.Context, method, path string, body []byte, v any) error {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswerBytes)).Decode(v); err != nil {
		if ctx.Err() != nil {
			return dialError(err)
		}
		return fmt.Errorf("read the answer of %s: %w", c.URL(path), err)
	}
	return nil
}

// send sends a request and returns the response if it is a success. body is JSON, or
// nil for none. The caller closes the response's body.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, dialError(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	return resp, nil
}

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL(path), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", c.URL(path), err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	return req, nil
}

// dialError distinguishes a port without a listener from other failures.
func dialError(err error) error {
	var op *net.OpError
	gaveUp := errors.Is(err, context.Canceled)
	var late net.Error
	switch {
	case gaveUp:
	case errors.Is(err, ErrForeignServer):
		return ErrForeignServer
	case errors.Is(err, ErrSilent), errors.As(err, &late) && late.Timeout():
		return ErrSilent
	case errors.As(err, &op) && op.Op == "dial":
		return ErrNoServer
	}
	return fmt.Errorf("ask the server: %w", err)
}

func refusal(resp *http.Response) error {
	var p problem
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&p) != nil || p.Error == "" {
		p.Error = "the server answered " + resp.Status
	}
	return &Refused{Status: resp.StatusCode, Sentence: p.Error}
}
