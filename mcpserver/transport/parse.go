package transport

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// The message that parseMessage returns shares the memory of b.
func parseMessage(b []byte) (rpcMessage, bool) {
	// A message with invalid UTF-8 would be passed on to the browser, which would close
	// the connection.
	if !utf8.Valid(b) || !wire.IsJSON(b) {
		return rpcMessage{}, false
	}
	m, ok := splitMessage(b)
	if !ok {
		var err error
		if m, err = decodeAnyForm[rpcMessage](b); err != nil {
			return rpcMessage{}, false
		}
	}
	if m.Method == "" && m.Result == nil && m.Error == nil {
		return rpcMessage{}, false
	}
	return m, true
}

// The parameters that parseParams returns share the memory of rawJSON.
func parseParams(rawJSON json.RawMessage) (Params, error) {
	if len(rawJSON) == 0 {
		return Params{}, nil
	}
	if p, ok := splitParams(rawJSON); ok {
		return p, nil
	}
	return decodeAnyForm[Params](rawJSON)
}

// decodeAnyForm is slower than splitMessage and splitParams.
func decodeAnyForm[T any](rawJSON []byte) (T, error) {
	var v T
	err := json.Unmarshal(rawJSON, &v)
	return v, err
}

// splitMessage parses a message exactly as encoding/json does, but five times faster. splitMessage returns false if
// only encoding/json can decode the message correctly, such as one with escaped keys.
func splitMessage(b []byte) (m rpcMessage, ok bool) {
	if !isObject(b) {
		return m, false
	}
	for pairs := rawjson.NewMemberIterator(b); pairs.Next(); {
		key, value, ok := pairs.QuotedKey, pairs.Value, true
		switch string(key) {
		case `"jsonrpc"`:
			m.JSONRPC, ok = unescapedString(value)
		case `"id"`:
			m.ID = value
		case `"method"`:
			m.Method, ok = unescapedString(value)
		case `"params"`:
			m.Params = value
		case `"result"`:
			m.Result = value
		case `"error"`:
			m.Error = value
		default:
			ok = !mayMatchIgnoringCase(key, "jsonrpc", "id", "method", "params", "result", "error")
		}
		if !ok {
			return m, false
		}
	}
	return m, true
}

// splitParams parses as encoding/json does, but faster, and returns false if only encoding/json can decode the
// parameters.
func splitParams(rawJSON []byte) (p Params, ok bool) {
	if !isObject(rawJSON) {
		return p, false
	}
	for pairs := rawjson.NewMemberIterator(rawJSON); pairs.Next(); {
		key, value, ok := pairs.QuotedKey, pairs.Value, true
		switch string(key) {
		case `"name"`:
			p.Name, ok = unescapedString(value)
		case `"arguments"`:
			p.Arguments = value
		case `"uri"`:
			p.URI, ok = unescapedString(value)
		case `"requestId"`:
			p.RequestID = value
		case `"reason"`:
			p.Reason = value
		case `"inputResponses"`:
			p.InputResponses = value
		case `"requestState"`:
			p.RequestState, ok = unescapedString(value)
		case `"_meta"`:
			ok = p.splitMeta(value)
		default:
			ok = !mayMatchIgnoringCase(key, "name", "arguments", "uri", "requestId", "reason", "inputResponses", "requestState", "_meta")
		}
		if !ok {
			return p, false
		}
	}
	return p, true
}

// splitMeta returns false if only encoding/json can decode the JSON of _meta correctly.
func (p *Params) splitMeta(rawJSON []byte) bool {
	if !isObject(rawJSON) {
		return false
	}
	hasClientInfo := p.Meta.ClientInfo != reportedClient{} // encoding/json merges two objects
	for pairs := rawjson.NewMemberIterator(rawJSON); pairs.Next(); {
		key, value, ok := pairs.QuotedKey, pairs.Value, true
		switch string(key) {
		case `"progressToken"`:
			p.Meta.ProgressToken = value
		case `"traceparent"`:
			p.Meta.TraceParent = value
		case `"opentabs/idempotencyKey"`:
			p.Meta.IdempotencyKey = value
		case `"` + mcp.MetaKeyProtocolVersion + `"`:
			p.Meta.ProtocolVersion, ok = unescapedString(value)
		case `"` + mcp.MetaKeyClientInfo + `"`:
			var err error
			p.Meta.ClientInfo, err = decodeAnyForm[reportedClient](value)
			ok = err == nil && !hasClientInfo
			hasClientInfo = true
		case `"` + mcp.MetaKeyClientCapabilities + `"`:
			p.Meta.Capabilities = value
		default:
			ok = !mayMatchIgnoringCase(key, "progressToken", "traceparent", "opentabs/idempotencyKey", mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities)
		}
		if !ok {
			return false
		}
	}
	return true
}

func isObject(rawJSON []byte) bool {
	i := rawjson.SkipSpace(rawJSON, 0)
	return i < len(rawJSON) && rawJSON[i] == '{'
}

func unescapedString(value []byte) (string, bool) {
	if value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return "", false
	}
	switch string(value) { // avoid allocating these frequent strings again
	case `"` + mcp.JSONRPC_VERSION + `"`:
		return mcp.JSONRPC_VERSION, true
	case `"` + MethodCall + `"`:
		return MethodCall, true
	}
	return string(value[1 : len(value)-1]), true
}

// mayMatchIgnoringCase reports whether encoding/json may decode a member with the given key into a
// field with one of names, because encoding/json ignores the case of keys.
func mayMatchIgnoringCase(key []byte, names ...string) bool {
	if bytes.IndexByte(key, '\\') >= 0 {
		return true
	}
	for _, name := range names {
		if bytes.EqualFold(key[1:len(key)-1], []byte(name)) {
			return true
		}
	}
	return false
}
