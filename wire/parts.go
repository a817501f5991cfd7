package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeResultPart decodes the params of a tool.part. DecodeResultPart returns the text of the part as
// a JSON string for ResultText.Append, and leaves p.Text empty.
//
// Unlike json.Unmarshal, DecodeResultPart does not scan the text of the part, which Parse has
// already validated.
func DecodeResultPart(params []byte) (p ToolPartParams, chunk []byte, err error) {
	err = splitBody(params, func(key, value []byte) error {
		switch string(key) {
		case "dispatchId":
			return json.Unmarshal(value, &p.DispatchID)
		case "seq":
			return json.Unmarshal(value, &p.Seq)
		case "text":
			chunk = value
		}
		return nil
	})
	if err != nil {
		return p, nil, err
	}
	if len(chunk) < 2 || chunk[0] != '"' {
		return p, nil, errors.New("text is not a string")
	}
	return p, chunk, nil
}

// ResultText joins the parts of a large tool result. The zero ResultText is empty and ready
// to use.
//
// A result may be split inside a surrogate pair of UTF-16: one part then ends with the
// first half, and the next part begins with the second half.
//
//genwire:skip a state of the decoder, not a type of the protocol
type ResultText struct {
	chunks           [][]byte
	length           int
	pendingSurrogate rune
}

// Len returns the total length of the texts that were appended, in bytes.
func (t *ResultText) Len() int { return t.length }

// Append appends the text of the next part, which must be a valid JSON string with its
// quotes.
func (t *ResultText) Append(quotedJSON []byte) {
	partText := quotedJSON[1 : len(quotedJSON)-1]
	chunk := make([]byte, 0, len(partText)+unescapeReserveBytes)
	chunk, t.pendingSurrogate = appendUnescaped(chunk, partText, t.pendingSurrogate)
	t.add(chunk)
}

func (t *ResultText) add(chunk []byte) {
	t.chunks = append(t.chunks, chunk)
	t.length += len(chunk)
}

// Join returns the texts of all appended parts, joined into one text. Append must not be
// called after Join.
func (t *ResultText) Join() []byte {
	var lastSurrogateChars []byte
	lastSurrogateChars, t.pendingSurrogate = appendUnpairedSurrogate(nil, t.pendingSurrogate)
	t.add(lastSurrogateChars)
	if len(t.chunks) > 1 {
		t.chunks = [][]byte{slices.Concat(t.chunks...)}
	}
	return t.chunks[0]
}

// appendUnescaped copies eight bytes at a time, and may write unescapeReserveBytes bytes beyond the length of its
// input.
const unescapeReserveBytes = 3 + 8

// The caller of appendUnescaped reserves len(chunk)+unescapeReserveBytes bytes of free capacity in buffer.
func appendUnescaped(buffer, chunk []byte, highSurrogate rune) ([]byte, rune) {
	for len(chunk) > 0 {
		if chunk[0] != '\\' {
			buffer, highSurrogate = appendUnpairedSurrogate(buffer, highSurrogate)
			n := 0
			buffer, n = appendUntilBackslash(buffer, chunk)
			chunk = chunk[n:]
			continue
		}
		if chunk[1] != 'u' {
			buffer, highSurrogate = appendUnpairedSurrogate(buffer, highSurrogate)
			buffer, chunk = append(buffer, unescapeChar(chunk[1])), chunk[2:]
			continue
		}
		unit := decodeHex(chunk[2:6])
		chunk = chunk[6:]
		if combinedRune := utf16.DecodeRune(highSurrogate, unit); highSurrogate != 0 && combinedRune != utf8.RuneError {
			buffer, highSurrogate = utf8.AppendRune(buffer, combinedRune), 0
			continue
		}
		buffer, highSurrogate = appendUnpairedSurrogate(buffer, highSurrogate)
		if unit >= 0xd800 && unit < 0xdc00 {
			highSurrogate = unit
			continue
		}
		buffer = utf8.AppendRune(buffer, unit)
	}
	return buffer, highSurrogate
}

// In text with many backslashes, copying eight bytes at once is faster than searching for each backslash.
func appendUntilBackslash(buffer, chunk []byte) ([]byte, int) {
	n, freeBuffer := 0, buffer[len(buffer):cap(buffer)]
	for n+8 <= len(chunk) && n+8 <= len(freeBuffer) {
		wordValue := binary.LittleEndian.Uint64(chunk[n:])
		binary.LittleEndian.PutUint64(freeBuffer[n:], wordValue)
		if backslashMatches := markEqualBytes(wordValue, '\\'); backslashMatches != 0 {
			n += bits.TrailingZeros64(backslashMatches) / 8
			return buffer[:len(buffer)+n], n
		}
		n += 8
	}
	buffer = buffer[:len(buffer)+n]
	for n < len(chunk) && chunk[n] != '\\' {
		buffer = append(buffer, chunk[n])
		n++
	}
	return buffer, n
}

func appendUnpairedSurrogate(buffer []byte, highSurrogate rune) ([]byte, rune) {
	if highSurrogate != 0 {
		buffer = utf8.AppendRune(buffer, utf8.RuneError)
	}
	return buffer, 0
}

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
	default:
		return c
	}
}

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
