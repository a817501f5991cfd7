package wsbridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name that a browser may give itself, in characters.
const maxName = 100

// plainID reports whether s can be an id: 1 to 128 visible ASCII characters.
func plainID(s string) bool {
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

// clean makes text from a browser fit for logs, terminals and agents: control
// characters and what changes the writing direction are removed (line feeds
// and tabs stay), and it is cut to n characters.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(s, "\ufffd"))
	if len(s) <= n { // bytes are never fewer than characters
		return s
	}
	count := 0
	for i := range s {
		if count == n-1 && utf8.RuneCountInString(s[i:]) > 1 {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// cut shortens s to at most n bytes, at the end of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
