package mcpserver

import (
	"encoding/json"
	"slices"
)

// loosen returns a schema that lets every object have more properties than it
// names. Plugins often return more than their output schema says, and strict
// clients reject a result that does not match the schema they were shown.
func loosen(schema json.RawMessage) json.RawMessage {
	all, ok := membersOf(schema)
	if !ok {
		return loosenEach(schema)
	}
	all = slices.DeleteFunc(all, func(m member) bool {
		closes := m.name == "additionalProperties" || m.name == "unevaluatedProperties"
		return closes && string(m.value) == "false"
	})
	for i, m := range all {
		switch m.name {
		case "enum", "const", "default", "examples":
			// values, not schemas
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if named, ok := membersOf(m.value); ok {
				for j := range named {
					named[j].value = loosen(named[j].value)
				}
				all[i].value = joinMembers(named)
			}
		default:
			all[i].value = loosen(m.value)
		}
	}
	return joinMembers(all)
}

// loosenEach loosens the schemas of an array and returns anything else as it is.
func loosenEach(list json.RawMessage) json.RawMessage {
	var each []json.RawMessage
	if len(list) == 0 || list[0] != '[' || json.Unmarshal(list, &each) != nil {
		return list
	}
	out := []byte{'['}
	for i, s := range each {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, loosen(s)...)
	}
	return append(out, ']')
}

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
