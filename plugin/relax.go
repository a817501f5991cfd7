package plugin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Where the keywords of JSON Schema hold further schemas.
var (
	schemaKeywords = []string{
		"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "not", "if", "then", "else", "contentSchema",
	}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMapKeywords  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// relaxDefaults returns schema, which is compact, without those names in
// "required" whose property has a default. Schemas are generated from what a
// handler gets, where a property with a default is always there; but an agent
// may leave it out. All else keeps its bytes and its order.
func relaxDefaults(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"default":`)) || !bytes.Contains(schema, []byte(`"required":`)) {
		return schema
	}
	r := relaxer{root: schema}
	relaxed, ok := r.schema(schema)
	if !ok {
		return schema // not an object after all: the compiler will say what is wrong
	}
	return relaxed
}

// relaxer rewrites one schema; root is where its local references point.
type relaxer struct{ root json.RawMessage }

// schema rewrites one schema object; it reports false for anything else.
func (r *relaxer) schema(raw json.RawMessage) (json.RawMessage, bool) {
	members, ok := splitObject(raw)
	if !ok {
		return raw, false
	}
	for i := range members {
		m := &members[i]
		switch {
		case m.key == "required":
			m.value = r.required(m.value, members)
		case slices.Contains(schemaMapKeywords, m.key):
			m.value = r.each(m.value)
		case slices.Contains(schemaListKeywords, m.key) && kindOf(m.value) == kindArray:
			m.value = r.list(m.value)
		case slices.Contains(schemaKeywords, m.key):
			m.value, _ = r.schema(m.value)
		}
	}
	return joinObject(members), true
}

// each rewrites the schemas that are the members of an object.
func (r *relaxer) each(raw json.RawMessage) json.RawMessage {
	members, ok := splitObject(raw)
	if !ok {
		return raw
	}
	for i := range members {
		members[i].value, _ = r.schema(members[i].value)
	}
	return joinObject(members)
}

// list rewrites the schemas that are the elements of an array.
func (r *relaxer) list(raw json.RawMessage) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return raw
	}
	for i := range items {
		items[i], _ = r.schema(items[i])
	}
	return slices.Concat([]byte("["), bytes.Join(asBytes(items), []byte(",")), []byte("]"))
}

// required drops the names of properties that have a default.
func (r *relaxer) required(raw json.RawMessage, siblings []member) json.RawMessage {
	var names []json.RawMessage
	var properties map[string]json.RawMessage
	for _, m := range siblings {
		if m.key == "properties" && json.Unmarshal(m.value, &properties) != nil {
			return raw
		}
	}
	if json.Unmarshal(raw, &names) != nil {
		return raw
	}
	names = slices.DeleteFunc(names, func(quoted json.RawMessage) bool {
		var name string
		return json.Unmarshal(quoted, &name) == nil && r.hasDefault(properties[name], 0)
	})
	return slices.Concat([]byte("["), bytes.Join(asBytes(names), []byte(",")), []byte("]"))
}

// maxRefs is how many references are followed to find a default.
const maxRefs = 8

// hasDefault reports whether a property's schema, or the one it refers to, has
// a default.
func (r *relaxer) hasDefault(raw json.RawMessage, refs int) bool {
	var s map[string]json.RawMessage
	if refs == maxRefs || json.Unmarshal(raw, &s) != nil {
		return false
	}
	if _, ok := s["default"]; ok {
		return true
	}
	var ref string
	if json.Unmarshal(s["$ref"], &ref) != nil {
		return false
	}
	pointer, local := strings.CutPrefix(ref, "#/")
	target := r.root
	for token := range strings.SplitSeq(pointer, "/") {
		var at map[string]json.RawMessage
		if !local || json.Unmarshal(target, &at) != nil {
			return false
		}
		target = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	}
	return r.hasDefault(target, refs+1)
}

// member is one member of a JSON object; quoted is its key as it was written.
type member struct {
	key    string
	quoted json.RawMessage
	value  json.RawMessage
}

// splitObject returns the members of an object in their order.
func splitObject(raw json.RawMessage) ([]member, bool) {
	if kindOf(raw) != kindObject {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	var members []member
	for dec.More() {
		var m member
		if dec.Decode(&m.quoted) != nil || json.Unmarshal(m.quoted, &m.key) != nil || dec.Decode(&m.value) != nil {
			return nil, false
		}
		members = append(members, m)
	}
	return members, true
}

func joinObject(members []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.quoted)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func asBytes(raws []json.RawMessage) [][]byte {
	list := make([][]byte, len(raws))
	for i, raw := range raws {
		list[i] = raw
	}
	return list
}
