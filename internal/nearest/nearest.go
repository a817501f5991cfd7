// Package nearest finds the name that was probably meant by a misspelled one.
package nearest

import "strings"

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
		// Any short name is only a few edits away.
		if d := editDistance(wrong, name); d < bestDistance && d*3 <= len(name) {
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

// editDistance returns how many bytes must be inserted, deleted or replaced to turn
// a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// Suggestion returns " (did you mean NAME?)" for the most similar name; empty if no
// name is similar.
func Suggestion(wrong string, names []string) string {
	if name := Name(wrong, names); name != "" {
		return " (did you mean " + name + "?)"
	}
	return ""
}
