package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxForms is how many forms of a union are spelled out.
const maxForms = 5

// union tells why a value fits none of several forms, by the form that it was
// most likely meant to have.
func (x *explainer) union(e *jsonschema.ValidationError) []violation {
	at := e.InstanceLocation
	var forms [][]violation
	for _, cause := range e.Causes {
		forms = append(forms, x.leaves(cause))
	}
	if merged, ok := mergeWants(at, forms); ok {
		return []violation{merged}
	}
	forms = without(forms, func(v violation) bool { // not even the right type
		_, wrongType := v.kind.(*kind.Type)
		return wrongType && len(v.at) == len(at)
	})
	forms = without(forms, func(v violation) bool { // another case of a tagged union
		return isTag(v) && len(v.at) == len(at)+1
	})
	if len(forms) == 1 {
		return forms[0]
	}
	if tag, ok := mergeTags(forms, len(at)+1); ok {
		return []violation{tag}
	}
	var texts []string
	for i, form := range forms {
		if i == maxForms {
			texts = append(texts, fmt.Sprintf("(%d more)", len(forms)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("(%d) %s", i+1, formText(at, form)))
	}
	return []violation{{at: at, text: fmt.Sprintf("fits none of %d allowed forms; mend one of %s", len(forms), strings.Join(texts, " "))}}
}

// formText tells in one line what keeps the value at a place from one form.
func formText(at []string, form []violation) string {
	var parts []string
	for _, v := range form {
		if len(v.at) > len(at) {
			parts = append(parts, strings.TrimPrefix(location(v.at[len(at):]), "/")+" "+v.text)
		} else {
			parts = append(parts, v.text)
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ", ")
}

// without drops the forms that have such a violation, unless all have.
func without(forms [][]violation, bad func(violation) bool) [][]violation {
	kept := slices.DeleteFunc(slices.Clone(forms), func(form []violation) bool { return slices.ContainsFunc(form, bad) })
	if len(kept) == 0 {
		return forms
	}
	return kept
}

// isTag reports whether a value is not the constant it has to be.
func isTag(v violation) bool {
	switch v.kind.(type) {
	case *kind.Const, *kind.Enum:
		return true
	}
	return false
}

// mergeTags puts together forms that all fail at the same tag.
func mergeTags(forms [][]violation, depth int) (violation, bool) {
	var at []string
	var wants []any
	for _, form := range forms {
		i := slices.IndexFunc(form, func(v violation) bool { return isTag(v) && len(v.at) == depth })
		if i < 0 || at != nil && !slices.Equal(at, form[i].at) {
			return violation{}, false
		}
		at = form[i].at
		wants = append(wants, wantsOf(form[i].kind)...)
	}
	return violation{at: at, text: "want " + oneOf(wants)}, len(forms) > 0
}

// mergeWants puts together forms that each say only that the value itself is of
// another type or not one of the allowed values.
func mergeWants(at []string, forms [][]violation) (violation, bool) {
	got := ""
	var types, parts []string
	var values []any
	for _, form := range forms {
		if len(form) != 1 || len(form[0].at) != len(at) {
			return violation{}, false
		}
		switch k := form[0].kind.(type) {
		case *kind.Type:
			got = k.Got
			types = append(types, k.Want...)
		case *kind.Const, *kind.Enum:
			values = append(values, wantsOf(k)...)
		default:
			return violation{}, false
		}
	}
	slices.Sort(types)
	parts = append(parts, slices.Compact(types)...)
	if len(values) > 0 {
		parts = append(parts, oneOf(values))
	}
	text := "want " + strings.Join(parts, " or ")
	if got != "" {
		text = "got " + got + ", " + text
	}
	return violation{at: at, text: text}, len(parts) > 0
}

// wantsOf returns the values that a constant or an enumeration allows.
func wantsOf(k jsonschema.ErrorKind) []any {
	switch k := k.(type) {
	case *kind.Const:
		return []any{k.Want}
	case *kind.Enum:
		return k.Want
	}
	return nil
}
