package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"opentabs/wire"
)

// Part decodes the parameters of tool.part. It returns the text as a JSON string.
func Part(params []byte) (p wire.ToolPartParams, text []byte, err error) {
	// Package json would scan the text four times, and Parse has already
	// validated it.
	err = wire.Members(OrEmpty(params), func(key, value []byte) error {
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

// AppendText appends the decoded text of a valid JSON string, which includes
// its quotes. Parts are split between UTF-16 units, so one part may end with
// the first half of a character and the next may begin with the second half.
// The parameter half is that first half of the part before, or 0.
func AppendText(dst, text []byte, half rune) ([]byte, rune) {
	flush := func() {
		if half != 0 {
			dst = utf8.AppendRune(dst, utf8.RuneError)
			half = 0
		}
	}
	text = text[1 : len(text)-1]
	for len(text) > 0 {
		plain := bytes.IndexByte(text, '\\')
		if plain < 0 {
			plain = len(text)
		}
		if plain > 0 {
			flush()
			dst, text = append(dst, text[:plain]...), text[plain:]
			continue
		}
		if text[1] != 'u' {
			flush()
			dst, text = append(dst, escaped(text[1])), text[2:]
			continue
		}
		r := hex4(text[2:6])
		text = text[6:]
		if whole := utf16.DecodeRune(half, r); half != 0 && whole != utf8.RuneError {
			dst, half = utf8.AppendRune(dst, whole), 0
			continue
		}
		flush()
		if r >= 0xd800 && r < 0xdc00 {
			half = r
			continue
		}
		dst = utf8.AppendRune(dst, r) // a second half alone becomes U+FFFD
	}
	return dst, half
}

// escaped returns the character for a backslash and c.
func escaped(c byte) byte {
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
	default: // a quote, a slash, a backslash
		return c
	}
}

// hex4 returns the value of four hex digits.
func hex4(digits []byte) (r rune) {
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
