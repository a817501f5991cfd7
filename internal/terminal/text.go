package terminal

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"opentabs/internal/plaintext"
)

// safeText replaces each hidden character of a text (see package plaintext) by an
// escape that the user can read: ESC becomes \x1b.
func safeText(s string) string {
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

// safeJSON replaces each hidden character of a JSON text by its JSON escape. The JSON
// value stays the same, because hidden characters occur only in JSON strings.
func safeJSON(s string) string {
	return plaintext.Replace(s, func(r rune) string {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// SafeLine returns a text as one line with its hidden characters escaped: white space
// of any length becomes one space.
func SafeLine(s string) string {
	return safeText(strings.Join(strings.Fields(s), " "))
}

// SafeCode returns a line of source code in which hidden characters are escaped. SafeCode
// keeps all spaces.
func SafeCode(s string) string { return safeText(s) }

// textWidth returns how many columns of a terminal s takes.
func textWidth(s string) int { return displaywidth.String(s) }

// ellipsis ends a text that was cut.
const ellipsis = "..."

// truncateColumns cuts s to at most width columns. A text that was cut ends with
// ellipsis.
func truncateColumns(s string, width int) string {
	if width <= len(ellipsis) && textWidth(s) > width {
		return ellipsis[:max(width, 0)]
	}
	return displaywidth.TruncateString(s, width, ellipsis)
}
