// Package nearest finds the name that was probably meant by a misspelled one.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// The constants maxCompared and minPrefix limit the comparison of two names, in bytes.
const (
	maxCompared = 128 // longer names are not compared letter by letter
	minPrefix   = 3   // too many names begin with a shorter word
)

// Name returns the name that is most similar to wrongName. Name returns "" if more than a
// third of the letters differ in each name.
func Name(wrongName string, names []string) string {
	nearestName, maxEdits := "", len(wrongName)/3+1
	for _, name := range names {
		if normalizeName(name) == normalizeName(wrongName) {
			return name
		}
		if n := editsBetween(strings.ToLower(wrongName), strings.ToLower(name), maxEdits); n < maxEdits {
			nearestName, maxEdits = name, n
		}
	}
	return nearestName
}

// normalizeName removes the differences between spellings of one name: channelId,
// channel_id, channel-id.
func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// editsBetween returns the number of edits from wrongName to name; maxEdits if the
// names are too long to compare. A swap of two neighbours counts as one edit. If
// wrongName is the beginning of name, the missing rest counts as one edit.
func editsBetween(wrongName, name string, maxEdits int) int {
	switch {
	case len(wrongName) >= minPrefix && strings.HasPrefix(name, wrongName), isSwap(wrongName, name):
		return 1
	case len(wrongName) > maxCompared || len(name) > maxCompared:
		return maxEdits
	}
	return levenshtein.ComputeDistance(wrongName, name)
}

// isSwap reports whether a and b differ in two neighbouring bytes that changed places.
func isSwap(a, b string) bool {
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

// Suggestion returns " (did you mean NAME?)" for the most similar name; empty if no
// name is similar.
func Suggestion(wrongName string, names []string) string {
	if name := Name(wrongName, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}
