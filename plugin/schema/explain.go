package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"opentabs/internal/nearest"
)

// maxViolations is the maximum number of violations that an error message lists.
const maxViolations = 50

// The type violation describes one value that violates a JSON Schema.
type violation struct {
	path         []string
	kind         jsonschema.ErrorKind
	errorMessage string
}

func (v violation) String() string { return formatPointer(v.path) + ": " + v.errorMessage }

func formatPointer(path []string) string {
	if len(path) == 0 {
		return "/"
	}
	var b strings.Builder
	for _, stepName := range path {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(stepName))
	}
	pointer := b.String()
	if quotedJSON := strconv.Quote(pointer); quotedJSON != `"`+pointer+`"` {
		return shortenText(quotedJSON)
	}
	return shortenText(pointer)
}

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// The type explainer turns errors of the jsonschema library into sentences.
type explainer struct {
	schema any
	value  any
}

func explainViolations(e *jsonschema.ValidationError, schema, value any) []string {
	x := explainer{schema: schema, value: value}
	var lines []string
	for _, v := range x.leafViolations(e) {
		lines = append(lines, v.String())
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) > maxViolations {
		omittedCount := len(lines) - maxViolations
		lines = append(lines[:maxViolations], fmt.Sprintf("and %d more", omittedCount))
	}
	return lines
}

func (x *explainer) leafViolations(e *jsonschema.ValidationError) []violation {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return x.explainUnion(e)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return []violation{{path: e.InstanceLocation, errorMessage: fmt.Sprintf(
				"matches the alternatives %d and %d; pass a value that matches only one", k.Subschemas[0]+1, k.Subschemas[1]+1)}}
		}
		return x.explainUnion(e)
	case *kind.Required:
		return x.missingProperties(e.InstanceLocation, k.Missing, x.schemaAt(e.SchemaURL))
	case *kind.AdditionalProperties:
		return x.unknownProperties(e.InstanceLocation, k.Properties, x.schemaAt(e.SchemaURL))
	case *kind.PropertyNames:
		return x.propertyName(e, k.Property)
	case *kind.Pattern:
		description := describePattern(k.Want, x.schemaAt(e.SchemaURL))
		return []violation{{path: e.InstanceLocation, kind: k, errorMessage: description}}
	}
	if _, ok := e.ErrorKind.(*kind.Contains); len(e.Causes) > 0 && !ok {
		var violations []violation
		for _, cause := range e.Causes {
			violations = append(violations, x.leafViolations(cause)...)
		}
		return violations
	}
	return []violation{{path: e.InstanceLocation, kind: e.ErrorKind, errorMessage: describeViolation(e.ErrorKind)}}
}

func (x *explainer) missingProperties(path, names []string, schema map[string]any) []violation {
	properties, _ := schema["properties"].(map[string]any)
	var violations []violation
	for _, name := range names {
		errorMessage := "is missing; add it"
		if description := x.describeSchema(properties[name]); description != "" {
			errorMessage = "is missing; give " + description
		}
		violations = append(violations, violation{path: appendPathStep(path, name), errorMessage: errorMessage})
	}
	return violations
}

func (x *explainer) unknownProperties(path, names []string, schema map[string]any) []violation {
	properties, _ := schema["properties"].(map[string]any)
	propertyNames := make([]string, 0, len(properties))
	for name := range properties {
		propertyNames = append(propertyNames, name)
	}
	slices.Sort(propertyNames)
	var violations []violation
	for _, name := range names {
		description := "unknown property " + quoteText(name)
		switch nearestName := nearest.Name(name, propertyNames); {
		case len(propertyNames) == 0:
			description += "; leave it out, none is allowed here"
		case nearestName != "":
			description += "; did you mean " + quoteText(nearestName) + "? allowed: " + quoteAll(propertyNames)
		default:
			description += "; allowed: " + quoteAll(propertyNames)
		}
		violations = append(violations, violation{path: appendPathStep(path, name), errorMessage: description})
	}
	return violations
}

func (x *explainer) propertyName(e *jsonschema.ValidationError, name string) []violation {
	var reasons []string
	for _, cause := range e.Causes {
		for _, v := range x.leafViolations(cause) {
			reasons = append(reasons, v.errorMessage)
		}
	}
	description := "the property name " + quoteText(name) + " is not allowed"
	if len(reasons) > 0 {
		description += ": " + strings.Join(reasons, ", ")
	}
	return []violation{{path: x.propertyPath(e.InstanceLocation, name), errorMessage: description}}
}

// The jsonschema library reuses the memory of path, so path may lead to a sibling property.
func (x *explainer) propertyPath(path []string, name string) []string {
	value := x.value
	for _, stepName := range path {
		value = childValue(value, stepName)
	}
	if object, ok := value.(map[string]any); ok {
		if _, ok := object[name]; ok {
			return appendPathStep(path, name)
		}
	}
	if len(path) > 0 {
		if path, ok := findProperty(x.value, name, nil); ok {
			return path
		}
	}
	return []string{name}
}

func findProperty(value any, name string, path []string) ([]string, bool) {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v[name]; ok {
			return appendPathStep(path, name), true
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if path, ok := findProperty(v[key], name, appendPathStep(path, key)); ok {
				return path, true
			}
		}
	case []any:
		for i, item := range v {
			if path, ok := findProperty(item, name, appendPathStep(path, strconv.Itoa(i))); ok {
				return path, true
			}
		}
	}
	return nil, false
}

func childValue(value any, stepName string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[stepName]
	case []any:
		if i, err := strconv.Atoi(stepName); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

func appendPathStep(path []string, stepName string) []string {
	return append(slices.Clip(slices.Clone(path)), stepName)
}
