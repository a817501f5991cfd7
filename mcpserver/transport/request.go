package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

// Handler answers the requests that clients send. A Handler must be safe for concurrent
// use.
type Handler interface {
	// WaitUntilReady waits until requests with the given method can be answered. An error that
	// WaitUntilReady returns is a sentence for the agent.
	WaitUntilReady(ctx context.Context, method string) error
	// Serve answers a tools/call, prompts/get or resources/read request. If ctx ends, the
	// client no longer waits for the answer, so the server sends no answer.
	Serve(ctx context.Context, r Request) Reply
	// FindToolWithHeaders returns the named tool if its schema makes clients repeat arguments in
	// HTTP headers (x-mcp-header), or nil.
	FindToolWithHeaders(name string) *mcp.Tool
}

// structuredOnlyCapability is the experimental capability of a client that needs no text besides
// the structured content of a result.
const structuredOnlyCapability = "opentabs/structuredOnly"

// Resources manages the subscriptions of clients to resources. The methods of Resources
// must be safe for concurrent use.
type Resources interface {
	// Subscribe starts a client's subscription to a resource. If Subscribe returns an
	// error, the error is sent to the client.
	Subscribe(s *Subscriber, uri string) error
	Unsubscribe(s *Subscriber, uri string)
	// Drop ends all subscriptions of a client that has disconnected.
	Drop(s *Subscriber)
}

// Request is one tools/call, prompts/get or resources/read request.
type Request struct {
	Method string
	Params *Params
	// Client identifies the calling client for the dispatcher.
	Client dispatch.Client
	// Info describes the client. Info.ID is empty if the client has no session.
	Info ClientInfo
	// The field Send writes a message to the client before the answer. The field Send is
	// nil if the client accepts no messages before the answer.
	Send Send
	// The field Ask sends the client a request and returns its result. The field Ask is
	// nil if the client shows no forms during a call.
	Ask Ask
	// CanAskInReply is true for clients of protocol version 2026-07-28 or later that show
	// forms. If CanAskInReply is true, the reply to the request contains the form
	// (input_required).
	CanAskInReply bool
	// ReadsOnlyStructuredContent is true if the client declared the capability structuredOnlyCapability.
	ReadsOnlyStructuredContent bool

	server  *Server
	session *session
}

// Send writes one message to the client. When Send returns, the message has been written.
type Send func(notificationJSON []byte) error

// Ask sends the client a request and waits for its result. If ctx ends first, Ask cancels
// the request and returns ctx's error.
type Ask func(ctx context.Context, method string, params any) (json.RawMessage, error)

// Background registers work that continues after the request is answered. Background
// calls the function cancel when the client's session ends or the server shuts down. If
// Background returns an error, the caller must not start the work.
func (r Request) Background(cancel context.CancelCauseFunc) (Background, error) {
	b := Background{r.server.sessions, r.session, r.server.newUniqueKey()}
	return b, b.sessions.beginTask(b.session, b.key, task{cancel: cancel})
}

// Background is work that may continue after its request has been answered.
type Background struct {
	sessions *sessions
	session  *session
	key      string
}

// Release marks background work as done, so that the work can no longer be cancelled. A
// caller may release the work before the answer is sent.
func (b Background) Release() { b.sessions.releaseTask(b.session, b.key) }

// Finish ends the background task. Shutdown waits until each background task has called
// Finish. No method of a Background may be called after Finish.
func (b Background) Finish() { b.sessions.finishTask() }

// Reply is the answer to a Request.
type Reply interface {
	// ErrorCode returns the code of a JSON-RPC error, or 0 for a result.
	ErrorCode() int
	// CallID returns the ID of the call for log lines, or "" if the request started no
	// call.
	CallID() string
	// WriteMember writes the member "result" or "error" of the answer. The argument
	// serverIdentity is the server's name and version as JSON, which protocol version
	// 2026-07-28 requires in each result. For protocol versions before 2026-07-28,
	// serverIdentity is nil. WriteMember returns no error, because a bufio.Writer keeps the
	// first write error until Flush.
	WriteMember(w *bufio.Writer, serverIdentity json.RawMessage)
	// The transport calls HandleUndelivered if the client did not receive the reply.
	HandleUndelivered()
}

// Fault is a Reply that is a JSON-RPC error.
type Fault struct {
	Code    int
	Message string
	Details any // Details is the error's data, or nil for none
}

// maxFaultChars limits the message of a JSON-RPC error, in characters.
const maxFaultChars = 4000

// NewFaultf returns a JSON-RPC error with a code and a formatted message. NewFaultf removes
// hidden characters from the message, because a client may have sent them.
func NewFaultf(code int, format string, args ...any) Fault {
	return Fault{Code: code, Message: plaintext.Clean(fmt.Sprintf(format, args...), maxFaultChars)}
}

// ErrorCode implements Reply.
func (f Fault) ErrorCode() int { return f.Code }

// CallID implements Reply.
func (Fault) CallID() string { return "" }

// The method HandleUndelivered implements Reply.
func (Fault) HandleUndelivered() {}

// WriteMember implements Reply.
func (f Fault) WriteMember(w *bufio.Writer, _ json.RawMessage) {
	w.WriteString(`"error":`)
	w.Write(rawjson.Encode(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{f.Code, f.Message, f.Details}))
}

// WriteAnswer writes the whole JSON-RPC answer to the request with the given ID.
func WriteAnswer(w *bufio.Writer, id json.RawMessage, r Reply, serverIdentity json.RawMessage) {
	w.WriteString(`{"jsonrpc":"2.0","id":`)
	w.Write(id)
	w.WriteByte(',')
	r.WriteMember(w, serverIdentity)
	w.WriteByte('}')
}

func rpcError(id json.RawMessage, code int, errorMessage string) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	var b strings.Builder
	_ = writeBuffered(&b, func(w *bufio.Writer) { WriteAnswer(w, id, NewFaultf(code, "%s", errorMessage), nil) })
	return []byte(b.String())
}
