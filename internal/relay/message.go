package relay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"opentabs/internal/rawjson"
)

// rpcMessage contains the IDs and the method of a line that the relay forwards: a JSON-RPC
// message or a batch.
type rpcMessage struct {
	// requests and responseLines contain the JSON-RPC IDs of the requests and the responses in
	// a line. Only a batch has more than one ID.
	requests, responseLines []string
	method                  string
}

// For a line that is not valid JSON-RPC, parseMessage returns neither requests nor answers, and the daemon responds
// with an error.
func parseMessage(line []byte) rpcMessage {
	var m rpcMessage
	if trimmedLine := bytes.TrimLeft(line, " \t"); len(trimmedLine) > 0 && trimmedLine[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) != nil {
			return m
		}
		for _, batchItem := range batch {
			id, method := parseEnvelope(batchItem)
			m.addMessageID(id, method)
		}
		return m
	}
	id, method := parseEnvelope(line)
	m.addMessageID(id, method)
	m.method = method
	return m
}

// The daemon responds to a request and to an invalid line, but not to a notification.
func (m rpcMessage) expectsAnswer() bool {
	return len(m.requests) > 0 || m.method == "" && len(m.responseLines) == 0
}

func (m *rpcMessage) addMessageID(id, method string) {
	switch {
	case id == "" || id == "null":
	case method != "":
		m.requests = append(m.requests, id)
	default:
		m.responseLines = append(m.responseLines, id)
	}
}

// Parsing stops at the result of a response, which may be many megabytes long.
func parseEnvelope(messageJSON []byte) (id, method string) {
	dec := json.NewDecoder(bytes.NewReader(messageJSON))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", ""
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", ""
		}
		if id != "" && (key == "result" || key == "error") {
			return id, ""
		}
		var valueJSON json.RawMessage
		if dec.Decode(&valueJSON) != nil {
			return "", ""
		}
		switch key {
		case "id":
			id = string(valueJSON)
		case "method":
			if json.Unmarshal(valueJSON, &method) != nil {
				return "", ""
			}
		}
	}
	return id, method
}

func cancelledID(line []byte) string {
	var m struct {
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil {
		return ""
	}
	return string(m.Params.RequestID)
}

func resourceURI(line []byte) string {
	var m struct {
		Params struct {
			URI string `json:"uri"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil {
		return ""
	}
	return m.Params.URI
}

func subscribeLine(id, uri string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"resources/subscribe","params":{"uri":%s}}`+"\n", rawjson.Encode(id), rawjson.Encode(uri))
}

func updatedLine(uri string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%s}}`+"\n", rawjson.Encode(uri))
}

func listChangedLine(listName string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/` + listName + `/list_changed"}` + "\n")
}

func cancelLine(id string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"the opentabs server stopped or restarted"}}`+"\n", id)
}

// errorCodeNoServer is the JSON-RPC error code of errors that the relay itself creates.
// JSON-RPC reserves the codes from -32099 to -32000 for server errors.
const errorCodeNoServer = -32000

func errorLine(id, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, errorCodeNoServer, rawjson.Encode(message))
}
