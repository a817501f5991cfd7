// Package nearest finds the name that was probably meant by a misspelled one.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name returns the name that is most similar to wrong; empty if no name is similar.
func Name(wrong string, names []string) string {
	const maxName = 64 // longer names are not compared
	best, bestDistance := "", 3
	for _, name := range names {
		if normalize(name) == normalize(wrong) {
			return name
		}
		if len(wrong) > maxName || len(name) > maxName {
			continue
		}
		// Between short names the distance is always small.
		if d := levenshtein.ComputeDistance(wrong, name); d < bestDistance && d*3 <= len(name) {
			best, bestDistance = name, d
		}
	}
	return best
}

// normalize removes the differences between spellings of one name: channelId,
// channel_id, channel-id.
func normalize(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// Suggestion returns " (did you mean NAME?)" for the most similar name; empty if no
// name is similar.
func Suggestion(wrong string, names []string) string {
	if name := Name(wrong, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}
