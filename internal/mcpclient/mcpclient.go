// Package mcpclient is a small MCP client over Streamable HTTP, protocol 2025-11-25.
// Package mcpclient lists tools, runs calls, receives their progress and cancels them.
// With mcpclient, the command line calls tools by the same protocol as all MCP clients.
//
// Start with [New], then [Client.Initialize].
//
// # Concurrency
//
// After Initialize, a [Client] is safe for concurrent use.
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

// protocolVersion is the MCP version that the client uses.
const protocolVersion = "2025-11-25"

const (
	// cancelTimeout is how long a cancelled call waits for the server to end
	// its stream.
	cancelTimeout = 2 * time.Second
	// silenceTimeout is how long a server may send nothing. opentabs sends a comment
	// every 25 s while a call runs.
	silenceTimeout = 2 * time.Minute
	// maxMessageBytes is the limit for a message from the server.
	maxMessageBytes = 1 << 30
	// maxPages bounds tools/list for a server whose cursor never ends.
	maxPages = 1000
)

// ErrNoAnswer is the error if the server closed the stream of a request without an
// answer.
var ErrNoAnswer = errors.New("the server ended the connection before it answered")

// ErrServerSilent is the error if the server sent nothing for 2 min.
var ErrServerSilent = errors.New("the server has not answered for 2 min")

// ErrNoServer is the error if no server listens at the URL.
var ErrNoServer = errors.New("no MCP server listens")

// Options configure a client.
type Options struct {
	// URL is the server's MCP endpoint; required.
	URL string
	// Token is the bearer token of each request; by default, no token is sent.
	Token string
	// Name and Version identify the client; required by MCP.
	Name, Version string
	// Transport makes the requests; the default is a transport without a proxy.
	Transport http.RoundTripper
	// ShowForm shows a form of the server to the user during a call (elicitation).
	// ShowForm runs in a separate goroutine. ctx ends when the server withdraws the form,
	// or when the call ends. After ShowForm has returned, the client sends that the form
	// was closed without an answer. Default: the client does not support forms.
	ShowForm func(ctx context.Context, form json.RawMessage)
}

// Client is one MCP session.
type Client struct {
	options Options
	http    *http.Client
	session string
	version string
	lastID  atomic.Int64
}

// New returns a client without a session.
func New(o Options) *Client {
	if o.Transport == nil {
		o.Transport = &http.Transport{DisableCompression: true}
	}
	return &Client{options: o, http: &http.Client{Transport: o.Transport}}
}

// Server identifies a server.
type Server struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Initialize opens the session. Call Initialize once, before all other methods.
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

// Close ends the session.
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

// Tool is one tool that the server offers.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// ListTools returns all tools.
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

// Progress is one report of a running call.
type Progress struct {
	Progress float64
	// Total is valid only if HasTotal is true.
	Total    float64
	HasTotal bool
	Message  string
	// StatusWord is the tool's status word, which has the same Audience as Message.
	StatusWord string
	// Audience is for whom the message is: "user" or anything else.
	Audience string
}

// Content is one block of a result.
type Content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// Raw is the unchanged block if it is not text, because other types have other
	// members.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(b []byte) error {
	type plain Content
	err := json.Unmarshal(b, (*plain)(c))
	if c.Type != "text" {
		c.Raw = slices.Clone(b)
	}
	return err
}

// Result is what a tool returned.
type Result struct {
	Content           []Content                  `json:"content"`
	StructuredContent json.RawMessage            `json:"structuredContent"`
	IsError           bool                       `json:"isError"`
	Meta              map[string]json.RawMessage `json:"_meta"`
}

// CallTool runs a tool. arguments is a JSON object. progress, which may be nil, is
// called for each report, by the goroutine that called CallTool. When ctx ends,
// CallTool sends a cancellation to the server. After a cancellation, CallTool returns
// ctx's error when the server has ended the call, after 2 s at the latest.
func (c *Client) CallTool(ctx context.Context, name string, arguments json.RawMessage, progress func(Progress)) (Result, error) {
	return c.CallToolWithKey(ctx, name, arguments, "", progress)
}

// CallToolWithKey works like CallTool, with an idempotency key; empty for none.
func (c *Client) CallToolWithKey(ctx context.Context, name string, arguments json.RawMessage, key string, progress func(Progress)) (Result, error) {
	meta := map[string]any{}
	if key != "" {
		meta["opentabs/idempotencyKey"] = key
	}
	params := map[string]any{"name": name, "arguments": arguments, "_meta": meta}
	var result Result
	err := c.request(ctx, "tools/call", params, progress, &result)
	return result, err
}
