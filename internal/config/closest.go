package config

import (
	"strings"
	"unicode/utf8"
)

// Closest returns the choice that is most similar to word, or "" if more than a
// third of the letters differ in each.
func Closest(word string, choices []string) string {
	best, distance := "", len(word)/3+1
	small := strings.ToLower(word)
	length := utf8.RuneCountInString(small)
	for _, choice := range choices {
		if strings.EqualFold(word, choice) {
			return choice
		}
		d := 1 // the beginning of a choice counts as one edit
		if other := strings.ToLower(choice); len(word) < 3 || !strings.HasPrefix(other, small) {
			// The difference in length is a lower bound, which is much faster to
			// compute for a word of a megabyte.
			if d = abs(length - utf8.RuneCountInString(other)); d < distance {
				d = editDistance(small, other)
			}
		}
		if d < distance {
			best, distance = choice, d
		}
	}
	return best
}

// DidYouMean returns " (did you mean CHOICE?)", or "" if no choice is near.
func DidYouMean(word string, choices []string) string {
	if best := Closest(word, choices); best != "" {
		return " (did you mean " + best + "?)"
	}
	return ""
}

func abs(n int) int { return max(n, -n) }

// editDistance returns the edit distance of a and b: the number of insertions, deletions,
// replacements and swaps of neighbours.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(y)]
}
