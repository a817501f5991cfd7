package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxDepth is the maximum nesting depth of arguments. Between the parts of an
	// extension, Chrome can pass values with at most about 2,000 nested levels.
	maxDepth = 1000
	// A JSON number above maxNumberChars is rejected, because its exact comparison would need too much time and memory.
	maxNumberChars = 1000
	// maxExponent is the greatest accepted exponent of a JSON number. maxExponent exceeds
	// 308, the largest exponent of a JavaScript number.
	maxExponent = 400
)

func isTooDeep(value any, levels int) bool {
	isDeeper := func(v any) bool { return isTooDeep(v, levels-1) }
	switch v := value.(type) {
	case []any:
		return levels == 0 || slices.ContainsFunc(v, isDeeper)
	case map[string]any:
		if levels == 0 {
			return true
		}
		for _, item := range v {
			if isDeeper(item) {
				return true
			}
		}
	}
	return false
}

func checkNumbers(value any) string {
	if path, problemText := findHugeNumber(value); problemText != "" {
		slices.Reverse(path)
		return formatPointer(path) + ": " + problemText
	}
	return ""
}

func findHugeNumber(value any) (path []string, problemText string) {
	switch v := value.(type) {
	case json.Number:
		return nil, numberProblem(v.String())
	case []any:
		for i, item := range v {
			if path, problemText = findHugeNumber(item); problemText != "" {
				return append(path, strconv.Itoa(i)), problemText
			}
		}
	case map[string]any:
		for key, item := range v {
			if path, problemText = findHugeNumber(item); problemText != "" {
				return append(path, key), problemText
			}
		}
	}
	return nil, ""
}

func numberProblem(numberText string) string {
	if len(numberText) > maxNumberChars {
		return fmt.Sprintf("the number has %d characters; use at most %d", len(numberText), maxNumberChars)
	}
	if i := strings.IndexAny(numberText, "eE"); i >= 0 {
		if exponent, err := strconv.Atoi(numberText[i+1:]); err != nil || exponent > maxExponent || exponent < -maxExponent {
			return fmt.Sprintf("the number has an exponent beyond %d; use a smaller one", maxExponent)
		}
	}
	return ""
}
