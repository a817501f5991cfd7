package mcpserver

import "encoding/json"

// isObjectSchema reports whether the schema's root says "type": "object", which
// is all that MCP allows.
func isObjectSchema(schema json.RawMessage) bool {
	var root struct {
		Type json.RawMessage `json:"type"`
	}
	return json.Unmarshal(schema, &root) == nil && string(root.Type) == `"object"`
}

// definesProperty reports whether the schema's root names this property.
func definesProperty(schema json.RawMessage, name string) bool {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	_, ok := root.Properties[name]
	return ok
}
