package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Envelope is one frame, its body not decoded.
//
// A request has ID and Method, a notification Method alone, an answer ID and
// one of Result and Error.
//
//genwire:skip frame.ts has a type of its own for each kind of frame
type Envelope struct {
	ID     string          `json:"id,omitempty"`
	Method Method          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *RPCError       `json:"error,omitempty"`
}

// Parse splits a frame. The envelope's bodies alias frame. An error means that
// frame is not a JSON-RPC 2.0 message as design section 9 has it.
func Parse(frame []byte) (Envelope, error) {
	var v struct {
		JSONRPC string `json:"jsonrpc"`
		Envelope
	}
	if err := json.Unmarshal(frame, &v); err != nil {
		return Envelope{}, fmt.Errorf("not a frame: %w", err)
	}
	e := v.Envelope
	switch {
	case v.JSONRPC != "2.0":
		return Envelope{}, errors.New(`not a frame: "jsonrpc" is not "2.0"`)
	case e.Method != "" && (e.Result != nil || e.Error != nil):
		return Envelope{}, errors.New("not a frame: both a method and an answer")
	case e.Method == "" && e.ID == "":
		return Envelope{}, errors.New("not a frame: neither a method nor an id")
	case e.Method == "" && (e.Result == nil) == (e.Error == nil):
		return Envelope{}, errors.New("not a frame: an answer needs one of result and error")
	}
	return e, nil
}

// AppendRequest appends a request frame to dst. Params must be valid JSON.
func AppendRequest(dst []byte, id string, method Method, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"method":`...)
	dst = appendString(dst, string(method))
	dst = append(dst, `,"params":`...)
	dst = append(dst, params...)
	return append(dst, '}')
}

// AppendNotification appends a notification frame to dst. Params must be valid
// JSON.
func AppendNotification(dst []byte, method Method, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = appendString(dst, string(method))
	dst = append(dst, `,"params":`...)
	dst = append(dst, params...)
	return append(dst, '}')
}

// AppendResult appends an answer frame to dst. Result must be valid JSON.
func AppendResult(dst []byte, id string, result []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends an error answer to dst.
func AppendError(dst []byte, id string, e *RPCError) []byte {
	body, err := json.Marshal(e)
	if err != nil { // its fields are strings, numbers and bools
		panic("wire: " + err.Error())
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"error":`...)
	dst = append(dst, body...)
	return append(dst, '}')
}

// appendString appends s as a JSON string. Ids that came from the other side
// may hold anything; those made here need no escapes and cost no allocation.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			b, err := json.Marshal(s)
			if err != nil { // a string always marshals
				panic("wire: " + err.Error())
			}
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
