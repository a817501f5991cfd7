package mcpserver

import (
	"encoding/json"
	"testing"
)

func TestLoosen(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","additionalProperties":false}`:                                   `{"type":"object"}`,
		`{"type":"object","unevaluatedProperties":false}`:                                  `{"type":"object"}`,
		`{"additionalProperties":{"type":"string","additionalProperties":false}}`:          `{"additionalProperties":{"type":"string"}}`,
		`{"additionalProperties":true}`:                                                    `{"additionalProperties":true}`,
		`{"properties":{"additionalProperties":false,"b":{"additionalProperties":false}}}`: `{"properties":{"additionalProperties":false,"b":{}}}`,
		`{"z":1,"items":{"additionalProperties":false},"a":9007199254740993}`:              `{"z":1,"items":{},"a":9007199254740993}`,
		`{"anyOf":[{"additionalProperties":false},{"type":"null"},true]}`:                  `{"anyOf":[{},{"type":"null"},true]}`,
		`{"$defs":{"x":{"additionalProperties":false}}}`:                                   `{"$defs":{"x":{}}}`,
		`{"const":{"additionalProperties":false},"enum":[{"additionalProperties":false}]}`: `{"const":{"additionalProperties":false},"enum":[{"additionalProperties":false}]}`,
		`true`: `true`,
	} {
		if got := string(loosen(json.RawMessage(in))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
	}
}

func TestSchemaQuestions(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type":["object","null"]}`: false, `{"type":"array"}`: false,
		`{"oneOf":[]}`: false, `true`: false, ``: false, `null`: false,
	} {
		if isObjectSchema(json.RawMessage(schema)) != want {
			t.Errorf("%s: want %v", schema, want)
		}
	}
	schema := json.RawMessage(`{"type":"object","properties":{"tabId":true,"a":{"properties":{"browser":{}}}}}`)
	if !definesProperty(schema, "tabId") || definesProperty(schema, "browser") || definesProperty(json.RawMessage(`[]`), "a") {
		t.Error("definesProperty")
	}
}
