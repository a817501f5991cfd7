package mcpserver

import (
	"encoding/json"
	"testing"

	"opentabs/plugin"
)

func TestIsObjectSchema(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type":["object","null"]}`: false, `{"type":"array"}`: false,
		`{"oneOf":[]}`: false, `true`: false, ``: false, `null`: false,
	} {
		if plugin.IsObjectSchema(json.RawMessage(schema)) != want {
			t.Errorf("IsObjectSchema(%s) has the wrong value; want %v", schema, want)
		}
	}
	schema := json.RawMessage(`{"type":"object","properties":{"tabId":true,"a":{"properties":{"browser":{}}}}}`)
	if !definesProperty(schema, "tabId") || definesProperty(schema, "browser") || definesProperty(json.RawMessage(`[]`), "a") {
		t.Error("definesProperty has a wrong result; want true only for the property tabId")
	}
}
