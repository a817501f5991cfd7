package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestToolListMatchesMCPGoEncoding(t *testing.T) {
	yes := true
	minimalTool := mcp.NewToolWithRawSchema("a__plain", "Prints <b> & \"c\".", json.RawMessage(`{"type":"object"}`))
	toolWithAllFields := mcp.NewToolWithRawSchema("a__whole", "d", json.RawMessage(`{"type":"object","properties":{"x":{"const":"<"}}}`))
	toolWithAllFields.Title, toolWithAllFields.RawOutputSchema = "Whole", json.RawMessage(`{"type":"object"}`)
	toolWithAllFields.Annotations = mcp.ToolAnnotation{Title: "t", ReadOnlyHint: &yes, OpenWorldHint: &yes}
	constructedTool := mcp.NewTool("a__built", mcp.WithString("s", mcp.Required()))
	otherTool := minimalTool
	otherTool.Name, otherTool.Meta = "a__more", &mcp.Meta{AdditionalFields: map[string]any{"k": 1}}
	for name, result := range map[string]mcp.ListToolsResult{
		"none":  {Tools: []mcp.Tool{}},
		"all":   {Tools: []mcp.Tool{minimalTool, toolWithAllFields, constructedTool, otherTool}},
		"paged": {Tools: []mcp.Tool{minimalTool}, PaginatedResult: mcp.PaginatedResult{NextCursor: "next"}},
	} {
		want, err := json.Marshal(mcp.NewJSONRPCResultResponse(mcp.NewRequestId("one"), result))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []any{result, &result} {
			tools, ok := toToolList(json.RawMessage(`"one"`), mcp.NewJSONRPCResultResponse(mcp.NewRequestId("one"), r))
			if !ok {
				t.Fatalf("%s: %T is not recognized as a list of tools; want it recognized", name, r)
			}
			var got bytes.Buffer
			b := bufio.NewWriter(&got)
			tools.writeTo(b)
			b.Flush()
			if !equalJSON(t, got.Bytes(), want) {
				t.Errorf("%s: JSON of the list = %s, want %s", name, &got, want)
			}
		}
	}
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("decoding the first JSON text %s failed: %v; want valid JSON", a, err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("decoding the second JSON text %s failed: %v; want valid JSON", b, err)
	}
	return reflect.DeepEqual(x, y)
}
