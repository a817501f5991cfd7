package mcpserver

import (
	"bytes"
	"encoding/json"

	"opentabs/internal/rawjson"
)

// The functions here look at schemas of loaded plugins, which are compact JSON.
// A server with a hundred plugins asks them ten thousand times before it can
// list its tools.

// isObjectSchema reports whether the schema's root says "type": "object", which
// is all that MCP allows.
func isObjectSchema(schema json.RawMessage) bool {
	return string(rawjson.Get(schema, "type")) == `"object"`
}

// definesProperty reports whether the schema's root names this property.
func definesProperty(schema json.RawMessage, name string) bool {
	if !bytes.Contains(schema, []byte(`"`+name+`"`)) {
		return false
	}
	return rawjson.Get(rawjson.Get(schema, "properties"), name) != nil
}
