package browser

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCoreToolDescriptionsAreShort checks that the JSON of the core tools' names, titles,
// descriptions, schemas and annotations costs an agent at most 2,500 tokens, at 4 bytes per
// token.
func TestCoreToolDescriptionsAreShort(t *testing.T) {
	bytes := 0
	for _, tool := range Plugin().Tools {
		if tool.IsOffByDefault {
			continue
		}
		listedTool := map[string]any{"name": tool.Name, "title": tool.DisplayName, "description": tool.Description, "inputSchema": tool.InputSchema}
		if tool.Annotations.ReadOnly != nil {
			listedTool["annotations"] = tool.Annotations
		}
		encodedJSON, err := json.Marshal(listedTool)
		if err != nil {
			t.Fatal(err)
		}
		bytes += len(encodedJSON)
	}
	if tokens := bytes / 4; tokens > 2500 {
		t.Errorf("the descriptions of the core tools cost %d tokens, want at most 2,500", tokens)
	} else {
		t.Logf("the core tools cost %d tokens", tokens)
	}
}

// Agents see the name of a browser tool without a plugin prefix, so error texts use the name
// without a prefix too.
func TestErrorsUseUnprefixedToolNames(t *testing.T) {
	f := newFixture(t)
	for _, tool := range Plugin().Tools {
		if tool.Name != f.tool(tool.Name).FullName() {
			t.Errorf("FullName of the tool %s = %s, want the name without a prefix", tool.Name, f.tool(tool.Name).FullName())
		}
		err := tool.Validate(json.RawMessage(`{"unknown":1}`))
		if err == nil || !strings.HasPrefix(err.Error(), "invalid arguments for "+tool.Name+":\n") {
			t.Errorf("error for invalid arguments of %s = %v, want a text that begins with the tool's name", tool.Name, err)
		}
	}
}
