package transport

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/internal/lazyregexp"
	"opentabs/internal/plaintext"
)

// These constants are the names of the methods that package transport inspects.
const (
	methodInitialize = "initialize"
	methodPing       = "ping"
	MethodCall       = "tools/call"
	MethodPrompt     = "prompts/get"
	MethodRead       = "resources/read"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// message is one JSON-RPC message whose parameters are not yet decoded.
type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
	// Result or Error is set if the client answers a request of the server.
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func (m rpcMessage) isAnswer() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

func (m rpcMessage) isRequest() bool {
	return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null"
}

// MCP requires that an ID is a string or a number.
func (m rpcMessage) hasInvalidID() bool {
	if m.Method == "" || len(m.ID) == 0 {
		return false
	}
	firstByte := bytes.TrimSpace(m.ID)[0] // an ID is valid JSON
	return firstByte != '"' && firstByte != '-' && (firstByte < '0' || firstByte > '9')
}

// idSearchBytes is how many bytes at each end of an oversized request are searched for
// its ID.
const idSearchBytes = 4096

func findIDAtStart(messageJSON []byte) json.RawMessage {
	messageJSON = messageJSON[:min(len(messageJSON), idSearchBytes)]
	d := json.NewDecoder(bytes.NewReader(messageJSON))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var valueJSON json.RawMessage
		if err != nil || d.Decode(&valueJSON) != nil || int(d.InputOffset()) == len(messageJSON) { // a number at the end of the text may be incomplete
			return nil
		}
		if _, ok := requestKey(valueJSON); ok && name == "id" {
			return valueJSON
		}
	}
	return nil
}

// lastMemberIDPattern never matches text inside a JSON string, because JSON escapes each quote in a string.
var lastMemberIDPattern = lazyregexp.New(`[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)\s*\}\s*$`)

func findIDAtEnd(messageJSON []byte) json.RawMessage {
	match := lastMemberIDPattern().FindSubmatch(messageJSON)
	if match == nil || !json.Valid(match[1]) {
		return nil
	}
	return match[1]
}

// Requests with a JSON-RPC version other than 2.0 are passed to mcp-go, which rejects them.
func (m rpcMessage) isForHandler() bool {
	switch m.Method {
	case MethodCall, MethodPrompt, MethodRead:
		return m.isRequest() && m.JSONRPC == mcp.JSONRPC_VERSION
	}
	return false
}

// Params are the parameters that opentabs reads from requests for Handler,
// subscriptions/listen and notifications/cancelled.
type Params struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// URI identifies the resource that a resources/read request reads.
	URI string `json:"uri"`
	// RequestID is the ID of the request that notifications/cancelled cancels. Reason is
	// the reason of the cancellation, as text.
	RequestID json.RawMessage `json:"requestId"`
	Reason    json.RawMessage `json:"reason"`
	// If a client repeats a request (from protocol version 2026-07-28 on), InputResponses
	// are the user's answers to forms, and RequestState identifies the call.
	InputResponses json.RawMessage `json:"inputResponses"`
	RequestState   string          `json:"requestState"`
	Meta           struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		// TraceParent is the client's trace span, in the format of W3C Trace Context.
		TraceParent json.RawMessage `json:"traceparent"`
		// IdempotencyKey is the key that makes it safe to repeat a call.
		IdempotencyKey json.RawMessage `json:"opentabs/idempotencyKey"`
		// Requests of protocol version 2026-07-28 or later contain ProtocolVersion,
		// ClientInfo and Capabilities.
		ProtocolVersion string          `json:"io.modelcontextprotocol/protocolVersion"`
		ClientInfo      reportedClient  `json:"io.modelcontextprotocol/clientInfo"`
		Capabilities    json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// reportedClient is the name and version that a client reports.
type reportedClient struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// IsModern reports whether the request names a protocol version without sessions
// (2026-07-28 or later).
func (p *Params) IsModern() bool { return mcp.IsModernProtocol(p.Meta.ProtocolVersion) }

// Token returns the progress token exactly as the client sent it, or nil if the client
// sent none. A progress token is a string or a number. An invalid progress token is
// ignored, because a mistake about progress must not make the call fail.
func (p *Params) Token() json.RawMessage {
	t := p.Meta.ProgressToken
	if len(t) > 0 && (t[0] == '"' || t[0] == '-' || t[0] >= '0' && t[0] <= '9') {
		return t
	}
	return nil
}

// MaxReasonChars limits the reason of a cancellation, in characters. A cancellation reason
// that is longer than MaxReasonChars is truncated.
const MaxReasonChars = 200

func (p *Params) cancelReason() string {
	var cancelReason string
	if json.Unmarshal(p.Reason, &cancelReason) != nil {
		return ""
	}
	return plaintext.Line(cancelReason, MaxReasonChars)
}

// requestKey returns a comparable form of a JSON-RPC ID. The IDs "1" and 1 differ, but "a" and "\u0061" are equal.
func requestKey(id json.RawMessage) (string, bool) {
	id = bytes.TrimSpace(id)
	if len(id) == 0 {
		return "", false
	}
	if id[0] == '"' {
		var s string
		if json.Unmarshal(id, &s) != nil {
			return "", false
		}
		return "s" + s, true
	}
	if id[0] == '-' || id[0] >= '0' && id[0] <= '9' {
		return "n" + string(id), true
	}
	return "", false
}
