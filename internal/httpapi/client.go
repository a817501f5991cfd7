package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"opentabs/internal/httpjson"
)

const (
	maxAnswerBytes = 256 << 20
	// dialTimeout is short, because client and server run on the same machine.
	dialTimeout = 2 * time.Second
	// A busy machine must respond to /healthz within healthTimeout, or the client reports a server that does not
	// respond.
	healthTimeout = 3 * time.Second
	// A timer that fires more than maxTimerDelay late shows that the machine slept or stalled.
	maxTimerDelay  = 100 * time.Millisecond
	requestTimeout = 10 * time.Second
	// reloadTimeout limits requests that make the server read all files of plugins.
	reloadTimeout = 2 * time.Minute
)

// ErrNoServer reports that no program listens on the server's port.
var ErrNoServer = errors.New("no opentabs server is running")

// ErrServerUnresponsive reports that a program listens on the server's port, but does not answer in
// time.
var ErrServerUnresponsive = errors.New("the program on the port does not answer")

// ErrStreamEnded reports that the server has ended a stream of events, log entries or
// similar.
var ErrStreamEnded = errors.New("the server has ended the stream")

// RefusedError is a response of the server with a status other than 200. Explanation is
// the sentence that the server sent.
type RefusedError struct {
	Status      int
	Explanation string
}

// Error returns the sentence that the server sent as the reason.
func (e *RefusedError) Error() string { return e.Explanation }

// Is reports whether target is [ErrUnknown] and the server responded with status 404.
func (e *RefusedError) Is(target error) bool {
	return target == ErrUnknown && e.Status == http.StatusNotFound
}

// Client sends requests to a running opentabs server. The methods of Client return
// [ErrNoServer] if no program listens on the port, and [ErrPortTaken] if another program
// listens on the port. The methods return [ErrServerUnresponsive] if no response arrives in time,
// and a [*RefusedError] if the server rejects the request.
type Client struct {
	Calls   CallsClient
	Logs    LogsClient
	Plugins PluginsClient

	address string
	port    int
	token   string
	http    *http.Client
	now     func() time.Time
}

// NewClient returns a client of the server on a loopback port. If token is not empty, the
// client first checks that the server has the token, and sends no request to any other
// program (see proof.go). If token is empty, the client sends requests to any program that
// listens on the port.
func NewClient(port int, token string) *Client {
	c := &Client{
		address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), port: port, token: token,
		now: time.Now,
	}
	c.Calls, c.Logs, c.Plugins = CallsClient{c}, LogsClient{c}, PluginsClient{c}
	transport := c.Transport()
	// Keep-alive is off, because the search for a running server creates many clients.
	transport.DisableKeepAlives = true
	c.http = &http.Client{Transport: transport}
	return c
}

// Transport returns an HTTP transport with which other HTTP clients reach the same server
// as c. The transport ignores the host in a request's URL: it always connects to this
// server, and checks that the server has the token.
func (c *Client) Transport() *http.Transport {
	// The transport uses no HTTP proxy, because the server runs on this machine.
	return &http.Transport{DialContext: c.dialAndCheckProof, DisableCompression: true}
}

// Token returns the token with which the client authenticates, or an empty string.
func (c *Client) Token() string { return c.token }

// Port returns the TCP port to which the client connects.
func (c *Client) Port() int { return c.port }

// URL returns the absolute URL of a path on the server.
func (c *Client) URL(path string) string { return "http://" + c.address + path }

// Health requests the version and the process ID of the server. Health returns an error
// if the program on the port is not an opentabs server.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	err := retryAfterStall(ctx, c.now, func() error {
		return c.sendWithTimeout(ctx, healthTimeout, http.MethodGet, "/healthz", &h)
	})
	if err != nil {
		return Health{}, err
	}
	if !h.OK || h.PID <= 0 || h.Version == "" {
		return Health{}, fmt.Errorf("the program on %s is not an opentabs server", c.address)
	}
	return h, nil
}

// The function send waits for the server's answer for healthTimeout. If the timeout fired late, the server had no time
// to answer, so retryAfterStall calls send once more.
func retryAfterStall(ctx context.Context, now func() time.Time, send func() error) error {
	startTime := now()
	err := send()
	if !errors.Is(err, ErrServerUnresponsive) || ctx.Err() != nil || now().Sub(startTime) <= healthTimeout+maxTimerDelay {
		return err
	}
	return send()
}

// Status requests what the server reports about itself, its browsers, plugins and MCP
// clients.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	err = c.sendWithTimeout(ctx, requestTimeout, http.MethodGet, "/status", &s)
	return s, err
}

// ReloadClients makes the server read the tokens of MCP clients again. Before
// ReloadClients returns, the server has ended the requests of removed clients.
func (c *Client) ReloadClients(ctx context.Context) error {
	return c.sendWithTimeout(ctx, requestTimeout, http.MethodPost, "/clients/reload", nil)
}

// The argument timeout limits the time until the response is completely read.
func (c *Client) sendWithTimeout(ctx context.Context, timeout time.Duration, method, path string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return c.requestJSON(ctx, method, path, nil, v)
}

func (c *Client) post(ctx context.Context, path string, body, v any) error {
	return c.postWithTimeout(ctx, requestTimeout, path, body, v)
}

func (c *Client) postWithTimeout(ctx context.Context, timeout time.Duration, path string, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	encodedJSON, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("ask %s: %w", c.URL(path), err)
	}
	return c.requestJSON(ctx, http.MethodPost, path, encodedJSON, v)
}

func (c *Client) requestJSON(ctx context.Context, method, path string, requestBody []byte, v any) error {
	resp, err := c.send(ctx, method, path, requestBody)
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

// The caller of send closes the body of the response, whose status is 200.
func (c *Client) send(ctx context.Context, method, path string, requestBody []byte) (*http.Response, error) {
	req, err := c.request(ctx, method, path, requestBody)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, dialError(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, newRefusedError(resp)
	}
	return resp, nil
}

func (c *Client) request(ctx context.Context, method, path string, requestBody []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL(path), bytes.NewReader(requestBody))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", c.URL(path), err)
	}
	if requestBody != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	return req, nil
}

func dialError(err error) error {
	var opErr *net.OpError
	isCancelled := errors.Is(err, context.Canceled)
	var timeoutErr net.Error
	switch {
	case isCancelled:
	case errors.Is(err, ErrPortTaken):
		return ErrPortTaken
	case errors.Is(err, ErrServerUnresponsive), errors.As(err, &timeoutErr) && timeoutErr.Timeout():
		return ErrServerUnresponsive
	case errors.As(err, &opErr) && opErr.Op == "dial":
		return ErrNoServer
	}
	return fmt.Errorf("send a request to the server: %w", err)
}

func newRefusedError(resp *http.Response) error {
	var p httpjson.Problem
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&p) != nil || p.Error == "" {
		p.Error = "the server answered " + resp.Status
	}
	return &RefusedError{Status: resp.StatusCode, Explanation: p.Error}
}
