package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean removes hidden characters from a text, and truncates the result to maxChars characters.
// A truncated text ends with "…". Line separators (U+2028, U+2029) become line feeds, and bytes
// that are not UTF-8 become U+FFFD. Cleaning a cleaned text again changes nothing.
func Clean(unsafeText string, maxChars int) string {
	unsafeText = Replace(strings.ToValidUTF8(unsafeText, "\ufffd"), func(r rune) string {
		if unicode.In(r, unicode.Zl, unicode.Zp) {
			return "\n"
		}
		return ""
	})
	if len(unsafeText) <= maxChars { // a text has at least as many bytes as characters
		return unsafeText
	}
	count := 0
	for i := range unsafeText {
		if count == maxChars-1 && utf8.RuneCountInString(unsafeText[i:]) > 1 {
			return Replace(unsafeText[:i], dropRune) + "…" // the truncation may have split an emoji sequence
		}
		count++
	}
	return unsafeText
}

func dropRune(rune) string { return "" }

// Line cleans text like [Clean], and also returns a single line: each run of white space
// becomes one space.
func Line(unsafeText string, maxChars int) string {
	return Clean(strings.Join(strings.Fields(Replace(unsafeText, func(r rune) string {
		if unicode.IsSpace(r) {
			return " "
		}
		return ""
	})), " "), maxChars)
}

// Replace replaces each hidden character of a text with the result of the function replacement.
// Bytes that are not UTF-8 are treated as hidden characters.
func Replace(unsafeText string, replacement func(hiddenRune rune) string) string {
	var b strings.Builder
	var s hiddenScanner
	copiedUntil := 0
	for i := 0; i < len(unsafeText); {
		r, size := utf8.DecodeRuneInString(unsafeText[i:])
		if r == utf8.RuneError && size == 1 {
			r = rune(unsafeText[i])
		} else if !s.isHidden(r, unsafeText[i+size:]) {
			i += size
			continue
		}
		b.WriteString(unsafeText[copiedUntil:i])
		b.WriteString(replacement(r))
		i += size
		copiedUntil = i
	}
	if copiedUntil == 0 {
		return unsafeText
	}
	b.WriteString(unsafeText[copiedUntil:])
	return b.String()
}

// FindHiddenRune returns the first hidden character of a text. If the text contains no hidden
// character, FindHiddenRune returns false.
func FindHiddenRune(unsafeText string) (hiddenRune rune, ok bool) {
	var s hiddenScanner
	for i, r := range unsafeText {
		if s.isHidden(r, unsafeText[i+utf8.RuneLen(r):]) {
			return r, true
		}
	}
	return 0, false
}
