package rawjson

import (
	"bufio"
	"encoding/binary"
	"math/bits"
)

// WriteQuoted writes text to w as one JSON string, with quotes and escapes. WriteQuoted
// makes no copy of the whole text, because a tool's result can have 100 MB. If a write
// fails, w keeps the error, and the method w.Flush returns it.
func WriteQuoted(w *bufio.Writer, text []byte) {
	w.WriteByte('"')
	for len(text) > 0 {
		if w.Available() < minQuoteRoom && w.Buffered() > 0 && w.Flush() != nil {
			return // the next call of w.Flush returns the error
		}
		room := w.AvailableBuffer()
		room = room[:cap(room)]
		if len(room) < minQuoteRoom { // the buffer of w is smaller than minQuoteRoom
			room = make([]byte, minQuoteRoom)
		}
		read, written := quoteInto(room, text)
		w.Write(room[:written])
		text = text[read:]
	}
	w.WriteByte('"')
}

const (
	// wordBytes is the number of bytes that quoteInto copies in one step.
	wordBytes = 8
	// maxEscape is the length of the longest escape sequence in a JSON string.
	maxEscape = len(`\u0000`)
	// minQuoteRoom is the smallest buffer in which quoteInto can always write at least one
	// byte.
	minQuoteRoom = 2 * wordBytes
)

// quoteInto escapes text for a JSON string until text ends or the buffer room is full. The
// result read is the number of bytes read from text; written is the number of bytes written
// to room.
func quoteInto(room, text []byte) (read, written int) {
	for written+wordBytes+maxEscape <= len(room) {
		if len(text)-read < wordBytes {
			if read == len(text) {
				break
			}
			written += copyEscaped(room[written:], text[read])
			read++
			continue
		}
		word := binary.LittleEndian.Uint64(text[read:])
		binary.LittleEndian.PutUint64(room[written:], word)
		special := specialBytes(word)
		if special == 0 {
			read += wordBytes
			written += wordBytes
			continue
		}
		plain := bits.TrailingZeros64(special) / 8
		read += plain
		written += plain
		written += copyEscaped(room[written:], text[read])
		read++
	}
	return read, written
}

// specialBytes finds the first of the 8 bytes in word that must be escaped in a JSON string.
// The lowest set bit of the result of specialBytes belongs to the byte that must be escaped.
// If no byte of word must be escaped, specialBytes returns 0.
func specialBytes(word uint64) uint64 {
	const ones, highBits = 0x0101010101010101, 0x8080808080808080
	quotes, backslashes := word^ones*'"', word^ones*'\\'
	isControl := (word - ones*' ') &^ word
	isQuote := (quotes - ones) &^ quotes
	isBackslash := (backslashes - ones) &^ backslashes
	return (isControl | isQuote | isBackslash) & highBits
}

// copyEscaped writes the byte c into room, escaped if JSON requires an escape, and returns
// the number of bytes written.
func copyEscaped(room []byte, c byte) int {
	const hex = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		room[0], room[1] = '\\', c
		return 2
	case c == '\t':
		return copy(room, `\t`)
	case c >= ' ':
		room[0] = c
		return 1
	}
	n := copy(room, `\u00`)
	room[n], room[n+1] = hex[c>>4], hex[c&15]
	return n + 2
}
