package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"opentabs/internal/bytefind"
	"opentabs/internal/rawjson"
)

// JSON Schema keywords whose values contain schemas. The value of a keyword is one schema
// (schemaKeywords), a list of schemas (schemaListKeywords) or a map of schemas
// (schemaMapKeywords).
var (
	schemaKeywords = []string{
		"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "not", "if", "then", "else", "contentSchema",
	}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMapKeywords  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// The variables defaultKey, requiredKey and refKey are searches for a keyword, such as
// "default", in the compact JSON text of a schema. RelaxDefaults parses a schema only if
// the schema contains the keys "default" and "required".
var (
	defaultKey  = bytefind.Needle{Text: []byte(`"default":`), Rare: 3}  // index of the letter f in Text
	requiredKey = bytefind.Needle{Text: []byte(`"required":`), Rare: 3} // index of the letter q in Text
	refKey      = bytefind.Needle{Text: []byte(`"$ref":`), Rare: 1}     // index of the $ in Text
)

// RelaxDefaults makes every property with a default optional in a compact JSON Schema.
// Schema generators mark properties with a default as required, because a handler always
// receives these properties. An agent can omit properties with a default. RelaxDefaults
// leaves everything else in the schema unchanged, even the order of the members.
func RelaxDefaults(schema json.RawMessage) json.RawMessage {
	if !defaultKey.IsIn(schema) {
		return schema
	}
	r := requiredRelaxer{root: schema}
	return r.relaxSchema(schema)
}

// requiredRelaxer removes properties with a default from the required lists of one JSON
// Schema. The references ($ref) in the schema are relative to root.
type requiredRelaxer struct{ root []byte }

// relaxSchema makes properties with a default optional in one schema and its subschemas.
// A schema that is not a JSON object stays unchanged.
func (r *requiredRelaxer) relaxSchema(raw []byte) []byte {
	if !requiredKey.IsIn(raw) {
		return raw
	}
	if rawjson.KindOf(raw) != rawjson.KindObject {
		return raw
	}
	members := slices.Collect(rawjson.Members(raw))
	for i := range members {
		m := &members[i]
		switch {
		case m.Key == "required":
			m.Value = r.relaxRequired(m.Value, members)
		case slices.Contains(schemaMapKeywords, m.Key):
			m.Value = r.relaxMembers(m.Value)
		case slices.Contains(schemaListKeywords, m.Key) && rawjson.KindOf(m.Value) == rawjson.KindArray:
			m.Value = r.relaxElements(m.Value)
		case slices.Contains(schemaKeywords, m.Key):
			m.Value = r.relaxSchema(m.Value)
		}
	}
	return rawjson.JoinMembers(slices.DeleteFunc(members, func(m rawjson.Member) bool {
		return m.Key == "required" && string(m.Value) == "[]" // older versions of JSON Schema do not allow an empty "required"
	}))
}

// relaxMembers rewrites JSON Schemas that are the member values of a JSON object, such
// as the object "properties".
func (r *requiredRelaxer) relaxMembers(raw []byte) []byte {
	if rawjson.KindOf(raw) != rawjson.KindObject || !requiredKey.IsIn(raw) {
		return raw
	}
	members := slices.Collect(rawjson.Members(raw))
	for i := range members {
		members[i].Value = r.relaxSchema(members[i].Value)
	}
	return rawjson.JoinMembers(members)
}

// relaxElements rewrites the schemas that are elements of a JSON array.
func (r *requiredRelaxer) relaxElements(raw []byte) []byte {
	if !requiredKey.IsIn(raw) {
		return raw
	}
	items := rawjson.Elements(raw)
	for i := range items {
		items[i] = r.relaxSchema(items[i])
	}
	return rawjson.JoinElements(items)
}

// relaxRequired removes the names of properties that have a default from a "required"
// list.
func (r *requiredRelaxer) relaxRequired(raw []byte, siblings []rawjson.Member) []byte {
	if rawjson.KindOf(raw) != rawjson.KindArray {
		return raw
	}
	candidates := map[string][]byte{}
	for _, m := range siblings {
		if m.Key == "properties" {
			candidates = mayHaveDefaults(m.Value)
		}
	}
	return rawjson.JoinElements(slices.DeleteFunc(rawjson.Elements(raw), func(name []byte) bool {
		return rawjson.KindOf(name) == rawjson.KindString && r.hasDefault(candidates[rawjson.Unquote(name)])
	}))
}

// mayHaveDefaults returns the members of an object "properties" whose schemas may have a
// default.
func mayHaveDefaults(properties []byte) map[string][]byte {
	candidates := map[string][]byte{}
	for m := range rawjson.Members(properties) {
		if mayHaveDefault(m.Value) {
			candidates[m.Key] = m.Value
		} else {
			delete(candidates, m.Key) // if a JSON object has several members with the same name, the last member counts
		}
	}
	return candidates
}

// mayHaveDefault reports whether the schema of a property contains a "default" or a
// "$ref".
func mayHaveDefault(schema []byte) bool { return defaultKey.IsIn(schema) || refKey.IsIn(schema) }

// maxRefs is the maximum number of consecutive references ($ref) that package schema
// follows.
const maxRefs = 8

// hasDefault reports whether a property's schema has a default, either itself or in the
// schema that it refers to.
func (r *requiredRelaxer) hasDefault(raw []byte) bool {
	for range maxRefs {
		if !mayHaveDefault(raw) {
			return false
		}
		if rawjson.Get(raw, "default") != nil {
			return true
		}
		ref := rawjson.Get(raw, "$ref")
		if rawjson.KindOf(ref) != rawjson.KindString {
			return false
		}
		pointer, isLocal := strings.CutPrefix(rawjson.Unquote(ref), "#/")
		if !isLocal {
			return false
		}
		raw = r.root
		for token := range strings.SplitSeq(pointer, "/") {
			raw = rawjson.Get(raw, pointerUnescape.Replace(token))
		}
	}
	return false
}
