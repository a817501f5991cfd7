package rawjson

import (
	"bufio"
	"encoding/binary"
	"math/bits"
)

// WriteQuoted writes JSON text as one JSON string. WriteQuoted makes no copy, because a
// result may have 100 MB.
func WriteQuoted(w *bufio.Writer, text []byte) {
	w.WriteByte('"')
	for len(text) > 0 {
		if w.Available() < minQuoteRoom && w.Buffered() > 0 && w.Flush() != nil {
			return // w keeps the error
		}
		room := w.AvailableBuffer()
		room = room[:cap(room)]
		if len(room) < minQuoteRoom { // the buffer of w is tiny
			room = make([]byte, minQuoteRoom)
		}
		read, written := quoteInto(room, text)
		w.Write(room[:written])
		text = text[read:]
	}
	w.WriteByte('"')
}

const (
	// wordBytes is the number of bytes that quoteInto copies at once.
	wordBytes = 8
	// maxEscape is the length of the longest escape.
	maxEscape = len(`\u0000`)
	// minQuoteRoom is the length from which on quoteInto always makes progress.
	minQuoteRoom = 2 * wordBytes
)

// quoteInto writes text, escaped for a JSON string, into room. quoteInto returns how many
// bytes of text it has read, and how many bytes it has written.
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

// specialBytes returns a word whose lowest bit that is set is in the first byte of word that
// must be escaped, or 0 if no byte must be escaped.
func specialBytes(word uint64) uint64 {
	const ones, highBits = 0x0101010101010101, 0x8080808080808080
	quotes, backslashes := word^ones*'"', word^ones*'\\'
	isControl := (word - ones*' ') &^ word
	isQuote := (quotes - ones) &^ quotes
	isBackslash := (backslashes - ones) &^ backslashes
	return (isControl | isQuote | isBackslash) & highBits
}

// copyEscaped writes one byte, escaped if necessary, into room and returns the number of
// bytes written.
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
