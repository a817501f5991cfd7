// Package nearest suggests the most similar valid name for a misspelled name.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxComparedChars and minPrefixChars are lengths of names, in bytes.
const (
	maxComparedChars = 128 // the edit distance is not computed for longer names
	minPrefixChars   = 3   // shorter prefixes match too many names
)

// Name returns the name with the fewest edits from wrongName. If every name differs from
// wrongName in more than about a third of wrongName's letters, Name returns "".
func Name(wrongName string, names []string) string {
	nearestName, maxEdits := "", len(wrongName)/3+1
	for _, name := range names {
		if normalizeName(name) == normalizeName(wrongName) {
			return name
		}
		if n := editDistance(strings.ToLower(wrongName), strings.ToLower(name), maxEdits); n < maxEdits {
			nearestName, maxEdits = name, n
		}
	}
	return nearestName
}

// IsWithinEditDistance reports whether a name has at most maxEdits edits from wrongName.
func IsWithinEditDistance(wrongName, name string, maxEdits int) bool {
	return editDistance(wrongName, name, maxEdits+1) <= maxEdits
}

func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// A swap of two neighboring letters counts as one edit. A missing end, as in "idle" for "idleTimeout", also counts as
// one edit.
func editDistance(wrongName, name string, maxEdits int) int {
	switch {
	case len(wrongName) >= minPrefixChars && strings.HasPrefix(name, wrongName), differsByOneSwap(wrongName, name):
		return 1
	case len(wrongName) > maxComparedChars || len(name) > maxComparedChars:
		return maxEdits
	}
	return levenshtein.ComputeDistance(wrongName, name)
}

func differsByOneSwap(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// Suggestion returns text such as " (did you mean port?)" for the most similar name.
// Suggestion returns "" if no name is similar.
func Suggestion(wrongName string, names []string) string {
	if name := Name(wrongName, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}
