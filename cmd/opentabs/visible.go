package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"opentabs/internal/plaintext"
)

// Text of tools and pages goes to terminals, which obey what is in it. So hidden
// characters (internal/plaintext) are shown as escapes there.

// visibleText makes plain text safe: ESC becomes \x1b.
func visibleText(s string) string {
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

// visibleJSON makes a JSON text safe that stays the same JSON: what is replaced
// can stand in its strings only.
func visibleJSON(s string) string {
	return plaintext.Replace(s, func(r rune) string {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// oneLine makes text safe and puts it on one line.
func oneLine(s string) string {
	return visibleText(strings.Join(strings.Fields(s), " "))
}

// wide are the ranges of characters that take two columns of a terminal
// (Unicode's East Asian Width W and F, and emoji).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0x33ff, 1},
		{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xa000, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1}, {0x20000, 0x3fffd, 1},
	},
}

// columns is how many columns of a terminal r takes.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// textWidth is how many columns s takes.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// fit cuts s to at most width columns; a cut is shown by a dot triple.
func fit(s string, width int) string {
	if textWidth(s) <= width {
		return s
	}
	if width < 4 {
		return strings.Repeat(".", max(width, 0))
	}
	n := 0
	for i, r := range s {
		if n += columns(r); n > width-3 {
			return s[:i] + "..."
		}
	}
	return s
}
