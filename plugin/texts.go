package plugin

import (
	"fmt"
	"unicode/utf8"

	"opentabs/internal/jsonread"
	"opentabs/internal/plaintext"
)

// cutText cuts the text of a member to maxChars characters, with a warning.
func cutText(f *jsonread.Reader, p *Plugin, key, text string, maxChars int) string {
	n := utf8.RuneCountInString(text)
	if n <= maxChars {
		return text
	}
	warnOf(f, p, key, "has %d characters, more than the %d that are shown; it is cut", n, maxChars)
	return plaintext.Clean(text, maxChars)
}

// readShort returns a string that may be absent, cut to maxChars characters.
func readShort(f *jsonread.Reader, p *Plugin, key string, maxChars int) string {
	return cutText(f, p, key, f.Optional(key), maxChars)
}

// warnOf tells what is odd about a member, but does no harm.
func warnOf(f *jsonread.Reader, p *Plugin, key, format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s%s %s", f.Problems.File, f.Path, key, fmt.Sprintf(format, args...)))
}
