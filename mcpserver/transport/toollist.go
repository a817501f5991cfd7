package transport

import (
	"bufio"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// toolList is an answer to a tools/list request, encoded without mcp-go. The schemas of
// tools are written unchanged, because they are already JSON. The library mcp-go would
// copy each schema four times, which takes longer than starting a hundred plugins.
type toolList struct {
	id     json.RawMessage
	result mcp.ListToolsResult
}

func toToolList(id json.RawMessage, jsonrpcMessage mcp.JSONRPCMessage) (toolList, bool) {
	response, ok := jsonrpcMessage.(mcp.JSONRPCResponse)
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

func (l toolList) writeTo(b *bufio.Writer) {
	emptyResult := l.result
	emptyResult.Tools = []mcp.Tool{}
	emptyResultJSON, err := json.Marshal(emptyResult)
	const emptyToolsSuffix = `"tools":[]}`
	if err != nil || len(emptyResultJSON) < len(emptyToolsSuffix) || string(emptyResultJSON[len(emptyResultJSON)-len(emptyToolsSuffix):]) != emptyToolsSuffix {
		panic("transport: the list of tools does not end with the tools") // a test checks that the JSON ends with the tools
	}
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(l.id)
	b.WriteString(`,"result":`)
	b.Write(emptyResultJSON[:len(emptyResultJSON)-len("]}")])
	for i := range l.result.Tools {
		if i > 0 {
			b.WriteByte(',')
		}
		writeTool(b, &l.result.Tools[i])
	}
	b.WriteString("]}}")
}

// writeTool writes the same members in the same order as mcp-go.
func writeTool(b *bufio.Writer, t *mcp.Tool) {
	if t.RawInputSchema == nil || t.Icons != nil || t.Execution != nil || t.DeferLoading ||
		t.InputSchema.Type != "" || t.OutputSchema.Type != "" {
		b.Write(encodeJSON(t))
		return
	}
	b.WriteByte('{')
	if t.Meta != nil {
		b.WriteString(`"_meta":`)
		b.Write(encodeJSON(t.Meta))
		b.WriteByte(',')
	}
	b.WriteString(`"annotations":`)
	b.Write(encodeJSON(t.Annotations))
	if t.Description != "" {
		b.WriteString(`,"description":`)
		b.Write(encodeJSON(t.Description))
	}
	b.WriteString(`,"inputSchema":`)
	b.Write(t.RawInputSchema)
	b.WriteString(`,"name":`)
	b.Write(encodeJSON(t.Name))
	if t.RawOutputSchema != nil {
		b.WriteString(`,"outputSchema":`)
		b.Write(t.RawOutputSchema)
	}
	if t.Title != "" {
		b.WriteString(`,"title":`)
		b.Write(encodeJSON(t.Title))
	}
	b.WriteByte('}')
}
