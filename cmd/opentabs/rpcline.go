package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// rpcLine is what the relay needs to know of one line of MCP: which requests it
// makes and which it answers. The line itself is passed on as it is.
type rpcLine struct {
	// requests and answers are the ids as they stand in the line. A line has
	// more than one message only where it is a batch.
	requests, answers []string
	// method is that of a line with one message; empty for an answer.
	method string
}

// parseLine reads a line. One that is no message has neither requests nor
// answers; the server says what is wrong with it.
func parseLine(line []byte) rpcLine {
	var l rpcLine
	if trimmed := bytes.TrimLeft(line, " \t"); len(trimmed) > 0 && trimmed[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) != nil {
			return l
		}
		for _, m := range batch {
			id, method := envelope(m)
			l.add(id, method)
		}
		return l
	}
	id, method := envelope(line)
	l.add(id, method)
	l.method = method
	return l
}

// wantsAnswer reports whether the client waits for something after the line: it
// does after a request, and after what is no message.
func (l rpcLine) wantsAnswer() bool {
	return len(l.requests) > 0 || l.method == "" && len(l.answers) == 0
}

func (l *rpcLine) add(id, method string) {
	switch {
	case id == "" || id == "null":
	case method != "":
		l.requests = append(l.requests, id)
	default:
		l.answers = append(l.answers, id)
	}
}

// envelope returns the id and the method of a message. It does not read an
// answer beyond its result, which may have many megabytes.
func envelope(message []byte) (id, method string) {
	dec := json.NewDecoder(bytes.NewReader(message))
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
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return "", ""
		}
		switch key {
		case "id":
			id = string(value)
		case "method":
			if json.Unmarshal(value, &method) != nil {
				return "", ""
			}
		}
	}
	return id, method
}

// cancelledID returns the id that a notifications/cancelled names.
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

// uriOf returns the uri that a request names.
func uriOf(line []byte) string {
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

// subscribeLine is a request of the relay itself to subscribe to a resource.
func subscribeLine(id, uri string) []byte {
	quotedID, quotedURI := mustQuote(id), mustQuote(uri)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"resources/subscribe","params":{"uri":%s}}`+"\n", quotedID, quotedURI)
}

// updatedLine tells a client that a resource has changed.
func updatedLine(uri string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%s}}`+"\n", mustQuote(uri))
}

// mustQuote is a string as JSON.
func mustQuote(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // a string always marshals
		panic("opentabs: " + err.Error())
	}
	return b
}

// codeServerLost is the JSON-RPC code of the errors the relay itself answers
// with; it is from the range that is kept for servers.
const codeServerLost = -32000

// errorLine answers a request in the server's place.
func errorLine(id, sentence string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, codeServerLost, quote(sentence))
}
