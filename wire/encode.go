package wire

import (
	"encoding/json"
	"slices"
	"strconv"
)

// EncodeBody encodes a params or result type as JSON, and panics if the body contains an
// invalid json.RawMessage.
func EncodeBody(body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic("wire: " + err.Error())
	}
	return text
}

// These constants are the JSON text with which each frame begins, up to the frame's ID or
// method.
const (
	idPrefix     = `{"jsonrpc":"2.0","id":`
	methodPrefix = `{"jsonrpc":"2.0","method":`
)

// AppendRequest appends a request frame to dst. The argument params must be valid JSON.
func AppendRequest(dst []byte, id string, method Method, params []byte) []byte {
	dst = appendRequestHead(dst, id, method)
	dst = append(dst, params...)
	return append(dst, '}')
}

func appendRequestHead(dst []byte, id string, method Method) []byte {
	dst = append(dst, idPrefix...)
	dst = appendString(dst, id)
	dst = append(dst, `,"method":`...)
	dst = appendString(dst, string(method))
	return append(dst, `,"params":`...)
}

// AppendNotification appends a notification frame to dst. The argument params must be valid
// JSON.
func AppendNotification(dst []byte, method Method, params []byte) []byte {
	dst = append(dst, methodPrefix...)
	dst = appendString(dst, string(method))
	dst = append(dst, `,"params":`...)
	dst = append(dst, params...)
	return append(dst, '}')
}

// AppendResult appends the answer to a successful request to dst. The parameter result must
// be valid JSON.
func AppendResult(dst []byte, id string, result []byte) []byte {
	dst = append(dst, idPrefix...)
	dst = appendString(dst, id)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends the answer to a failed request to dst.
func AppendError(dst []byte, id string, e *RPCError) []byte {
	dst = append(dst, idPrefix...)
	dst = appendString(dst, id)
	dst = append(dst, `,"error":`...)
	dst = append(dst, EncodeBody(e)...)
	return append(dst, '}')
}

// frameReserveBytes is the buffer space, in bytes, that is reserved for all members of a frame except large JSON texts.
const frameReserveBytes = 512

// AppendDispatch appends a tool.dispatch request to dst, with DispatchID as its ID. Decision
// and Args must be valid JSON. If Args are empty, AppendDispatch writes {}.
//
// AppendDispatch appends the same bytes as AppendRequest with EncodeBody, but is faster
// because json.Marshal would scan and copy Decision and Args twice.
func AppendDispatch(dst []byte, p *ToolDispatchParams) []byte {
	dst = slices.Grow(dst, frameReserveBytes+len(p.Decision)+len(p.Args))
	dst = appendRequestHead(dst, p.DispatchID, MethodToolDispatch)
	dst = append(dst, `{"dispatchId":`...)
	dst = appendString(dst, p.DispatchID)
	dst = append(dst, `,"plugin":`...)
	dst = appendString(dst, p.Plugin)
	dst = append(dst, `,"tool":`...)
	dst = appendString(dst, p.Tool)
	dst = append(dst, `,"tabId":`...)
	dst = strconv.AppendInt(dst, int64(p.TabID), 10)
	dst = append(dst, `,"documentId":`...)
	dst = appendString(dst, p.DocumentID)
	dst = append(dst, `,"maxResultBytes":`...)
	dst = strconv.AppendInt(dst, int64(p.MaxResultBytes), 10)
	if p.IsResent {
		dst = append(dst, `,"again":true`...)
	}
	if p.Prompt {
		dst = append(dst, `,"prompt":true`...)
	}
	if p.Trace {
		dst = append(dst, `,"trace":true`...)
	}
	if len(p.Decision) > 0 {
		dst = append(append(dst, `,"decision":`...), p.Decision...)
	}
	dst = append(dst, `,"args":`...)
	if len(p.Args) == 0 {
		dst = append(dst, "{}"...)
	} else {
		dst = append(dst, p.Args...)
	}
	return append(dst, "}}"...)
}

// AppendAnswer appends a tool.answer request to dst. The field Output of p must be valid
// JSON.
//
// AppendAnswer appends the same bytes as AppendRequest with EncodeBody, but is faster
// because json.Marshal would scan and copy Output twice.
func AppendAnswer(dst []byte, id string, p *ToolAnswerParams) []byte {
	dst = slices.Grow(dst, frameReserveBytes+len(p.Output))
	dst = appendRequestHead(dst, id, MethodToolAnswer)
	dst = append(dst, `{"dispatchId":`...)
	dst = appendString(dst, p.DispatchID)
	dst = append(dst, `,"ask":`...)
	dst = strconv.AppendInt(dst, int64(p.Ask), 10)
	if len(p.Output) > 0 {
		dst = append(append(dst, `,"output":`...), p.Output...)
	}
	if p.Error != nil {
		dst = append(append(dst, `,"error":`...), EncodeBody(p.Error)...)
	}
	return append(dst, "}}"...)
}

// appendString allocates memory only for a string that needs escapes. IDs never need escapes.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if !isPlain(s[i]) {
			return append(dst, EncodeBody(s)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

func isPlain(c byte) bool {
	switch c {
	case '"', '\\', '<', '>', '&':
		return false
	}
	return c >= 0x20 && c < 0x7f
}
