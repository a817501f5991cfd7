package config

import "strings"

// Closest returns the choice that word was most likely meant to be, or "" if
// none is near: at most a third of its letters differ.
func Closest(word string, choices []string) string {
	best, distance := "", len(word)/3+1
	for _, choice := range choices {
		if strings.EqualFold(word, choice) {
			return choice
		}
		d := edits(strings.ToLower(word), strings.ToLower(choice))
		// A word that breaks off is a common slip too.
		if len(word) >= 3 && strings.HasPrefix(strings.ToLower(choice), strings.ToLower(word)) {
			d = 1
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

// edits is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func edits(a, b string) int {
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
