package wsbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"opentabs/wire"
)

// part takes one part of a large result.
func (b *browser) part(l *link, params []byte) error {
	// Members and appendText, because package json would read the text four
	// times; Parse has found it valid.
	var p wire.ToolPartParams
	var text []byte
	err := wire.Members(orEmpty(params), func(key, value []byte) error {
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
		return err
	}
	if len(text) < 2 || text[0] != '"' {
		return errors.New("text is not a string")
	}
	b.mu.Lock()
	r := b.runs[p.DispatchID]
	if r == nil {
		b.mu.Unlock()
		l.strayReport(p.DispatchID)
		return nil
	}
	r.mention()
	// A part that came before the link was lost may come again; one that is
	// missing shows when the answer tells how many there are.
	if p.Seq != r.next {
		b.mu.Unlock()
		return nil
	}
	r.parts, r.half = appendText(r.parts, text, r.half)
	r.next++
	if len(r.parts) <= r.limit {
		b.mu.Unlock()
		return nil
	}
	delete(b.runs, p.DispatchID)
	if b.link != nil {
		b.link.post(cancelFrame(p.DispatchID, "the result is too large"))
	}
	b.mu.Unlock()
	r.sink.Finish(nil, tooLarge(r.limit))
	return nil
}

// endParts appends a half of a character that nothing followed, as JSON
// decoders read it.
func (r *run) endParts() {
	if r.half != 0 {
		r.parts = utf8.AppendRune(r.parts, utf8.RuneError)
		r.half = 0
	}
}

// appendText appends what a JSON string means. The string must be valid, with
// its quotes. Parts are cut between UTF-16 units, so one may end with the first
// half of a character and the next begin with the second: half is the first
// half that the part before ended with, or 0.
func appendText(dst, text []byte, half rune) ([]byte, rune) {
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

// escaped returns what a backslash and c mean.
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
