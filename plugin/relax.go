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

// What compact text has to contain to be worth looking into.
var (
	defaultKey  = needle{[]byte(`"default":`), 3}  // the f
	requiredKey = needle{[]byte(`"required":`), 3} // the q
	refKey      = needle{[]byte(`"$ref":`), 1}     // the $
)

// relaxDefaults returns schema, which is compact, without those names in
// "required" whose property has a default. Schemas are generated from what a
// handler gets, where a property with a default is always there; but an agent
// may leave it out. All else keeps its bytes and its order.
func relaxDefaults(schema json.RawMessage) json.RawMessage {
	if !defaultKey.isIn(schema) {
		return schema
	}
	r := relaxer{root: schema}
	return r.schema(schema)
}

// relaxer rewrites one schema; root is where its local references point.
type relaxer struct{ root []byte }

// schema rewrites one schema; a schema that is no object stays as it is.
func (r *relaxer) schema(raw []byte) []byte {
	if !requiredKey.isIn(raw) {
		return raw
	}
	if kindOf(raw) != kindObject {
		return raw
	}
	list := slices.Collect(eachMember(raw))
	for i := range list {
		m := &list[i]
		switch {
		case m.key == "required":
			m.value = r.required(m.value, list)
		case slices.Contains(schemaMapKeywords, m.key):
			m.value = r.each(m.value)
		case slices.Contains(schemaListKeywords, m.key) && kindOf(m.value) == kindArray:
			m.value = r.list(m.value)
		case slices.Contains(schemaKeywords, m.key):
			m.value = r.schema(m.value)
		}
	}
	return joinMembers(slices.DeleteFunc(list, func(m member) bool {
		return m.key == "required" && string(m.value) == "[]" // older dialects do not allow an empty list
	}))
}

// each rewrites the schemas that are the members of an object.
func (r *relaxer) each(raw []byte) []byte {
	if kindOf(raw) != kindObject || !requiredKey.isIn(raw) {
		return raw
	}
	list := slices.Collect(eachMember(raw))
	for i := range list {
		list[i].value = r.schema(list[i].value)
	}
	return joinMembers(list)
}

// list rewrites the schemas that are the elements of an array.
func (r *relaxer) list(raw []byte) []byte {
	if !requiredKey.isIn(raw) {
		return raw
	}
	items := elements(raw)
	for i := range items {
		items[i] = r.schema(items[i])
	}
	return joinElements(items)
}

// required drops the names of properties that have a default.
func (r *relaxer) required(raw []byte, siblings []member) []byte {
	if kindOf(raw) != kindArray {
		return raw
	}
	candidates := map[string][]byte{}
	for _, m := range siblings {
		if m.key == "properties" {
			candidates = mayHaveDefaults(m.value)
		}
	}
	return joinElements(slices.DeleteFunc(elements(raw), func(name []byte) bool {
		return kindOf(name) == kindString && r.hasDefault(candidates[unquote(name)])
	}))
}

// mayHaveDefaults returns those of an object's schemas that may have a default:
// mostly a few of many.
func mayHaveDefaults(properties []byte) map[string][]byte {
	candidates := map[string][]byte{}
	for m := range eachMember(properties) {
		if mayHaveDefault(m.value) {
			candidates[m.key] = m.value
		} else {
			delete(candidates, m.key) // of one name the last counts
		}
	}
	return candidates
}

func mayHaveDefault(schema []byte) bool { return defaultKey.isIn(schema) || refKey.isIn(schema) }

// maxRefs is how many references are followed one after the other.
const maxRefs = 8

// hasDefault reports whether a property's schema, or the one it refers to, has
// a default.
func (r *relaxer) hasDefault(raw []byte) bool {
	for range maxRefs {
		if !mayHaveDefault(raw) {
			return false
		}
		schema := newFields(raw, "", nil).member
		if _, ok := schema["default"]; ok {
			return true
		}
		ref := schema["$ref"]
		if kindOf(ref) != kindString {
			return false
		}
		pointer, local := strings.CutPrefix(unquote(ref), "#/")
		if !local {
			return false
		}
		raw = r.root
		for token := range strings.SplitSeq(pointer, "/") {
			raw = newFields(raw, "", nil).member[pointerUnescape.Replace(token)]
		}
	}
	return false
}

func joinMembers(list []member) []byte {
	b := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, m.quoted...)
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

func joinElements(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}
