package plugin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxViolations is how many violations an error spells out.
const maxViolations = 50

// violation is one thing that is wrong with the arguments.
type violation struct {
	// at are the steps from the arguments to the value.
	at []string
	// kind is what the validator says; nil for what was put together here.
	kind jsonschema.ErrorKind
	text string
}

func (v violation) String() string { return location(v.at) + ": " + v.text }

// location writes steps as a JSON pointer; "/" stands for the arguments
// themselves.
func location(at []string) string {
	if len(at) == 0 {
		return "/"
	}
	var b strings.Builder
	for _, step := range at {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(step))
	}
	pointer := b.String()
	if quoted := strconv.Quote(pointer); quoted != `"`+pointer+`"` {
		return shorten(quoted)
	}
	return shorten(pointer)
}

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// explainer turns what the validator found into sentences.
type explainer struct {
	schema any // the decoded schema
	value  any // the decoded arguments
}

// explain returns a sentence for each violation, sorted by place.
func explain(e *jsonschema.ValidationError, schema, value any) []string {
	x := explainer{schema: schema, value: value}
	found := x.leaves(e)
	var lines []string
	for _, v := range found {
		lines = append(lines, v.String())
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) > maxViolations {
		rest := len(lines) - maxViolations
		lines = append(lines[:maxViolations], fmt.Sprintf("and %d more", rest))
	}
	return lines
}

// leaves returns the violations in e and below it.
func (x *explainer) leaves(e *jsonschema.ValidationError) []violation {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return x.union(e)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return []violation{{at: e.InstanceLocation, text: fmt.Sprintf(
				"fits the allowed forms %d and %d at once; give what fits only one", k.Subschemas[0]+1, k.Subschemas[1]+1)}}
		}
		return x.union(e)
	case *kind.Required:
		return x.missing(e.InstanceLocation, k.Missing, x.schemaAt(e.SchemaURL))
	case *kind.AdditionalProperties:
		return x.surplus(e.InstanceLocation, k.Properties, x.schemaAt(e.SchemaURL))
	case *kind.PropertyNames:
		return x.propertyName(e, k.Property)
	case *kind.Pattern:
		text := patternText(k.Want, x.schemaAt(e.SchemaURL))
		return []violation{{at: e.InstanceLocation, kind: k, text: text}}
	}
	if _, ok := e.ErrorKind.(*kind.Contains); len(e.Causes) > 0 && !ok {
		var all []violation
		for _, cause := range e.Causes {
			all = append(all, x.leaves(cause)...)
		}
		return all
	}
	return []violation{{at: e.InstanceLocation, kind: e.ErrorKind, text: leafText(e.ErrorKind)}}
}

// missing tells properties that have to be there.
func (x *explainer) missing(at, names []string, schema map[string]any) []violation {
	properties, _ := schema["properties"].(map[string]any)
	var all []violation
	for _, name := range names {
		text := "is missing; give it"
		if wanted := x.wanted(properties[name]); wanted != "" {
			text = "is missing; give " + wanted
		}
		all = append(all, violation{at: join(at, name), text: text})
	}
	return all
}

// surplus tells properties that may not be there.
func (x *explainer) surplus(at, names []string, schema map[string]any) []violation {
	properties, _ := schema["properties"].(map[string]any)
	allowed := make([]string, 0, len(properties))
	for name := range properties {
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	var all []violation
	for _, name := range names {
		text := "unknown property " + quote(name)
		switch near := nearest(name, allowed); {
		case len(allowed) == 0:
			text += "; leave it out, none is allowed here"
		case near != "":
			text += "; did you mean " + quote(near) + "? allowed: " + quoteAll(allowed)
		default:
			text += "; allowed: " + quoteAll(allowed)
		}
		all = append(all, violation{at: join(at, name), text: text})
	}
	return all
}

// propertyName tells a property whose name is not allowed.
func (x *explainer) propertyName(e *jsonschema.ValidationError, name string) []violation {
	var why []string
	for _, cause := range e.Causes {
		for _, v := range x.leaves(cause) {
			why = append(why, v.text)
		}
	}
	text := "the property name " + quote(name) + " is not allowed"
	if len(why) > 0 {
		text += ": " + strings.Join(why, ", ")
	}
	return []violation{{at: x.placeOf(e.InstanceLocation, name), text: text}}
}

// placeOf returns the place of the property, at or at.../name. The validator
// reuses the memory of the location of such an error, so it may name a sibling;
// then the property is looked for.
func (x *explainer) placeOf(at []string, name string) []string {
	value := x.value
	for _, step := range at {
		value = child(value, step)
	}
	if object, ok := value.(map[string]any); ok {
		if _, ok := object[name]; ok {
			return join(at, name)
		}
	}
	if len(at) > 0 {
		if found, ok := find(x.value, name, nil); ok {
			return found
		}
	}
	return []string{name}
}

// find returns the first place, in the order of the keys, of a property.
func find(value any, name string, at []string) ([]string, bool) {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v[name]; ok {
			return join(at, name), true
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if found, ok := find(v[key], name, join(at, key)); ok {
				return found, true
			}
		}
	case []any:
		for i, item := range v {
			if found, ok := find(item, name, join(at, strconv.Itoa(i))); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// child returns a member or an element; nil if there is none.
func child(value any, step string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// join returns at with one more step, in memory of its own.
func join(at []string, step string) []string {
	return append(slices.Clip(slices.Clone(at)), step)
}
