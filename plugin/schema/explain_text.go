package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	// maxQuotedChars is the maximum length of an argument or a schema text that an error
	// message quotes, in characters.
	maxQuotedChars = 120
	// maxListedValues is the maximum number of allowed values or names that an error
	// message lists.
	maxListedValues = 40
)

// The sentence about a violation does not quote the invalid value, because errors may be logged, and the agent already
// has the value.
func describeViolation(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "got " + k.Got + ", want " + strings.Join(k.Want, " or ")
	case *kind.Const, *kind.Enum:
		return "want " + formatAllowedValues(readExpectedValues(k))
	case *kind.Format:
		return describeFormat(k.Want)
	case *kind.Minimum:
		return "got " + describeNumber(k.Got) + ", want at least " + describeNumber(k.Want)
	case *kind.Maximum:
		return "got " + describeNumber(k.Got) + ", want at most " + describeNumber(k.Want)
	case *kind.ExclusiveMinimum:
		return "got " + describeNumber(k.Got) + ", want more than " + describeNumber(k.Want)
	case *kind.ExclusiveMaximum:
		return "got " + describeNumber(k.Got) + ", want less than " + describeNumber(k.Want)
	case *kind.MultipleOf:
		return "got " + describeNumber(k.Got) + ", want a multiple of " + describeNumber(k.Want)
	case *kind.Not, *kind.FalseSchema:
		return "is not allowed here; leave it out or give something else"
	case *kind.Dependency:
		return "has " + quoteText(k.Prop) + " without " + quoteAll(k.Missing) + "; give both"
	case *kind.DependentRequired:
		return "has " + quoteText(k.Prop) + " without " + quoteAll(k.Missing) + "; give both"
	case nil:
		return "is not allowed"
	}
	if description := describeSize(k); description != "" {
		return description
	}
	return "breaks the schema's rule " + strings.Join(k.KeywordPath(), "/")
}

func describeSize(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("has %s, want at least %d", formatCount(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("has %s, want at most %d", formatCount(k.Got, "character"), k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %s, want at least %d", formatCount(k.Got, "item"), k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %s, want at most %d", formatCount(k.Got, "item"), k.Want)
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %s too many; leave out the last", formatCount(k.Count, "item"))
	case *kind.MinProperties:
		return fmt.Sprintf("has %s, want at least %d", formatCount(k.Got, "property"), k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("has %s, want at most %d", formatCount(k.Got, "property"), k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("has the same item at %d and %d; give each once", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "has no item of the wanted form; add one"
	case *kind.MinContains:
		return fmt.Sprintf("has %s of the wanted form, want at least %d", formatCount(len(k.Got), "item"), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("has %s of the limited form, want at most %d", formatCount(len(k.Got), "item"), k.Want)
	}
	return ""
}

func formatCount(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "property":
		return fmt.Sprintf("%d properties", n)
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}

var formatExamples = map[string][]string{
	"date-time": {"2026-01-31T12:00:00Z", "2026-01-31T12:00:00+02:00", "2026-01-31T12:00:00"},
	"date":      {"2026-01-31"},
	"time":      {"12:00:00Z", "12:00:00"},
	"duration":  {"PT1H30M"},
	"email":     {"name@example.com"},
	"uri":       {"https://example.com/path"},
	"uuid":      {"123e4567-e89b-42d3-a456-426614174000"},
}

func describeFormat(format string) string {
	description := "is not a valid " + shortenText(format)
	if examples := formatExamples[format]; len(examples) > 0 {
		description += "; write it as in " + examples[0]
	}
	return description
}

// If the schema names a format, as schemas from zod do, the returned sentence contains an example that matches the
// pattern.
func describePattern(pattern string, schema map[string]any) string {
	format, _ := schema[renamedFormatKeyword].(string)
	if compiledRegexp, err := compilePattern(pattern); err == nil {
		if i := slices.IndexFunc(formatExamples[format], compiledRegexp.MatchString); i >= 0 {
			return "is not a valid " + format + "; write it as in " + formatExamples[format][i]
		}
	}
	return "does not match the pattern " + shortenText(pattern)
}

func describeNumber(r *big.Rat) string {
	if r == nil {
		return "a number"
	}
	if digits, isExact := r.FloatPrec(); isExact {
		return shortenText(r.FloatString(digits))
	}
	return shortenText(r.RatString())
}

func formatAllowedValues(allowedValues []any) string {
	var listedValues []string
	for _, v := range allowedValues {
		b, err := json.Marshal(v)
		if err != nil { // this error is impossible, because the value was decoded from JSON
			continue
		}
		if s := shortenText(string(b)); !slices.Contains(listedValues, s) {
			listedValues = append(listedValues, s)
		}
	}
	if len(listedValues) == 1 {
		return listedValues[0]
	}
	return "one of " + joinListedItems(listedValues)
}

func quoteAll(names []string) string {
	quotedNames := make([]string, 0, len(names))
	for _, name := range names {
		quotedNames = append(quotedNames, quoteText(name))
	}
	return joinListedItems(quotedNames)
}

func joinListedItems(items []string) string {
	if len(items) > maxListedValues {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:maxListedValues], ", "), len(items)-maxListedValues)
	}
	return strings.Join(items, ", ")
}

func quoteText(s string) string { return shortenText(strconv.Quote(s)) }

func shortenText(s string) string {
	if len(s) <= maxQuotedChars || utf8.RuneCountInString(s) <= maxQuotedChars {
		return s
	}
	return string([]rune(s)[:maxQuotedChars]) + "…"
}

func (x *explainer) describeSchema(schema any) string {
	s := x.resolve(schema)
	if allowedValues, ok := s["enum"].([]any); ok {
		return formatAllowedValues(allowedValues)
	}
	if value, ok := s["const"]; ok {
		return formatAllowedValues([]any{value})
	}
	errorMessage := ""
	switch t := s["type"].(type) {
	case string:
		errorMessage = addArticle(t)
	case []any:
		var types []string
		for _, name := range t {
			types = append(types, addArticle(fmt.Sprint(name)))
		}
		errorMessage = strings.Join(types, " or ")
	}
	if description, ok := s["description"].(string); ok && errorMessage != "" {
		errorMessage += " (" + shortenText(strings.Join(strings.Fields(description), " ")) + ")"
	}
	return errorMessage
}

func addArticle(typeName string) string {
	switch typeName {
	case "null":
		return "null"
	case "object", "array", "integer":
		return "an " + typeName
	default:
		return "a " + typeName
	}
}

func (x *explainer) resolve(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	for range maxConsecutiveRefs {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		s = x.schemaAt(ref)
	}
	return s
}

func (x *explainer) schemaAt(location string) map[string]any {
	_, fragment, _ := strings.Cut(location, "#")
	value := x.schema
	for _, token := range strings.Split(fragment, "/")[1:] {
		stepName, err := url.PathUnescape(token)
		if err != nil {
			stepName = token
		}
		value = childValue(value, pointerUnescape.Replace(stepName))
	}
	s, _ := value.(map[string]any)
	return s
}
