package inbound

import (
	"unicode/utf8"

	"opentabs/internal/plaintext"
)

// MaxBrowserNameChars limits the name of a browser, in characters.
const MaxBrowserNameChars = 100

// IsID reports whether s is a valid ID: 1 to 128 visible ASCII characters.
func IsID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// CleanText makes a browser's text safe for logs, terminals and agents, and truncates it
// to n characters.
func CleanText(s string, n int) string { return plaintext.Clean(s, n) }

// CleanTexts cleans at most maxCount texts with CleanText and drops the rest.
func CleanTexts(shownTexts []string, maxCount, maxChars int) []string {
	var cleaned []string
	for _, s := range shownTexts[:min(len(shownTexts), maxCount)] {
		cleaned = append(cleaned, CleanText(s, maxChars))
	}
	return cleaned
}

// Truncate shortens s to at most n bytes without splitting a UTF-8 character.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
