package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Envelope is a frame whose body is not decoded.
//
// A request has ID and Method. A notification has Method, but no ID. An answer has
// ID, and either Result or Error.
//
//genwire:skip frame.ts has a separate type for each kind of frame
type Envelope struct {
	ID     string          `json:"id,omitempty"`
	Method Method          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *RPCError       `json:"error,omitempty"`
}

// Parse splits a frame into its members. The bodies in the envelope are valid JSON
// and share the memory of frame.
//
// Parse returns an error if frame is not a JSON-RPC 2.0 message, or has two members
// of the same name. Therefore a page's text that is copied into a frame can't change
// the ID or the method of that frame.
func Parse(frame []byte) (Envelope, error) {
	e, err := splitFrame(frame)
	if err != nil {
		return Envelope{}, fmt.Errorf("not a frame: %w", err)
	}
	return e, nil
}

func splitFrame(frame []byte) (e Envelope, err error) {
	if !utf8.Valid(frame) {
		return e, errors.New("invalid UTF-8")
	}
	version := ""
	err = Members(frame, func(key, value []byte) error {
		switch string(key) {
		case "jsonrpc":
			return json.Unmarshal(value, &version)
		case "id":
			return decodeString(key, value, &e.ID)
		case "method":
			return decodeString(key, value, &e.Method)
		case "params":
			e.Params = value
		case "result":
			e.Result = value
		case "error":
			return json.Unmarshal(value, &e.Error)
		}
		if !json.Valid(value) {
			return fmt.Errorf("the member %q is not valid JSON", key)
		}
		return nil
	})
	switch {
	case err != nil:
		return e, err
	case version != "2.0":
		return e, errors.New(`"jsonrpc" is not "2.0"`)
	case e.Method != "" && (e.Result != nil || e.Error != nil):
		return e, errors.New("both a method and an answer")
	case e.Method == "" && e.ID == "":
		return e, errors.New("neither a method nor an id")
	case e.Method == "" && (e.Result == nil) == (e.Error == nil):
		return e, errors.New("an answer needs one of result and error")
	}
	return e, nil
}

// decodeString decodes a member that must be a string. Unlike json.Unmarshal,
// decodeString rejects null.
func decodeString(key, value []byte, to any) error {
	if value[0] != '"' {
		return fmt.Errorf("%q is not a string", key)
	}
	return json.Unmarshal(value, to)
}

// AppendRequest appends a request to dst. The params must be valid JSON.
func AppendRequest(dst []byte, id string, method Method, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"method":`...)
	dst = appendString(dst, string(method))
	dst = append(dst, `,"params":`...)
	dst = append(dst, params...)
	return append(dst, '}')
}

// AppendNotification appends a notification to dst. The params must be valid JSON.
func AppendNotification(dst []byte, method Method, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":`...)
	dst = appendString(dst, string(method))
	dst = append(dst, `,"params":`...)
	dst = append(dst, params...)
	return append(dst, '}')
}

// AppendResult appends the answer to a successful request to dst. The result must be
// valid JSON.
func AppendResult(dst []byte, id string, result []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendError appends the answer to a failed request to dst.
func AppendError(dst []byte, id string, e *RPCError) []byte {
	body, err := json.Marshal(e)
	if err != nil { // impossible: all fields are strings, numbers and bools
		panic("wire: " + err.Error())
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"error":`...)
	dst = append(dst, body...)
	return append(dst, '}')
}

// appendString appends s as a JSON string. It allocates only if s needs escapes,
// which no ID of opentabs does.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			b, err := json.Marshal(s)
			if err != nil { // impossible for a string
				panic("wire: " + err.Error())
			}
			return append(dst, b...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
