package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Envelope is a JSON-RPC frame whose params, result or error body is not yet decoded.
//
// A request has an ID and a Method. A notification has a Method but no ID. An answer has an
// ID and either a Result or an Error.
//
//genwire:skip frame.ts has a separate type for each kind of frame
type Envelope struct {
	ID     string          `json:"id,omitempty"`
	Method Method          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *RPCError       `json:"error,omitempty"`
}

// Parse splits a JSON-RPC frame into its members. The bodies in the returned Envelope are
// valid JSON and share the memory of frame.
//
// Parse returns an error if frame is not a JSON-RPC 2.0 message or has duplicate members.
// Because duplicate members are rejected, text that comes from a web page can't override
// the ID or the method of a frame.
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
	err = splitObject(frame, func(key, value []byte) (err error) {
		switch string(key) {
		case "jsonrpc":
			if string(value) == `"2.0"` {
				version = "2.0"
				return nil
			}
			version, err = decodeString(key, value)
			return err
		case "id":
			e.ID, err = decodeString(key, value)
			return err
		case "method":
			method, err := decodeString(key, value)
			e.Method = Method(method)
			return err
		case "params":
			e.Params = value
		case "result":
			e.Result = value
		case "error":
			var rpcError *RPCError // decoding into e.Error would make the envelope e escape to the heap
			err := json.Unmarshal(value, &rpcError)
			e.Error = rpcError
			return err
		}
		if !IsJSON(value) {
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

func decodeString(key, value []byte) (string, error) {
	if value[0] != '"' {
		return "", fmt.Errorf("%q is not a string", key)
	}
	if s, ok := unquotePlainString(value); ok {
		return s, nil
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}

// json.Unmarshal takes ten times as long as unquotePlainString for a string without escapes, and allocates once more.
func unquotePlainString(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	unquotedText := value[1 : len(value)-1]
	for _, c := range unquotedText {
		if !isPlain(c) {
			return "", false
		}
	}
	return string(unquotedText), true
}
