package mcpserver

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/internal/plaintext"
)

// The methods that this package looks at; the others are mcp-go's alone.
const (
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodCall       = "tools/call"
	methodPrompt     = "prompts/get"
	methodRead       = "resources/read"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
)

// message is one JSON-RPC message, its params not decoded.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
	// Result and Error are there in the answer to a request of the server.
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// parseMessage splits a message. It reports false for what is not one JSON
// object of the right shape; nonsense then says what is wrong with it.
func parseMessage(b []byte) (message, bool) {
	var m message
	// Bytes that are no UTF-8 would go on to the browser, where they end the link.
	if !utf8.Valid(b) || json.Unmarshal(b, &m) != nil {
		return message{}, false
	}
	return m, m.Method != "" || m.Result != nil || m.Error != nil
}

// answer reports whether m answers a request of the server.
func (m message) answer() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

// request reports whether m asks for an answer.
func (m message) request() bool {
	return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null"
}

// badID reports whether m is a request that may not be: MCP wants an id that is
// a string or a number.
func (m message) badID() bool {
	if m.Method == "" || len(m.ID) == 0 {
		return false
	}
	_, ok := requestKey(m.ID)
	return !ok
}

// idSearched is how many bytes at either end of a request that is too large are
// searched for its id.
const idSearched = 4096

// idAtStart returns the id of a request of which only the start is known; nil
// if it is not in there.
func idAtStart(text []byte) json.RawMessage {
	text = text[:min(len(text), idSearched)]
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil || int(d.InputOffset()) == len(text) { // a number may go on
			return nil
		}
		if _, ok := requestKey(value); ok && name == "id" {
			return value
		}
	}
	return nil
}

// idLast matches the end of an object whose last member is an id. No string can
// look like it: a quote in a string follows a backslash.
var idLast = regexp.MustCompile(`[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)\s*\}\s*$`)

// idAtEnd returns the id of a request of which only the end is known; nil if it
// is not its last member.
func idAtEnd(text []byte) json.RawMessage {
	found := idLast.FindSubmatch(text)
	if found == nil || !json.Valid(found[1]) {
		return nil
	}
	return found[1]
}

// call reports whether m is one of the requests that this package serves
// itself. One with another version of JSON-RPC is left to mcp-go, which says so.
func (m message) call() bool {
	switch m.Method {
	case methodCall, methodPrompt, methodRead:
		return m.request() && m.JSONRPC == mcp.JSONRPC_VERSION
	}
	return false
}

// params are the params of such a request, of a subscriptions/listen or of a
// notifications/cancelled, as far as they are used here.
type params struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	// URI names the resource of a resources/read.
	URI string `json:"uri"`
	// RequestID names the request that a notifications/cancelled means, Reason is
	// why, for people.
	RequestID json.RawMessage `json:"requestId"`
	Reason    json.RawMessage `json:"reason"`
	// InputResponses are what the person decided, and RequestState says about
	// what, in a request that is made again (from 2026-07-28 on).
	InputResponses json.RawMessage `json:"inputResponses"`
	RequestState   string          `json:"requestState"`
	Meta           struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		// From protocol version 2026-07-28 on every request carries these.
		ProtocolVersion string          `json:"io.modelcontextprotocol/protocolVersion"`
		ClientInfo      clientName      `json:"io.modelcontextprotocol/clientInfo"`
		Capabilities    json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// clientName is how a client calls itself.
type clientName struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// parseParams decodes params; absent ones are empty.
func parseParams(raw json.RawMessage) (params, error) {
	var p params
	if len(raw) == 0 {
		return p, nil
	}
	err := json.Unmarshal(raw, &p)
	return p, err
}

// modern reports whether the request names a protocol version that has no
// sessions (2026-07-28 and later).
func (p *params) modern() bool { return mcp.IsModernProtocol(p.Meta.ProtocolVersion) }

// token returns the progress token as the client wrote it; nil if there is
// none. MCP allows strings and numbers; anything else counts as none, because
// a fault in progress never touches the call.
func (p *params) token() json.RawMessage {
	t := p.Meta.ProgressToken
	if len(t) > 0 && (t[0] == '"' || t[0] == '-' || t[0] >= '0' && t[0] <= '9') {
		return t
	}
	return nil
}

// maxReason is how much of a client's reason for a cancel is kept, in characters.
const maxReason = 200

// reason is the reason of a notifications/cancelled, cleaned; empty if there is
// none, or no string.
func (p *params) reason() string {
	var reason string
	if json.Unmarshal(p.Reason, &reason) != nil {
		return ""
	}
	return plaintext.Line(reason, maxReason)
}

// requestKey makes an id comparable: "1" and 1 differ, "a" and "\u0061" do
// not. It reports false if an id may not have this form.
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

// appendProgress appends a notifications/progress for a client that gave this
// token. word is the tool's own word for what it does, or empty.
func appendProgress(dst []byte, token json.RawMessage, progress float64, total *float64, message, word, audience string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	dst = append(dst, token...)
	dst = append(dst, `,"progress":`...)
	dst = appendNumber(dst, progress)
	if total != nil {
		dst = append(dst, `,"total":`...)
		dst = appendNumber(dst, *total)
	}
	if message != "" {
		dst = append(dst, `,"message":`...)
		dst = appendString(dst, message)
	}
	dst = append(dst, `,"_meta":{"opentabs/audience":`...)
	dst = appendString(dst, audience)
	if word != "" {
		dst = append(dst, `,"opentabs/status":`...)
		dst = appendString(dst, word)
	}
	return append(dst, `}}}`...)
}

// appendNumber appends a finite number with all its digits, so that numbers
// that differ stay different, and without an exponent where people would not
// write one.
func appendNumber(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // a string always marshals
		panic("mcpserver: " + err.Error())
	}
	return append(dst, bytes.TrimRight(b.Bytes(), "\n")...)
}
