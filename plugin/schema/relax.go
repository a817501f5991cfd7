package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"opentabs/internal/bytefind"
	"opentabs/internal/rawjson"
)

var (
	schemaKeywords = []string{
		"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "not", "if", "then", "else", "contentSchema",
	}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMapKeywords  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// RelaxDefaults parses a schema only if the schema contains the keys "default" and "required".
var (
	defaultKey   = bytefind.Needle{Text: []byte(`"default":`), RareByteIndex: 3}
	requiredKey  = bytefind.Needle{Text: []byte(`"required":`), RareByteIndex: 3}
	refKeyNeedle = bytefind.Needle{Text: []byte(`"$ref":`), RareByteIndex: 1}
)

// RelaxDefaults makes every property with a default optional in a compact JSON Schema. Schema generators mark
// properties with a default as required, because a handler always receives them. An agent can omit properties with a
// default. RelaxDefaults leaves everything else in the schema unchanged, even the order of the members.
func RelaxDefaults(schema json.RawMessage) json.RawMessage {
	if !defaultKey.IsContainedIn(schema) {
		return schema
	}
	r := requiredRelaxer{root: schema}
	return r.relaxSchema(schema)
}

// requiredRelaxer removes properties with a default from the required lists of one JSON
// Schema. The references ($ref) in the schema are relative to root.
type requiredRelaxer struct{ root []byte }

func (r *requiredRelaxer) relaxSchema(rawJSON []byte) []byte {
	if !requiredKey.IsContainedIn(rawJSON) {
		return rawJSON
	}
	if rawjson.KindOf(rawJSON) != rawjson.KindObject {
		return rawJSON
	}
	members := slices.Collect(rawjson.Members(rawJSON))
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

func (r *requiredRelaxer) relaxMembers(rawJSON []byte) []byte {
	if rawjson.KindOf(rawJSON) != rawjson.KindObject || !requiredKey.IsContainedIn(rawJSON) {
		return rawJSON
	}
	members := slices.Collect(rawjson.Members(rawJSON))
	for i := range members {
		members[i].Value = r.relaxSchema(members[i].Value)
	}
	return rawjson.JoinMembers(members)
}

func (r *requiredRelaxer) relaxElements(rawJSON []byte) []byte {
	if !requiredKey.IsContainedIn(rawJSON) {
		return rawJSON
	}
	items := rawjson.Elements(rawJSON)
	for i := range items {
		items[i] = r.relaxSchema(items[i])
	}
	return rawjson.JoinElements(items)
}

func (r *requiredRelaxer) relaxRequired(rawJSON []byte, siblingMembers []rawjson.Member) []byte {
	if rawjson.KindOf(rawJSON) != rawjson.KindArray {
		return rawJSON
	}
	candidates := map[string][]byte{}
	for _, m := range siblingMembers {
		if m.Key == "properties" {
			candidates = mayHaveDefaults(m.Value)
		}
	}
	return rawjson.JoinElements(slices.DeleteFunc(rawjson.Elements(rawJSON), func(name []byte) bool {
		return rawjson.KindOf(name) == rawjson.KindString && r.hasDefault(candidates[rawjson.Unquote(name)])
	}))
}

func mayHaveDefaults(properties []byte) map[string][]byte {
	candidates := map[string][]byte{}
	for m := range rawjson.Members(properties) {
		if mayHaveDefault(m.Value) {
			candidates[m.Key] = m.Value
		} else {
			delete(candidates, m.Key)
		}
	}
	return candidates
}

func mayHaveDefault(schema []byte) bool {
	return defaultKey.IsContainedIn(schema) || refKeyNeedle.IsContainedIn(schema)
}

// maxConsecutiveRefs is the maximum number of consecutive references ($ref) that package schema
// follows.
const maxConsecutiveRefs = 8

func (r *requiredRelaxer) hasDefault(rawJSON []byte) bool {
	for range maxConsecutiveRefs {
		if !mayHaveDefault(rawJSON) {
			return false
		}
		if rawjson.Get(rawJSON, "default") != nil {
			return true
		}
		ref := rawjson.Get(rawJSON, "$ref")
		if rawjson.KindOf(ref) != rawjson.KindString {
			return false
		}
		pointer, isLocalRef := strings.CutPrefix(rawjson.Unquote(ref), "#/")
		if !isLocalRef {
			return false
		}
		rawJSON = r.root
		for token := range strings.SplitSeq(pointer, "/") {
			rawJSON = rawjson.Get(rawJSON, pointerUnescape.Replace(token))
		}
	}
	return false
}
