package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DescribeHiddenRune returns the error text for a hidden character, such as "has the character
// U+202E, which is not shown ...".
func DescribeHiddenRune(r rune) string {
	return fmt.Sprintf("has the character U+%04X, which is not shown and can hide what a text means; remove it", r)
}

// CheckDisplayText returns the error text for the first character that a reviewer cannot see.
// If a reviewer can see all characters, CheckDisplayText returns "".
func CheckDisplayText(shownText string) string {
	i := strings.IndexFunc(shownText, isInvisibleInReview)
	if i < 0 {
		return ""
	}
	r, _ := utf8.DecodeRuneInString(shownText[i:])
	return DescribeHiddenRune(r)
}

// isInvisibleInReview accepts some characters that [Clean] removes, such as soft hyphens, because copied text often
// contains them.
func isInvisibleInReview(r rune) bool {
	if r >= ' ' && r <= '~' {
		return false
	}
	switch r {
	case '\n', '\r', '\t', '\u00ad', '\u200c', '\u200d', '\u200e', '\u200f', '\u061c', '\ufeff':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// maxShortenedChars is the maximum length of a text that Shorten returns, in characters
// without the ellipsis.
const maxShortenedChars = 60

// Shorten truncates a text to 60 characters and an ellipsis, so that an error message can
// quote the text.
func Shorten(shownText string) string {
	if runes := []rune(shownText); len(runes) > maxShortenedChars {
		return string(runes[:maxShortenedChars]) + "…"
	}
	return shownText
}
