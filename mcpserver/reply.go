package mcpserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/dispatch/shape"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/content"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// metaError is the key in a failed result's _meta that contains the error for programs.
const metaError = "opentabs/error"

const (
	metaAudience = "opentabs/audience"
	metaJob      = "opentabs/job"
	metaHops     = "opentabs/hops"
	// metaUntrusted is the key of the list of pages that the result of a browser tool quotes.
	metaUntrusted = "opentabs/untrusted"
)

// The type reply is the answer to a request: a result or, if Code is not 0, a JSON-RPC
// error.
type reply struct {
	transport.Fault // Code is 0 for a result

	// callID is the ID of the call in the log, or empty if the request made no call.
	callID string
	// The field output is the text content: what the tool returned, as JSON without line breaks. The field
	// output is nil if the tool returned undefined or only content blocks.
	output json.RawMessage
	// structuredContent is the structured content of the MCP result, or nil if the tool returned no object.
	structuredContent json.RawMessage
	// blocks are the content blocks that follow the text content in the MCP result, each as JSON.
	blocks    [][]byte
	replyText string
	isError   bool
	// errorMeta is the error for programs, as JSON, in the _meta of the result.
	errorMeta json.RawMessage
	// The field audience is who the result is for, or empty. The field job is the job that the call has
	// become, or empty.
	audience string
	job      json.RawMessage
	// replayedCall is the value of metaReplayed: the ID of an earlier call whose stored
	// ending the reply repeats.
	replayedCall string
	// isResultLost is the value of metaResultLost: the call is done, but its result is not stored.
	isResultLost bool
	// The field untrustedPages is a JSON list of the pages that the result quotes, or nil for
	// none.
	untrustedPages json.RawMessage
	// The field trace is the trace of the call, or nil.
	trace *hops.Trace
	// onUndelivered, if not nil, runs if the client did not receive the answer.
	onUndelivered func()
	members       []byte
	// requiresInput is true if members contains forms that the user must fill in (input_required).
	requiresInput bool
}

// sizeBytes returns the approximate size of a reply in memory, in bytes.
func (r reply) sizeBytes() int {
	n := len(r.output) + len(r.replyText) + len(r.members)
	for _, b := range r.blocks {
		n += len(b)
	}
	return n
}

func (r reply) isStructuredContentText() bool {
	return len(r.output) > 0 && len(r.output) == len(r.structuredContent) && &r.output[0] == &r.structuredContent[0] && len(r.blocks) == 0 && r.replyText == ""
}

func newProtocolErrorReply(code int, format string, args ...any) reply {
	return reply{Fault: transport.NewFaultf(code, format, args...)}
}

// output is either JSON text that the bridge has validated, or empty if the tool returned undefined.
func newSuccessReply(callID string, toolOutput json.RawMessage) reply {
	toolOutput = content.RemoveLineBreaks(toolOutput)
	if len(toolOutput) == 0 {
		return reply{callID: callID}
	}
	if s, ok := content.SeparateBlocks(toolOutput); ok {
		return reply{callID: callID, output: s.Text, structuredContent: s.Data, blocks: s.Blocks}
	}
	return reply{callID: callID, output: toolOutput, structuredContent: content.StructuredContent(toolOutput)}
}

func newBrowserReply(callResult dispatch.Result) reply {
	r := reply{callID: callResult.CallID, audience: callResult.Audience}
	if json.Unmarshal(rawjson.Get(callResult.Output, "text"), &r.replyText) != nil {
		return newSuccessReply(callResult.CallID, callResult.Output)
	}
	for _, step := range append(rawjson.Elements(rawjson.Get(callResult.Output, "steps")), callResult.Output) {
		r.addBrowserContentBlocks(step)
	}
	r.untrustedPages = rawjson.Get(callResult.Output, "untrusted")
	return r
}

func (r *reply) addBrowserContentBlocks(toolOutput json.RawMessage) {
	for _, contentBlock := range []struct{ member, blockType string }{{"image", `"image"`}, {"file", `"resource_link"`}} {
		if valueJSON := rawjson.Get(toolOutput, contentBlock.member); valueJSON != nil {
			members := []rawjson.Member{{Key: "type", QuotedKey: []byte(`"type"`), Value: []byte(contentBlock.blockType)}}
			r.blocks = append(r.blocks, rawjson.JoinMembers(slices.AppendSeq(members, rawjson.Members(valueJSON))))
		}
	}
}

// An error that is not a *dispatch.Error is reported as an internal error, without details.
func newToolErrorReply(err error) reply {
	var e *dispatch.Error
	if !errors.As(err, &e) {
		e = &dispatch.Error{
			Code: wire.ErrInternal, Retryable: true,
			Message: "opentabs failed while it ran this call (internal). Check the log of opentabs, then report the error.",
		}
	}
	r := reply{callID: e.CallID, replyText: e.Error(), isError: true, untrustedPages: wire.EncodeUntrustedPages(e.UntrustedPages)}
	r.errorMeta = shape.ErrorJSON(e)
	return r
}

var _ transport.Reply = reply{}

// CallID implements transport.Reply.
func (r reply) CallID() string { return r.callID }

func (r reply) HandleUndelivered() {
	if r.onUndelivered != nil {
		r.onUndelivered()
	}
}

// WriteMember implements transport.Reply.
func (r reply) WriteMember(w *bufio.Writer, serverIdentity json.RawMessage) {
	if r.Code != 0 {
		r.Fault.WriteMember(w, nil)
		return
	}
	w.WriteString(`"result":{`)
	if r.members != nil {
		w.Write(r.members)
	} else {
		r.writeContent(w)
	}
	if r.structuredContent != nil {
		w.WriteString(`,"structuredContent":`)
		w.Write(r.structuredContent)
	}
	if r.isError {
		w.WriteString(`,"isError":true`)
	}
	switch {
	case r.requiresInput:
		w.WriteString(`,"resultType":"input_required"`)
	case serverIdentity != nil:
		w.WriteString(`,"resultType":"complete"`)
	}
	r.writeMeta(w, serverIdentity)
	w.WriteByte('}')
}

func (r reply) writeContent(w *bufio.Writer) {
	w.WriteString(`"content":[`)
	defer w.WriteByte(']')
	hasText := r.replyText != "" || r.output != nil
	if hasText {
		r.writeText(w)
	}
	for i, b := range r.blocks {
		if hasText || i > 0 {
			w.WriteByte(',')
		}
		w.Write(b)
	}
}

// writeText copies a string exactly as the page encoded it, and writes all other values as JSON text.
func (r reply) writeText(w *bufio.Writer) {
	w.WriteString(`{"type":"text","text":`)
	switch {
	case r.replyText != "":
		w.Write(rawjson.AppendString(nil, r.replyText))
	case r.output[0] == '"':
		w.Write(r.output)
	default:
		rawjson.WriteQuoted(w, r.output)
	}
	w.WriteByte('}')
}

func (r reply) writeMeta(w *bufio.Writer, serverIdentity json.RawMessage) {
	separator := `,"_meta":{`
	writeEntry := func(key string, value []byte) {
		w.WriteString(separator + `"` + key + `":`)
		w.Write(value)
		separator = ","
	}
	if r.errorMeta != nil {
		writeEntry(metaError, r.errorMeta)
	}
	if r.audience != "" {
		writeEntry(metaAudience, rawjson.AppendString(nil, r.audience))
	}
	if r.job != nil {
		writeEntry(metaJob, r.job)
	}
	if r.replayedCall != "" {
		writeEntry(metaReplayed, rawjson.AppendString(nil, r.replayedCall))
	}
	if r.isResultLost {
		writeEntry(metaResultLost, []byte("true"))
	}
	if r.untrustedPages != nil {
		writeEntry(metaUntrusted, r.untrustedPages)
	}
	r.trace.Record(hops.CheckpointReplied)
	if r.trace.IsRequested() {
		writeEntry(metaHops, rawjson.Encode(r.trace.Hops()))
	}
	if serverIdentity != nil {
		writeEntry(mcp.MetaKeyServerInfo, serverIdentity)
	}
	if separator == "," {
		w.WriteByte('}')
	}
}
