// Package mcpclient is a small MCP client over Streamable HTTP, protocol version
// 2025-11-25. A [Client] lists tools, calls tools, receives progress reports and cancels
// calls. The opentabs command line uses this package, so it calls tools with the same
// protocol as every MCP client.
//
// Create a client with [New], then call [Client.Initialize].
//
// # Concurrency
//
// After Initialize has returned, a [Client] is safe for concurrent use.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

const protocolVersion = "2025-11-25"

const (
	// cancelTimeout is how long a cancelled call waits for the server to close the call's
	// event stream.
	cancelTimeout = 2 * time.Second
	// maxStreamSilence is how long the client waits for any bytes from the server. During a
	// call, opentabs sends a comment every 25 s to keep the stream alive.
	maxStreamSilence = 2 * time.Minute
	maxMessageBytes  = 1 << 30
	// maxPages limits the number of tools/list pages, in case the server returns a next
	// cursor forever.
	maxPages = 1000
)

// ErrNoResponse is returned if the server closed the connection without answering the
// request.
var ErrNoResponse = errors.New("the server ended the connection before it answered")

// ErrServerUnresponsive is returned if the server sent no bytes for 2 min.
var ErrServerUnresponsive = errors.New("the server has not answered for 2 min")

// ErrNoServer is returned if the TCP connection to the server fails.
var ErrNoServer = errors.New("no MCP server listens")

// Options configure a client.
type Options struct {
	// URL is the server's MCP endpoint; required.
	URL string
	// Token is the bearer token in the Authorization header; by default, no token is
	// sent.
	Token string
	// Name and Version identify the client to the server; both are required.
	Name, Version string
	// Transport sends the HTTP requests; the default is a transport without a proxy and
	// without compression.
	Transport http.RoundTripper
	// ShowForm shows a form to the user when the server requests one during a call (MCP elicitation). ShowForm runs in
	// a separate goroutine. The context ctx is cancelled when the server withdraws the form, or when the call ends.
	//
	// After ShowForm has returned, the client reports to the server that the form was closed without an answer. Without
	// ShowForm, which is the default, the client declares no support for elicitation forms.
	ShowForm func(ctx context.Context, form json.RawMessage)
}

// Client is one MCP session with a server. Create a Client with [New].
type Client struct {
	options Options
	http    *http.Client
	session string
	version string
	lastID  atomic.Int64
}

// New returns a client that has no session yet. New sends no request.
func New(o Options) *Client {
	if o.Transport == nil {
		o.Transport = &http.Transport{DisableCompression: true}
	}
	return &Client{options: o, http: &http.Client{Transport: o.Transport}}
}

// Server is the name and version of an MCP server, as the server reports them.
type Server struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Initialize opens an MCP session. Call Initialize once, before any other method of the
// Client.
func (c *Client) Initialize(ctx context.Context) (Server, error) {
	capabilities := map[string]any{}
	if c.options.ShowForm != nil {
		capabilities["elicitation"] = map[string]any{"form": struct{}{}}
	}
	params := map[string]any{
		"protocolVersion": protocolVersion,
		"capabilities":    capabilities,
		"clientInfo":      Server{Name: c.options.Name, Version: c.options.Version},
	}
	var result struct {
		ProtocolVersion string `json:"protocolVersion"`
		ServerInfo      Server `json:"serverInfo"`
	}
	if err := c.request(ctx, "initialize", params, nil, &result); err != nil {
		return Server{}, err
	}
	c.version = result.ProtocolVersion
	return result.ServerInfo, c.notify(ctx, "notifications/initialized", struct{}{})
}

// Close ends the MCP session and closes idle connections.
func (c *Client) Close(ctx context.Context) error {
	defer c.http.CloseIdleConnections()
	if c.session == "" {
		return nil
	}
	resp, err := c.send(ctx, http.MethodDelete, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Tool describes one tool of the server. InputSchema is the JSON Schema of the tool's
// arguments.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// ListTools returns all tools of the server. ListTools requests further pages until the
// server has sent the last page.
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	params := map[string]any{}
	for range maxPages {
		var page struct {
			Tools      []Tool `json:"tools"`
			NextCursor string `json:"nextCursor"`
		}
		if err := c.request(ctx, "tools/list", params, nil, &page); err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if page.NextCursor == "" {
			return tools, nil
		}
		params["cursor"] = page.NextCursor
	}
	return nil, fmt.Errorf("list the tools: the server's list has more than %d pages", maxPages)
}

// Progress is one progress report of a running call.
type Progress struct {
	Progress float64
	// The field Total is valid only if HasTotal is true.
	Total    float64
	HasTotal bool
	Message  string
	// StatusWord is the word with which the tool describes the state of the call, such as
	// "exporting". StatusWord has the same audience as Message.
	StatusWord string
	// Audience is "user" if Message is for the user. A message with any audience other than
	// "user" is internal.
	Audience string
}

// Content is one content block of a tool's result, such as a text or an image.
type Content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// Raw is the JSON of a content block that is not text; nil for text.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON decodes a content block, and copies the JSON to Raw unless the block is
// text.
func (c *Content) UnmarshalJSON(b []byte) error {
	type contentJSON Content
	err := json.Unmarshal(b, (*contentJSON)(c))
	if c.Type != "text" {
		c.Raw = slices.Clone(b)
	}
	return err
}

// Result is a tool's result. IsError is true if the tool failed.
type Result struct {
	Content           []Content                  `json:"content"`
	StructuredContent json.RawMessage            `json:"structuredContent"`
	IsError           bool                       `json:"isError"`
	Meta              map[string]json.RawMessage `json:"_meta"`
}

// CallTool calls a tool and returns the tool's result. The parameter arguments is a JSON object with the arguments of
// the tool. CallTool calls progress, which may be nil, for each progress report, in the goroutine of the caller.
//
// When ctx ends, CallTool sends a cancellation to the server. After the cancellation, CallTool returns ctx's error as
// soon as the server has ended the call, or after 2 s.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage, progress func(Progress)) (Result, error) {
	return c.CallToolWithKey(ctx, name, arguments, "", progress)
}

// CallToolWithKey works like [Client.CallTool], but sends an idempotency key. If key is
// empty, no idempotency key is sent.
func (c *Client) CallToolWithKey(ctx context.Context, name string, arguments json.RawMessage, key string, progress func(Progress)) (Result, error) {
	meta := map[string]any{}
	if key != "" {
		meta["opentabs/idempotencyKey"] = key
	}
	params := map[string]any{"name": name, "arguments": arguments, "_meta": meta}
	var callResult Result
	err := c.request(ctx, "tools/call", params, progress, &callResult)
	return callResult, err
}
