package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodePart decodes the params of a tool.part. DecodePart returns the Text separately
// as a JSON string, for ResultText.Append; the Text in p is empty.
//
// Unlike json.Unmarshal, DecodePart does not scan the text, which Parse has validated.
func DecodePart(params []byte) (p ToolPartParams, text []byte, err error) {
	err = splitBody(params, func(key, value []byte) error {
		switch string(key) {
		case "dispatchId":
			return json.Unmarshal(value, &p.DispatchID)
		case "seq":
			return json.Unmarshal(value, &p.Seq)
		case "text":
			text = value
		}
		return nil
	})
	if err != nil {
		return p, nil, err
	}
	if len(text) < 2 || text[0] != '"' {
		return p, nil, errors.New("text is not a string")
	}
	return p, text, nil
}

// ResultText joins the texts of a result's parts. The zero value of ResultText is an
// empty text.
//
// Parts are split between UTF-16 units. A part may end with the first half of a
// surrogate pair, and the next part then begins with the second half.
//
//genwire:skip a state of the decoder, not a type of the protocol
type ResultText struct {
	text []byte
	half rune // the unpaired first half of a character at the end of text, or 0
}

// Len returns the length of the text, in bytes.
func (t *ResultText) Len() int { return len(t.text) }

// Append appends the text of the next part, a valid JSON string with its quotes.
func (t *ResultText) Append(quoted []byte) {
	t.text, t.half = appendUnescaped(t.text, quoted[1:len(quoted)-1], t.half)
}

// Join returns the text of all parts. Append must not be called after Join.
func (t *ResultText) Join() []byte {
	t.text, t.half = closeHalf(t.text, t.half)
	return t.text
}

// appendUnescaped appends the decoded characters of a JSON string without quotes. The
// parameter half is an unpaired first half of a character before text, or 0.
func appendUnescaped(dst, text []byte, half rune) ([]byte, rune) {
	for len(text) > 0 {
		plain := bytes.IndexByte(text, '\\')
		if plain < 0 {
			plain = len(text)
		}
		if plain > 0 {
			dst, half = closeHalf(dst, half)
			dst, text = append(dst, text[:plain]...), text[plain:]
			continue
		}
		if text[1] != 'u' {
			dst, half = closeHalf(dst, half)
			dst, text = append(dst, unescapeChar(text[1])), text[2:]
			continue
		}
		unit := decodeHex(text[2:6])
		text = text[6:]
		if whole := utf16.DecodeRune(half, unit); half != 0 && whole != utf8.RuneError {
			dst, half = utf8.AppendRune(dst, whole), 0
			continue
		}
		dst, half = closeHalf(dst, half)
		if unit >= 0xd800 && unit < 0xdc00 {
			half = unit
			continue
		}
		dst = utf8.AppendRune(dst, unit) // an unpaired low surrogate becomes U+FFFD
	}
	return dst, half
}

// closeHalf replaces an unpaired half of a character by U+FFFD, as JSON decoders do.
func closeHalf(dst []byte, half rune) ([]byte, rune) {
	if half != 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst, 0
}

// unescapeChar returns the character that a backslash and c represent.
func unescapeChar(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default: // c is a quote, a slash or a backslash
		return c
	}
}

// decodeHex returns the value of hexadecimal digits.
func decodeHex(digits []byte) (r rune) {
	for _, c := range digits {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		default:
			r |= rune(c|0x20) - 'a' + 10
		}
	}
	return r
}
