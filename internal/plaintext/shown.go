package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// HiddenProblem returns the sentence about a hidden character in a text.
func HiddenProblem(r rune) string {
	return fmt.Sprintf("has the character U+%04X, which is not shown and can hide what a text means; remove it", r)
}

// CheckShown returns the problem of a text that contains a hidden character, or ""
// if there is none.
func CheckShown(text string) string {
	i := strings.IndexFunc(text, isUnfitForReview)
	if i < 0 {
		return ""
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return HiddenProblem(r)
}

// isUnfitForReview reports whether a reviewer cannot see r: control characters, the
// marks that change the writing direction, and letters without a glyph.
// isUnfitForReview accepts some characters that [Clean] removes, because texts that an
// author copies often contain them.
func isUnfitForReview(r rune) bool {
	if r >= ' ' && r <= '~' { // most characters are letters
		return false
	}
	switch r {
	case '\n', '\r', '\t', '\u00ad', '\u200c', '\u200d', '\u200e', '\u200f', '\u061c', '\ufeff':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// maxShortened is the length of the result of [Shorten], in characters.
const maxShortened = 60

// Shorten cuts a quoted text to a length that fits into a sentence.
func Shorten(text string) string {
	if runes := []rune(text); len(runes) > maxShortened {
		return string(runes[:maxShortened]) + "…"
	}
	return text
}
