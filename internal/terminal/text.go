package terminal

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"opentabs/internal/plaintext"
)

// escapeText replaces each hidden character with a visible escape, such as \x1b for the character
// ESC. Package plaintext defines which characters count as hidden, such as control characters.
func escapeText(s string) string {
	return plaintext.Replace(s, func(r rune) string {
		switch {
		case r < 0x100:
			return fmt.Sprintf(`\x%02x`, r)
		case r > 0xffff:
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// escapeJSON does not change the value that the JSON encodes: hidden characters occur only in JSON strings, which allow
// escapes.
func escapeJSON(s string) string {
	return plaintext.Replace(s, func(r rune) string {
		if highSurrogate, low := utf16.EncodeRune(r); highSurrogate != utf8.RuneError {
			return fmt.Sprintf(`\u%04x\u%04x`, highSurrogate, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// SafeLine returns s as one line with hidden characters escaped. SafeLine replaces each sequence of
// spaces and line breaks in s with one space.
func SafeLine(s string) string {
	return escapeText(strings.Join(strings.Fields(s), " "))
}

// SafeCode returns a line of source code with hidden characters escaped. Unlike SafeLine,
// SafeCode keeps all spaces.
func SafeCode(s string) string { return escapeText(s) }

func textWidth(s string) int { return displaywidth.String(s) }

const ellipsis = "..."

func truncateColumns(s string, width int) string {
	if width <= len(ellipsis) && textWidth(s) > width {
		return ellipsis[:max(width, 0)]
	}
	return displaywidth.TruncateString(s, width, ellipsis)
}
