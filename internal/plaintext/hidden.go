package plaintext

import (
	"unicode"
	"unicode/utf8"
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	textStyleSelector  = '\ufe0e'
	emojiStyleSelector = '\ufe0f'
	keycapMark         = '\u20e3'
)

// hiddenRanges are the characters that are hidden, unless isAllowedInText returns true for a
// character in its context.
var hiddenRanges = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point,
}

// hiddenScanner decides for each character of a text, by the characters around it,
// whether the character is hidden.
type hiddenScanner struct {
	// The field previousRune is the last scanned character that is not hidden.
	previousRune, base rune
}

// Call isHidden for the characters of a text one after the other, from the first to the last.
func (s *hiddenScanner) isHidden(r rune, textAfter string) bool {
	if r >= ' ' && r <= '~' || r == '\n' || r == '\t' {
		s.previousRune, s.base = r, r
		return false
	}
	if unicode.In(r, hiddenRanges...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !s.isAllowedInText(r, textAfter) {
		return true
	}
	if s.previousRune = r; !isEmojiModifier(r) {
		s.base = r
	}
	return false
}

func (s *hiddenScanner) isAllowedInText(r rune, textAfter string) bool {
	nextRune, _ := utf8.DecodeRuneInString(textAfter)
	switch r {
	case zeroWidthJoiner:
		return isLetterJoiner(s.previousRune) || isPictograph(s.base) && s.previousRune != zeroWidthJoiner && isPictograph(nextRune)
	case zeroWidthNonJoiner:
		return isLetterJoiner(s.previousRune)
	case emojiStyleSelector:
		return isPictograph(s.previousRune) || isKeycapBase(s.previousRune) && nextRune == keycapMark
	case textStyleSelector:
		return isPictograph(s.previousRune)
	case '\u180b', '\u180c', '\u180d', '\u180f':
		return unicode.Is(unicode.Mongolian, s.previousRune) && unicode.IsLetter(s.previousRune)
	}
	return false
}

func isEmojiModifier(r rune) bool {
	return r == emojiStyleSelector || r == textStyleSelector || r >= 0x1f3fb && r <= 0x1f3ff
}

// isPictograph reports whether r can be drawn as an emoji.
func isPictograph(r rune) bool {
	switch r {
	case '\u203c', '\u2049', '\u2139', '\u3030':
		return true
	case '\ufffc', utf8.RuneError: // U+FFFC and U+FFFD replace missing characters
		return false
	}
	return r >= 0xa9 && unicode.In(r, unicode.So, unicode.Sm)
}

func isKeycapBase(r rune) bool { return r == '#' || r == '*' || r >= '0' && r <= '9' }

// scriptsWithoutJoiners are the scripts in which zero-width joiners have no visible
// effect.
var scriptsWithoutJoiners = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Hangul, unicode.Bopomofo, unicode.Common, unicode.Inherited,
}

func isLetterJoiner(r rune) bool {
	return r >= 0x590 && unicode.In(r, unicode.L, unicode.M) && !unicode.In(r, scriptsWithoutJoiners...)
}
