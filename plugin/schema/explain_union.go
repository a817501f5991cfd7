package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxAlternatives is the maximum number of alternatives of an anyOf or oneOf that an
// error message lists.
const maxAlternatives = 5

// explainUnion guesses which alternative the agent meant and reports the violations of that alternative.
func (x *explainer) explainUnion(e *jsonschema.ValidationError) []violation {
	path := e.InstanceLocation
	var alternatives [][]violation
	for _, cause := range e.Causes {
		alternatives = append(alternatives, x.leafViolations(cause))
	}
	if mergedViolation, ok := mergeExpectedTypes(path, alternatives); ok {
		return []violation{mergedViolation}
	}
	alternatives = removeAlternatives(alternatives, func(v violation) bool {
		_, isTypeMismatch := v.kind.(*kind.Type)
		return isTypeMismatch && len(v.path) == len(path)
	})
	alternatives = removeAlternatives(alternatives, func(v violation) bool {
		return isConstant(v) && len(v.path) == len(path)+1
	})
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	if tagViolation, ok := mergeTags(alternatives, len(path)+1); ok {
		return []violation{tagViolation}
	}
	var shownTexts []string
	for i, alternative := range alternatives {
		if i == maxAlternatives {
			shownTexts = append(shownTexts, fmt.Sprintf("(%d more)", len(alternatives)-i))
			break
		}
		shownTexts = append(shownTexts, fmt.Sprintf("(%d) %s", i+1, alternativeText(path, alternative)))
	}
	return []violation{{path: path, errorMessage: fmt.Sprintf("fits none of %d allowed forms; mend one of %s", len(alternatives), strings.Join(shownTexts, " "))}}
}

func alternativeText(path []string, alternative []violation) string {
	var textParts []string
	for _, v := range alternative {
		if len(v.path) > len(path) {
			textParts = append(textParts, strings.TrimPrefix(formatPointer(v.path[len(path):]), "/")+" "+v.errorMessage)
		} else {
			textParts = append(textParts, v.errorMessage)
		}
	}
	slices.Sort(textParts)
	return strings.Join(slices.Compact(textParts), ", ")
}

func removeAlternatives(alternatives [][]violation, isExcluded func(violation) bool) [][]violation {
	remainingAlternatives := slices.DeleteFunc(slices.Clone(alternatives), func(alternative []violation) bool { return slices.ContainsFunc(alternative, isExcluded) })
	if len(remainingAlternatives) == 0 {
		return alternatives
	}
	return remainingAlternatives
}

func isConstant(v violation) bool {
	switch v.kind.(type) {
	case *kind.Const, *kind.Enum:
		return true
	}
	return false
}

// The tag of a tagged union is a property for which each alternative allows a different constant.
func mergeTags(alternatives [][]violation, depth int) (violation, bool) {
	var path []string
	var expectedValues []any
	for _, alternative := range alternatives {
		i := slices.IndexFunc(alternative, func(v violation) bool { return isConstant(v) && len(v.path) == depth })
		if i < 0 || path != nil && !slices.Equal(path, alternative[i].path) {
			return violation{}, false
		}
		path = alternative[i].path
		expectedValues = append(expectedValues, readExpectedValues(alternative[i].kind)...)
	}
	return violation{path: path, errorMessage: "want " + formatAllowedValues(expectedValues)}, len(alternatives) > 0
}

func mergeExpectedTypes(path []string, alternatives [][]violation) (violation, bool) {
	got := ""
	var types, textParts []string
	var allowedValues []any
	for _, alternative := range alternatives {
		if len(alternative) != 1 || len(alternative[0].path) != len(path) {
			return violation{}, false
		}
		switch k := alternative[0].kind.(type) {
		case *kind.Type:
			got = k.Got
			types = append(types, k.Want...)
		case *kind.Const, *kind.Enum:
			allowedValues = append(allowedValues, readExpectedValues(k)...)
		default:
			return violation{}, false
		}
	}
	slices.Sort(types)
	textParts = append(textParts, slices.Compact(types)...)
	if len(allowedValues) > 0 {
		textParts = append(textParts, formatAllowedValues(allowedValues))
	}
	description := "want " + strings.Join(textParts, " or ")
	if got != "" {
		description = "got " + got + ", " + description
	}
	return violation{path: path, errorMessage: description}, len(textParts) > 0
}

func readExpectedValues(k jsonschema.ErrorKind) []any {
	switch k := k.(type) {
	case *kind.Const:
		return []any{k.Want}
	case *kind.Enum:
		return k.Want
	}
	return nil
}
