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
		if tool.IsOptIn {
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
		t.Errorf("the core tools cost %d tokens, want at most 2,500", tokens)
	} else {
		t.Logf("the core tools cost %d tokens", tokens)
	}
}

// Agents know a browser tool only by its name without a prefix.
func TestErrorsNameToolsAsAgentsDo(t *testing.T) {
	f := newFixture(t)
	for _, tool := range Plugin().Tools {
		if tool.Name != f.tool(tool.Name).FullName() {
			t.Errorf("the full name of %s is %s", tool.Name, f.tool(tool.Name).FullName())
		}
		err := tool.Validate(json.RawMessage(`{"unknown":1}`))
		if err == nil || !strings.HasPrefix(err.Error(), "invalid arguments for "+tool.Name+":\n") {
			t.Errorf("wrong arguments of %s return %v", tool.Name, err)
		}
	}
}
