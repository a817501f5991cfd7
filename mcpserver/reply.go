package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// metaError is the key in a failed result's _meta that has the error for
// programs; the text content has it for agents.
const metaError = "opentabs/error"

// The keys of what else a result's _meta may have: for whom the end is, if the
// tool said so, and the job that the result is of.
const (
	metaAudience = "opentabs/audience"
	metaJob      = "opentabs/job"
)

// reply answers one request that this package serves: with a result or, if code is not 0, with a
// JSON-RPC error.
type reply struct {
	code    int
	message string
	details any // the error's data

	// callID is for the log; empty if no call was made.
	callID string
	// output is what the tool returned, as JSON text without line breaks, and
	// what agents read; nil for undefined and for blocks alone.
	output json.RawMessage
	// data is the structured content; nil if the tool returned no object.
	data json.RawMessage
	// blocks are the content beside the text, each as JSON.
	blocks [][]byte
	// text is the whole text of a result that is in words: of every failed one.
	text    string
	isError bool
	// meta is the value of metaError.
	meta json.RawMessage
	// audience and job are the values of metaAudience and metaJob; empty for none.
	audience string
	job      json.RawMessage
	// lost is called if the answer could not be delivered; nil for nothing.
	lost func()
	// members are those of the result of any other request than tools/call; nil
	// for that.
	members []byte
	// asks says that members ask the person something, before there is a result.
	asks bool
}

// size is how much memory a reply takes, roughly, in bytes.
func (r reply) size() int {
	n := len(r.output) + len(r.text) + len(r.members)
	for _, b := range r.blocks {
		n += len(b)
	}
	return n
}

// maxFaultText is how long the message of a JSON-RPC error may be, in characters.
const maxFaultText = 4000

// fault is a reply that is a JSON-RPC error. Its message may repeat what a client
// sent, without hidden characters.
func fault(code int, format string, args ...any) reply {
	return reply{code: code, message: plaintext.Clean(fmt.Sprintf(format, args...), maxFaultText)}
}

// success is the reply for what a tool returned: valid JSON (the bridge has
// checked that), or nothing for undefined.
func success(callID string, output json.RawMessage) reply {
	output = oneLine(output)
	if len(output) == 0 {
		return reply{callID: callID}
	}
	if s, ok := separate(output); ok {
		return reply{callID: callID, output: s.text, data: s.data, blocks: s.blocks}
	}
	return reply{callID: callID, output: output, data: objectOnly(output)}
}

// oneLine makes JSON ready to be sent. Both transports end a message at a line
// break; JSON has them only between its tokens, and JSON.stringify writes none.
func oneLine(output json.RawMessage) json.RawMessage {
	output = bytes.TrimSpace(output)
	if bytes.IndexByte(output, '\n') >= 0 || bytes.IndexByte(output, '\r') >= 0 {
		var b bytes.Buffer
		if json.Compact(&b, output) == nil {
			output = b.Bytes()
		}
	}
	if !utf8.Valid(output) {
		output = bytes.ToValidUTF8(output, []byte("\uFFFD"))
	}
	return output
}

// objectOnly returns output if it is an object, nil if not: MCP has no other
// structured content.
func objectOnly(output json.RawMessage) json.RawMessage {
	if len(output) == 0 || output[0] != '{' {
		return nil
	}
	return output
}

// errorMeta is the JSON under metaError. Times are in milliseconds.
type errorMeta struct {
	Code      wire.ErrorCode `json:"code"`
	Retryable bool           `json:"retryable"`
	CallID    string         `json:"call_id,omitempty"`
	RanMs     float64        `json:"ran_ms"`
	Reports   int            `json:"reports"`
	// SinceReportMs is absent if there was no report.
	SinceReportMs *float64            `json:"since_report_ms,omitempty"`
	Stopped       dispatch.Stopped    `json:"stopped,omitempty"`
	Tool          *wire.ToolErrorInfo `json:"tool,omitempty"`
	// ForUser is the text for a user, where it differs from the one for agents.
	ForUser string `json:"for_user,omitempty"`
}

// failure is the reply for a call that failed. An err that is not a
// *dispatch.Error is told as internal, without its details.
func failure(err error) reply {
	var e *dispatch.Error
	if !errors.As(err, &e) {
		e = &dispatch.Error{
			Code: wire.ErrInternal, Retryable: true,
			Message: "opentabs failed while it ran this call (internal). Look at the log of opentabs, then report it.",
		}
	}
	m := errorMeta{
		Code: e.Code, Retryable: e.Retryable, CallID: e.CallID, RanMs: float64(e.Ran.Microseconds()) / 1000,
		Reports: e.Reports, Stopped: e.Stopped, Tool: e.Tool, ForUser: e.ForUser,
	}
	if e.Reports > 0 {
		since := float64(e.SinceReport.Microseconds()) / 1000
		m.SinceReportMs = &since
	}
	r := reply{callID: e.CallID, text: e.Error(), isError: true}
	if meta, err := json.Marshal(m); err == nil { // a tool may have given NaN as retryAfterMs
		r.meta = meta
	}
	return r
}

// undelivered tells that the client did not get the answer.
func (r reply) undelivered() {
	if r.lost != nil {
		r.lost()
	}
}

// writeTo writes the whole JSON-RPC answer. A modern client also gets what
// protocol version 2026-07-28 wants in each result; info is the server's
// identity as JSON. Errors stick to w.
func (r reply) writeTo(w *bufio.Writer, id json.RawMessage, modern bool, info json.RawMessage) {
	w.WriteString(`{"jsonrpc":"2.0","id":`)
	w.Write(id)
	if r.code != 0 {
		r.writeError(w)
		w.WriteByte('}')
		return
	}
	w.WriteString(`,"result":{`)
	if r.members != nil {
		w.Write(r.members)
	} else {
		r.writeContent(w)
	}
	if r.data != nil {
		w.WriteString(`,"structuredContent":`)
		w.Write(r.data)
	}
	if r.isError {
		w.WriteString(`,"isError":true`)
	}
	switch {
	case r.asks:
		w.WriteString(`,"resultType":"input_required"`)
	case modern:
		w.WriteString(`,"resultType":"complete"`)
	}
	r.writeMeta(w, modern, info)
	w.WriteString(`}}`)
}

// writeError writes the error member.
func (r reply) writeError(w *bufio.Writer) {
	body, err := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{r.code, r.message, r.details})
	if err != nil { // details are made here, of strings
		panic("mcpserver: " + err.Error())
	}
	w.WriteString(`,"error":`)
	w.Write(body)
}

// writeContent writes the content of a tool's result.
func (r reply) writeContent(w *bufio.Writer) {
	w.WriteString(`"content":[`)
	defer w.WriteByte(']')
	text := r.text != "" || r.output != nil
	if text {
		r.writeText(w)
	}
	for i, b := range r.blocks {
		if text || i > 0 {
			w.WriteByte(',')
		}
		w.Write(b)
	}
}

// writeText writes the text content. A string is the text itself and is copied
// as the page wrote it; anything else is its JSON text.
func (r reply) writeText(w *bufio.Writer) {
	w.WriteString(`{"type":"text","text":`)
	switch {
	case r.text != "":
		w.Write(appendString(nil, r.text))
	case r.output[0] == '"':
		w.Write(r.output)
	default:
		writeQuoted(w, r.output)
	}
	w.WriteByte('}')
}

// writeMeta writes the _meta member, if there is something in it.
func (r reply) writeMeta(w *bufio.Writer, modern bool, info json.RawMessage) {
	next := `,"_meta":{`
	entry := func(key string, value []byte) {
		w.WriteString(next + `"` + key + `":`)
		w.Write(value)
		next = ","
	}
	if r.meta != nil {
		entry(metaError, r.meta)
	}
	if r.audience != "" {
		entry(metaAudience, appendString(nil, r.audience))
	}
	if r.job != nil {
		entry(metaJob, r.job)
	}
	if modern {
		entry(metaServerInfo, info)
	}
	if next == "," {
		w.WriteByte('}')
	}
}

// writeQuoted writes JSON text as one JSON string, without a copy of it: a
// result may be 100 MB.
func writeQuoted(w *bufio.Writer, text []byte) {
	const hex = "0123456789abcdef"
	w.WriteByte('"')
	start := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		w.Write(text[start:i])
		start = i + 1
		switch c {
		case '"':
			w.WriteString(`\"`)
		case '\\':
			w.WriteString(`\\`)
		case '\t':
			w.WriteString(`\t`)
		default:
			w.WriteString(`\u00`)
			w.WriteByte(hex[c>>4])
			w.WriteByte(hex[c&15])
		}
	}
	w.Write(text[start:])
	w.WriteByte('"')
}
