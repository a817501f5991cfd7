package plaintext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns text without hidden characters, truncated to maxChars characters. A
// truncated text ends with "…". Line separators become line feeds, and bytes that
// are not UTF-8 become U+FFFD. Cleaning a clean text changes nothing.
func Clean(text string, maxChars int) string {
	text = Replace(strings.ToValidUTF8(text, "\ufffd"), func(r rune) string {
		if unicode.In(r, unicode.Zl, unicode.Zp) {
			return "\n"
		}
		return ""
	})
	if len(text) <= maxChars { // a text never has fewer bytes than characters
		return text
	}
	count := 0
	for i := range text {
		if count == maxChars-1 && utf8.RuneCountInString(text[i:]) > 1 {
			return Replace(text[:i], dropRune) + "…" // the cut may have left half of an emoji
		}
		count++
	}
	return text
}

func dropRune(rune) string { return "" }

// Line cleans text and writes it on one line: each run of white space becomes one
// space.
func Line(text string, maxChars int) string {
	return Clean(strings.Join(strings.Fields(Replace(text, func(r rune) string {
		if unicode.IsSpace(r) {
			return " "
		}
		return ""
	})), " "), maxChars)
}

// Replace returns text with each hidden character, and each byte that is not UTF-8,
// replaced by what replacement returns for it.
func Replace(text string, replacement func(hidden rune) string) string {
	var b strings.Builder
	var s hiddenScanner
	copiedTo := 0 // text[copiedTo:i] needs no change
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			r = rune(text[i])
		} else if !s.isHidden(r, text[i+size:]) {
			i += size
			continue
		}
		b.WriteString(text[copiedTo:i])
		b.WriteString(replacement(r))
		i += size
		copiedTo = i
	}
	if copiedTo == 0 {
		return text
	}
	b.WriteString(text[copiedTo:])
	return b.String()
}

// FirstHidden returns the first hidden character of text; ok is false if text has none.
func FirstHidden(text string) (hidden rune, ok bool) {
	var s hiddenScanner
	for i, r := range text {
		if s.isHidden(r, text[i+utf8.RuneLen(r):]) {
			return r, true
		}
	}
	return 0, false
}
