package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxForms is how many alternatives of a union an error lists.
const maxForms = 5

// explainUnion explains why a value matches no alternative of a union. explainUnion
// guesses which alternative was meant and reports the violations of that alternative.
func (x *explainer) explainUnion(e *jsonschema.ValidationError) []violation {
	at := e.InstanceLocation
	var forms [][]violation
	for _, cause := range e.Causes {
		forms = append(forms, x.leafViolations(cause))
	}
	if merged, ok := mergeWants(at, forms); ok {
		return []violation{merged}
	}
	forms = withoutForms(forms, func(v violation) bool { // drop alternatives of another type
		_, wrongType := v.kind.(*kind.Type)
		return wrongType && len(v.at) == len(at)
	})
	forms = withoutForms(forms, func(v violation) bool { // drop other cases of a tagged union
		return isConstant(v) && len(v.at) == len(at)+1
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

// formText returns the violations of one alternative in one line.
func formText(at []string, form []violation) string {
	var parts []string
	for _, v := range form {
		if len(v.at) > len(at) {
			parts = append(parts, strings.TrimPrefix(pointerOf(v.at[len(at):]), "/")+" "+v.text)
		} else {
			parts = append(parts, v.text)
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), ", ")
}

// withoutForms drops the alternatives that have such a violation, unless all have one.
func withoutForms(forms [][]violation, bad func(violation) bool) [][]violation {
	kept := slices.DeleteFunc(slices.Clone(forms), func(form []violation) bool { return slices.ContainsFunc(form, bad) })
	if len(kept) == 0 {
		return forms
	}
	return kept
}

// isConstant reports whether the violation is a value other than the allowed
// constants.
func isConstant(v violation) bool {
	switch v.kind.(type) {
	case *kind.Const, *kind.Enum:
		return true
	}
	return false
}

// mergeTags merges alternatives that all fail at the same constant.
func mergeTags(forms [][]violation, depth int) (violation, bool) {
	var at []string
	var wants []any
	for _, form := range forms {
		i := slices.IndexFunc(form, func(v violation) bool { return isConstant(v) && len(v.at) == depth })
		if i < 0 || at != nil && !slices.Equal(at, form[i].at) {
			return violation{}, false
		}
		at = form[i].at
		wants = append(wants, wantsOf(form[i].kind)...)
	}
	return violation{at: at, text: "want " + listValues(wants)}, len(forms) > 0
}

// mergeWants merges alternatives that differ only in the type or the constants of
// the value itself.
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
		parts = append(parts, listValues(values))
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
