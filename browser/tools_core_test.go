package browser

import (
	"encoding/json"
	"testing"
)

// TestCoreToolDescriptionsAreShort checks that the JSON of the core tools' names, titles,
// descriptions, schemas and annotations costs an agent at most 2,600 tokens, at 4 bytes per
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
	if tokens := bytes / 4; tokens > 2600 {
		t.Errorf("the core tools cost %d tokens, want at most 2,600", tokens)
	} else {
		t.Logf("the core tools cost %d tokens", tokens)
	}
}
