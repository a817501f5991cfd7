package wire

import (
	"encoding/json"
	"slices"
	"strconv"
)

// EncodeBody encodes a params or result type as JSON, and panics if the body contains an
// invalid json.RawMessage.
func EncodeBody(body any) []byte {
	bodyJSON, err := json.Marshal(body)
	if err != nil {
		panic("wire: " + err.Error())
	}
	return bodyJSON
}

// These constants are the JSON text with which each frame begins, up to the frame's ID or
// method.
const (
	idPrefix     = `{"jsonrpc":"2.0","id":`
	methodPrefix = `{"jsonrpc":"2.0","method":`
)

// AppendRequest appends a request frame to buffer. The argument params must be valid JSON.
func AppendRequest(buffer []byte, id string, method Method, params []byte) []byte {
	buffer = appendRequestHead(buffer, id, method)
	buffer = append(buffer, params...)
	return append(buffer, '}')
}

func appendRequestHead(buffer []byte, id string, method Method) []byte {
	buffer = append(buffer, idPrefix...)
	buffer = appendString(buffer, id)
	buffer = append(buffer, `,"method":`...)
	buffer = appendString(buffer, string(method))
	return append(buffer, `,"params":`...)
}

// AppendNotification appends a notification frame to buffer. The argument params must be valid
// JSON.
func AppendNotification(buffer []byte, method Method, params []byte) []byte {
	buffer = append(buffer, methodPrefix...)
	buffer = appendString(buffer, string(method))
	buffer = append(buffer, `,"params":`...)
	buffer = append(buffer, params...)
	return append(buffer, '}')
}

// AppendResult appends the answer to a successful request to buffer. The parameter result must
// be valid JSON.
func AppendResult(buffer []byte, id string, result []byte) []byte {
	buffer = append(buffer, idPrefix...)
	buffer = appendString(buffer, id)
	buffer = append(buffer, `,"result":`...)
	buffer = append(buffer, result...)
	return append(buffer, '}')
}

// AppendError appends the answer to a failed request to buffer.
func AppendError(buffer []byte, id string, e *RPCError) []byte {
	buffer = append(buffer, idPrefix...)
	buffer = appendString(buffer, id)
	buffer = append(buffer, `,"error":`...)
	buffer = append(buffer, EncodeBody(e)...)
	return append(buffer, '}')
}

// frameOverheadBytes is the buffer space, in bytes, that is reserved for all members of a frame except large JSON texts.
const frameOverheadBytes = 512

// AppendDispatch appends a tool.dispatch request to buffer, with DispatchID as its ID. Decision
// and Args must be valid JSON. If Args are empty, AppendDispatch writes {}.
//
// AppendDispatch appends the same bytes as AppendRequest with EncodeBody, but is faster
// because json.Marshal would scan and copy Decision and Args twice.
func AppendDispatch(buffer []byte, p *ToolDispatchParams) []byte {
	buffer = slices.Grow(buffer, frameOverheadBytes+len(p.Decision)+len(p.Args))
	buffer = appendRequestHead(buffer, p.DispatchID, MethodToolDispatch)
	buffer = append(buffer, `{"dispatchId":`...)
	buffer = appendString(buffer, p.DispatchID)
	buffer = append(buffer, `,"plugin":`...)
	buffer = appendString(buffer, p.Plugin)
	buffer = append(buffer, `,"tool":`...)
	buffer = appendString(buffer, p.Tool)
	buffer = append(buffer, `,"tabId":`...)
	buffer = strconv.AppendInt(buffer, int64(p.TabID), 10)
	buffer = append(buffer, `,"documentId":`...)
	buffer = appendString(buffer, p.DocumentID)
	buffer = append(buffer, `,"maxResultBytes":`...)
	buffer = strconv.AppendInt(buffer, int64(p.MaxResultBytes), 10)
	if p.IsResent {
		buffer = append(buffer, `,"again":true`...)
	}
	if p.Prompt {
		buffer = append(buffer, `,"prompt":true`...)
	}
	if p.Trace {
		buffer = append(buffer, `,"trace":true`...)
	}
	if len(p.Decision) > 0 {
		buffer = append(append(buffer, `,"decision":`...), p.Decision...)
	}
	buffer = append(buffer, `,"args":`...)
	if len(p.Args) == 0 {
		buffer = append(buffer, "{}"...)
	} else {
		buffer = append(buffer, p.Args...)
	}
	return append(buffer, "}}"...)
}

// AppendAnswer appends a tool.answer request to buffer. The field Output of p must be valid
// JSON.
//
// AppendAnswer appends the same bytes as AppendRequest with EncodeBody, but is faster
// because json.Marshal would scan and copy Output twice.
func AppendAnswer(buffer []byte, id string, p *ToolAnswerParams) []byte {
	buffer = slices.Grow(buffer, frameOverheadBytes+len(p.Output))
	buffer = appendRequestHead(buffer, id, MethodToolAnswer)
	buffer = append(buffer, `{"dispatchId":`...)
	buffer = appendString(buffer, p.DispatchID)
	buffer = append(buffer, `,"ask":`...)
	buffer = strconv.AppendInt(buffer, int64(p.Ask), 10)
	if len(p.Output) > 0 {
		buffer = append(append(buffer, `,"output":`...), p.Output...)
	}
	if p.Error != nil {
		buffer = append(append(buffer, `,"error":`...), EncodeBody(p.Error)...)
	}
	return append(buffer, "}}"...)
}

// appendString allocates memory only for a string that needs escapes. IDs never need escapes.
func appendString(buffer []byte, s string) []byte {
	for i := range len(s) {
		if !isPlain(s[i]) {
			return append(buffer, EncodeBody(s)...)
		}
	}
	buffer = append(buffer, '"')
	buffer = append(buffer, s...)
	return append(buffer, '"')
}

func isPlain(c byte) bool {
	switch c {
	case '"', '\\', '<', '>', '&':
		return false
	}
	return c >= 0x20 && c < 0x7f
}
