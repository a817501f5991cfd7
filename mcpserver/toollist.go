package mcpserver

import (
	"bufio"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// toolList is an answer to tools/list. mcp-go would copy each schema four times
// to make JSON of it, which with a hundred plugins takes longer than their start;
// a schema is JSON already and is written as it is.
type toolList struct {
	id     json.RawMessage
	result mcp.ListToolsResult
}

// toolListOf returns the list that answers a request of this id, if the answer is
// one that can be written piece by piece.
func toolListOf(id json.RawMessage, answer mcp.JSONRPCMessage) (toolList, bool) {
	response, ok := answer.(mcp.JSONRPCResponse)
	if !ok {
		return toolList{}, false
	}
	var result mcp.ListToolsResult
	switch r := response.Result.(type) {
	case mcp.ListToolsResult:
		result = r
	case *mcp.ListToolsResult:
		result = *r
	default:
		return toolList{}, false
	}
	return toolList{id, result}, true
}

// writeTo writes the answer without an end of the line.
func (l toolList) writeTo(b *bufio.Writer) {
	rest := l.result
	rest.Tools = []mcp.Tool{}
	head, err := json.Marshal(rest)
	const empty = `"tools":[]}`
	if err != nil || len(head) < len(empty) || string(head[len(head)-len(empty):]) != empty {
		panic("mcpserver: the list of tools does not end with the tools") // a test holds it
	}
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(l.id)
	b.WriteString(`,"result":`)
	b.Write(head[:len(head)-len("]}")])
	for i := range l.result.Tools {
		if i > 0 {
			b.WriteByte(',')
		}
		writeTool(b, &l.result.Tools[i])
	}
	b.WriteString("]}}")
}

// writeTool writes a tool, with the members that mcp-go writes, in their order.
// One with members that none of ours has is left to mcp-go.
func writeTool(b *bufio.Writer, t *mcp.Tool) {
	if t.RawInputSchema == nil || t.Icons != nil || t.Execution != nil || t.DeferLoading ||
		t.InputSchema.Type != "" || t.OutputSchema.Type != "" {
		b.Write(mustJSON(t))
		return
	}
	b.WriteByte('{')
	if t.Meta != nil {
		b.WriteString(`"_meta":`)
		b.Write(mustJSON(t.Meta))
		b.WriteByte(',')
	}
	b.WriteString(`"annotations":`)
	b.Write(mustJSON(t.Annotations))
	if t.Description != "" {
		b.WriteString(`,"description":`)
		b.Write(mustJSON(t.Description))
	}
	b.WriteString(`,"inputSchema":`)
	b.Write(t.RawInputSchema)
	b.WriteString(`,"name":`)
	b.Write(mustJSON(t.Name))
	if t.RawOutputSchema != nil {
		b.WriteString(`,"outputSchema":`)
		b.Write(t.RawOutputSchema)
	}
	if t.Title != "" {
		b.WriteString(`,"title":`)
		b.Write(mustJSON(t.Title))
	}
	b.WriteByte('}')
}
