package author

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxSchemaBytes is a schema that costs an agent about 2,000 tokens at every
	// start.
	maxSchemaBytes = 8 << 10
	maxDepth       = 5
	maxChoices     = 100
)

// fieldRules are those about what a tool takes and returns.
var fieldRules = []rule{
	{Rule{"field-description", "An agent fills a field by what its description says: what it means, its unit, an example."}, levelWarning, checkFieldDescriptions},
	{Rule{"field-any", "What is not described is not checked, and an agent has to guess it."}, levelWarning, checkAny},
	{Rule{"field-open", "Arguments that no field takes are mistakes; an agent learns of them only if they are refused."}, levelWarning, checkOpen},
	{Rule{"field-bounds", "Without bounds an agent may ask for all there is: the call runs into its limits, or the result into the agent's."}, levelWarning, checkBounds},
	{Rule{"field-reserved", "opentabs gives every tool the fields tabId, browser and instance, to choose the tab; a field of the tool takes their place."}, levelWarning, checkReserved},
	{Rule{"field-names", "Names of one kind are guessed right more often."}, levelWarning, checkFieldNames},
	{Rule{"schema-size", "Agents read all schemas at every start."}, levelWarning, checkSchemaSize},
	{Rule{"schema-depth", "Deeply nested arguments are where agents make most mistakes."}, levelWarning, checkDepth},
}

// schema is a JSON Schema as far as the rules look at it.
type schema struct {
	Type        any                        `json:"type"`
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Items       json.RawMessage            `json:"items"`
	PrefixItems []json.RawMessage          `json:"prefixItems"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	AllOf       []json.RawMessage          `json:"allOf"`
	Additional  json.RawMessage            `json:"additionalProperties"`
	Enum        []any                      `json:"enum"`
	Const       json.RawMessage            `json:"const"`
	Ref         string                     `json:"$ref"`
	Not         json.RawMessage            `json:"not"`
	Maximum     *float64                   `json:"maximum"`
	Below       *float64                   `json:"exclusiveMaximum"`
	MaxItems    *int                       `json:"maxItems"`
}

// field is one place in a schema.
type field struct {
	schema
	// path is as in "input.filter.since"; name is the last part of it, empty for
	// an item of a list or one of several forms.
	path, name string
	depth      int
}

// eachField calls visit with the root of a schema and everything in it, the
// properties in the order of their names. What can't be read is left out: the
// loader has refused it.
func eachField(root string, raw json.RawMessage, visit func(field)) {
	var walk func(path, name string, depth int, raw json.RawMessage)
	walk = func(path, name string, depth int, raw json.RawMessage) {
		f := field{path: path, name: name, depth: depth}
		if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || json.Unmarshal(raw, &f.schema) != nil {
			return
		}
		visit(f)
		for _, key := range slices.Sorted(maps.Keys(f.Properties)) {
			walk(path+"."+key, key, depth+1, f.Properties[key])
		}
		walk(path+"[]", "", depth+1, f.Items)
		for _, forms := range [][]json.RawMessage{f.PrefixItems, f.AnyOf, f.OneOf, f.AllOf} {
			for _, form := range forms {
				walk(path, "", depth, form)
			}
		}
		walk(path+".*", "", depth+1, f.Additional)
	}
	walk(root, "", 0, raw)
}

// inputs calls visit with every field that a tool takes.
func inputs(b *built, visit func(tool string, f field)) {
	for _, t := range b.Tools {
		eachField("input", t.InputSchema, func(f field) { visit(t.Name, f) })
	}
}

func checkFieldDescriptions(b *built, found foundFunc) {
	inputs(b, func(tool string, f field) {
		if f.name != "" && strings.TrimSpace(f.Description) == "" && len(f.Const) == 0 {
			found(tool+": "+f.path, `it has no description; add .describe("...") with its meaning, its unit and an example`)
		}
	})
}

// isAny reports whether everything fits.
func (s schema) isAny() bool {
	return s.Type == nil && s.Properties == nil && s.Items == nil && s.AnyOf == nil && s.OneOf == nil && s.AllOf == nil &&
		s.Enum == nil && s.Const == nil && s.Ref == "" && s.Not == nil
}

func checkAny(b *built, found foundFunc) {
	inputs(b, func(tool string, f field) {
		if f.isAny() {
			found(tool+": "+f.path, "it takes anything; describe what it may be: z.string(), z.union([...]), z.record(z.string(), z.string())")
		}
	})
	for _, t := range b.Tools {
		eachField("output", t.OutputSchema, func(f field) {
			if f.isAny() && f.depth <= 1 && f.name != "" || f.isAny() && f.depth == 0 {
				found(t.Name+": "+f.path, "it may be anything, so no agent knows what it gets; describe it")
			}
		})
	}
}

func checkOpen(b *built, found foundFunc) {
	for _, t := range b.Tools {
		eachField("input", t.InputSchema, func(f field) {
			if f.depth == 0 && f.path == "input" && len(f.AllOf) == 0 && string(bytes.TrimSpace(f.Additional)) != "false" {
				found(t.Name+": input", "it takes fields that it does not name; use z.object or z.strictObject in place of z.looseObject, and a field of z.record for free ones")
			}
		})
	}
}

// amount are names of fields that say how much is wanted.
var amount = regexp.MustCompile(`(?i)^(limit|count|max|maxResults?|max_results?|per_?page|page_?size|top|size|n|num|number_of.*|num_.*|max[A-Z_].*)$`)

func (s schema) is(kind string) bool {
	if list, ok := s.Type.([]any); ok {
		return slices.Contains(list, any(kind))
	}
	return s.Type == kind
}

func checkBounds(b *built, found foundFunc) {
	inputs(b, func(tool string, f field) {
		switch {
		case f.is("array") && f.MaxItems == nil && f.PrefixItems == nil:
			found(tool+": "+f.path, "a list without a limit; add .max(100), or what the site can take")
		case (f.is("integer") || f.is("number")) && amount.MatchString(f.name) && f.isUnbounded():
			found(tool+": "+f.path, "how much is asked for has no limit; add .max(100), or what the site gives at once")
		}
	})
}

// isUnbounded reports whether a number may be as large as numbers get: zod
// writes the largest whole number of JavaScript for z.int().
func (s schema) isUnbounded() bool {
	const largest = 1<<53 - 1
	return (s.Maximum == nil || *s.Maximum >= largest) && s.Below == nil
}

// reservedFields are the arguments that the server gives every tool.
var reservedFields = []string{"tabId", "browser", "instance"}

func checkReserved(b *built, found foundFunc) {
	inputs(b, func(tool string, f field) {
		if f.depth == 1 && slices.Contains(reservedFields, f.name) {
			found(tool+": "+f.path, "nobody can choose the tab of this tool by %[2]s; give the field another name, such as %[1]sName", strings.TrimSuffix(f.name, "Id"), f.name)
		}
	})
}

func checkFieldNames(b *built, found foundFunc) {
	snake, camel := "", ""
	inputs(b, func(tool string, f field) {
		switch {
		case f.depth != 1 || f.name == "":
		case strings.Contains(strings.Trim(f.name, "_"), "_"):
			snake = tool + ": " + f.path
		case f.name != strings.ToLower(f.name):
			camel = tool + ": " + f.path
		}
	})
	if snake != "" && camel != "" {
		found(snake, "it has a name in snake_case, and %s one in camelCase; use one of them everywhere", camel)
	}
}

func checkSchemaSize(b *built, found foundFunc) {
	for _, t := range b.Tools {
		if n := len(t.InputSchema); n > maxSchemaBytes {
			found(t.Name+": input", "its schema has %d KB of JSON; make it smaller: fewer fields, shorter descriptions, a text in place of many choices", n>>10)
		}
	}
	inputs(b, func(tool string, f field) {
		if len(f.Enum) > maxChoices {
			found(tool+": "+f.path, "it has %d choices; take a text and say where to find them, or check it in the handler", len(f.Enum))
		}
	})
}

func checkDepth(b *built, found foundFunc) {
	for _, t := range b.Tools {
		deepest := field{}
		eachField("input", t.InputSchema, func(f field) {
			if f.depth > deepest.depth {
				deepest = f
			}
		})
		if deepest.depth > maxDepth {
			found(t.Name+": "+deepest.path, "it is nested %d deep; make the arguments flatter, or split the tool", deepest.depth)
		}
	}
}
