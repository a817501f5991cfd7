package author

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

const (
	// maxSchemaBytes limits a schema to about 2,000 tokens, because agents read all
	// schemas in each session.
	maxSchemaBytes = 8 << 10
	maxDepth       = 5
	maxChoices     = 100
)

var fieldRules = []rule{
	{Rule{"field-description", "An agent chooses the value of a field by its description: the meaning, the unit, an example."}, levelWarning, checkFieldDescriptions},
	{Rule{"field-any", "A value without a schema is not validated, and an agent has to guess its form."}, levelWarning, checkFieldWithoutSchema},
	{Rule{"field-open", "An unknown argument is a mistake. An agent notices the mistake only if the call is rejected."}, levelWarning, checkUnknownArguments},
	{Rule{"field-bounds", "Without bounds an agent may request everything: the call exceeds its time limit, or the result exceeds the agent's context."}, levelWarning, checkBounds},
	{Rule{"field-reserved", "opentabs adds the fields tabId, browser and instance to every tool, to choose the tab. A field of the tool with such a name replaces them."}, levelWarning, checkReservedFields},
	{Rule{"field-names", "Agents make fewer mistakes if all names have the same style."}, levelWarning, checkFieldNames},
	{Rule{"schema-size", "Agents read all schemas in each session."}, levelWarning, checkSchemaSize},
	{Rule{"schema-depth", "Agents make most mistakes in deeply nested arguments."}, levelWarning, checkDepth},
}

// The type schema contains the keywords of a JSON Schema that linter rules check.
type schema struct {
	Type                 any                        `json:"type"`
	Description          string                     `json:"description"`
	Properties           map[string]json.RawMessage `json:"properties"`
	Items                json.RawMessage            `json:"items"`
	PrefixItems          []json.RawMessage          `json:"prefixItems"`
	AnyOf                []json.RawMessage          `json:"anyOf"`
	OneOf                []json.RawMessage          `json:"oneOf"`
	AllOf                []json.RawMessage          `json:"allOf"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Enum                 []any                      `json:"enum"`
	Const                json.RawMessage            `json:"const"`
	Ref                  string                     `json:"$ref"`
	Not                  json.RawMessage            `json:"not"`
	Maximum              *float64                   `json:"maximum"`
	ExclusiveMaximum     *float64                   `json:"exclusiveMaximum"`
	MaxItems             *int                       `json:"maxItems"`
}

// schemaField is one node of a JSON Schema, such as a property.
type schemaField struct {
	schema
	// The field name is the last step of path, empty for list items and alternatives of a
	// union.
	path, name string
	depth      int
}

// visitFields visits properties sorted by name. Malformed nodes are skipped, because the loader of plugins reports them.
func visitFields(root string, rawJSON json.RawMessage, visitItem func(schemaField)) {
	var walk func(path, name string, depth int, rawJSON json.RawMessage)
	walk = func(path, name string, depth int, rawJSON json.RawMessage) {
		f := schemaField{path: path, name: name, depth: depth}
		if !bytes.HasPrefix(bytes.TrimSpace(rawJSON), []byte("{")) || json.Unmarshal(rawJSON, &f.schema) != nil {
			return
		}
		visitItem(f)
		for _, key := range slices.Sorted(maps.Keys(f.Properties)) {
			walk(path+"."+key, key, depth+1, f.Properties[key])
		}
		walk(path+"[]", "", depth+1, f.Items)
		for _, subschemas := range [][]json.RawMessage{f.PrefixItems, f.AnyOf, f.OneOf, f.AllOf} {
			for _, subschema := range subschemas {
				walk(path, "", depth, subschema)
			}
		}
		walk(path+".*", "", depth+1, f.AdditionalProperties)
	}
	walk(root, "", 0, rawJSON)
}

func visitInputFields(b *tempBuild, visitItem func(tool string, f schemaField)) {
	for _, t := range b.Tools {
		visitFields("input", t.InputSchema, func(f schemaField) { visitItem(t.Name, f) })
	}
}

func checkFieldDescriptions(b *tempBuild, report reportFunc) {
	visitInputFields(b, func(tool string, f schemaField) {
		if f.name != "" && strings.TrimSpace(f.Description) == "" && len(f.Const) == 0 {
			report(tool+": "+f.path, `it has no description; add .describe("...") with its meaning, its unit and an example`)
		}
	})
}

func (s schema) acceptsAnyValue() bool {
	return s.Type == nil && s.Properties == nil && s.Items == nil && s.AnyOf == nil && s.OneOf == nil && s.AllOf == nil &&
		s.Enum == nil && s.Const == nil && s.Ref == "" && s.Not == nil
}

func checkFieldWithoutSchema(b *tempBuild, report reportFunc) {
	visitInputFields(b, func(tool string, f schemaField) {
		if f.acceptsAnyValue() {
			report(tool+": "+f.path, "the field accepts any value; describe the allowed values: z.string(), z.union([...]), z.record(z.string(), z.string())")
		}
	})
	for _, t := range b.Tools {
		visitFields("output", t.OutputSchema, func(f schemaField) {
			if f.acceptsAnyValue() && f.depth <= 1 && f.name != "" || f.acceptsAnyValue() && f.depth == 0 {
				report(t.Name+": "+f.path, "the value may be anything, so an agent can't rely on its form; describe the value")
			}
		})
	}
}

func checkUnknownArguments(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		visitFields("input", t.InputSchema, func(f schemaField) {
			if f.depth == 0 && f.path == "input" && len(f.AllOf) == 0 && string(bytes.TrimSpace(f.AdditionalProperties)) != "false" {
				report(t.Name+": input", "the object accepts unknown fields; use z.object or z.strictObject in place of z.looseObject, and a field with z.record for free keys")
			}
		})
	}
}

var amountNamePattern = lazyregexp.New(`(?i)^(limit|count|max|maxResults?|max_results?|per_?page|page_?size|top|size|n|num|number_of.*|num_.*|max[A-Z_].*)$`)

func (s schema) hasType(kind string) bool {
	if types, ok := s.Type.([]any); ok {
		return slices.Contains(types, any(kind))
	}
	return s.Type == kind
}

func checkBounds(b *tempBuild, report reportFunc) {
	visitInputFields(b, func(tool string, f schemaField) {
		switch {
		case f.hasType("array") && f.MaxItems == nil && f.PrefixItems == nil:
			report(tool+": "+f.path, "the list has no limit; add .max(100), or the most that the site accepts")
		case (f.hasType("integer") || f.hasType("number")) && amountNamePattern().MatchString(f.name) && f.isUnbounded():
			report(tool+": "+f.path, "the number has no limit; add .max(100), or the most that the site returns at once")
		}
	})
}

// zod itself sets the largest safe integer as the maximum of z.int(), so isUnbounded ignores this maximum.
func (s schema) isUnbounded() bool {
	const maxSafeInteger = 1<<53 - 1
	return (s.Maximum == nil || *s.Maximum >= maxSafeInteger) && s.ExclusiveMaximum == nil
}

var reservedFields = []string{"tabId", "browser", "instance"}

func checkReservedFields(b *tempBuild, report reportFunc) {
	visitInputFields(b, func(tool string, f schemaField) {
		if f.depth == 1 && slices.Contains(reservedFields, f.name) {
			report(tool+": "+f.path, "this field replaces the field %[2]s, which chooses the tab; rename it, for example to %[1]sName", strings.TrimSuffix(f.name, "Id"), f.name)
		}
	})
}

func checkFieldNames(b *tempBuild, report reportFunc) {
	snakeName, camelName := "", ""
	visitInputFields(b, func(tool string, f schemaField) {
		switch {
		case f.depth != 1 || f.name == "":
		case strings.Contains(strings.Trim(f.name, "_"), "_"):
			snakeName = tool + ": " + f.path
		case f.name != strings.ToLower(f.name):
			camelName = tool + ": " + f.path
		}
	})
	if snakeName != "" && camelName != "" {
		report(snakeName, "its name is in snake_case, but that of %s is in camelCase; use one style everywhere", camelName)
	}
}

func checkSchemaSize(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		if n := len(t.InputSchema); n > maxSchemaBytes {
			report(t.Name+": input", "its schema has %d KB of JSON; use fewer fields, shorter descriptions, or a string in place of many choices", n>>10)
		}
	}
	visitInputFields(b, func(tool string, f schemaField) {
		if len(f.Enum) > maxChoices {
			report(tool+": "+f.path, "the field has %d choices; use a string, and describe where to find the values or validate them in the handler", len(f.Enum))
		}
	})
}

func checkDepth(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		deepestField := schemaField{}
		visitFields("input", t.InputSchema, func(f schemaField) {
			if f.depth > deepestField.depth {
				deepestField = f
			}
		})
		if deepestField.depth > maxDepth {
			report(t.Name+": "+deepestField.path, "the field is nested %d levels deep; make the arguments flatter, or split the tool", deepestField.depth)
		}
	}
}
