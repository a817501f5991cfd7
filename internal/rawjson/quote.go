package rawjson

import (
	"bufio"
	"encoding/binary"
	"math/bits"
)

// WriteQuoted writes text to w as one JSON string, with quotes and escapes. WriteQuoted
// makes no copy of the whole text, because a tool's result can have 100 MB. If a write
// fails, w keeps the error, and the method w.Flush returns it.
func WriteQuoted(w *bufio.Writer, jsonText []byte) {
	w.WriteByte('"')
	for len(jsonText) > 0 {
		if w.Available() < minQuoteRoom && w.Buffered() > 0 && w.Flush() != nil {
			return
		}
		room := w.AvailableBuffer()
		room = room[:cap(room)]
		if len(room) < minQuoteRoom {
			room = make([]byte, minQuoteRoom)
		}
		readLength, writtenBytes := quoteInto(room, jsonText)
		w.Write(room[:writtenBytes])
		jsonText = jsonText[readLength:]
	}
	w.WriteByte('"')
}

const (
	wordBytes = 8
	maxEscape = len(`\u0000`)
	// minQuoteRoom is the smallest buffer in which quoteInto can always write at least one
	// byte.
	minQuoteRoom = 2 * wordBytes
)

// quoteInto returns the number of bytes read from text, and the number of bytes written to room.
func quoteInto(room, jsonText []byte) (readLength, writtenBytes int) {
	for writtenBytes+wordBytes+maxEscape <= len(room) {
		if len(jsonText)-readLength < wordBytes {
			if readLength == len(jsonText) {
				break
			}
			writtenBytes += copyEscaped(room[writtenBytes:], jsonText[readLength])
			readLength++
			continue
		}
		machineWord := binary.LittleEndian.Uint64(jsonText[readLength:])
		binary.LittleEndian.PutUint64(room[writtenBytes:], machineWord)
		specialBits := specialBytes(machineWord)
		if specialBits == 0 {
			readLength += wordBytes
			writtenBytes += wordBytes
			continue
		}
		unescapedLength := bits.TrailingZeros64(specialBits) / 8
		readLength += unescapedLength
		writtenBytes += unescapedLength
		writtenBytes += copyEscaped(room[writtenBytes:], jsonText[readLength])
		readLength++
	}
	return readLength, writtenBytes
}

// In the result of specialBytes, the lowest set bit belongs to the first byte of word that must be escaped.
func specialBytes(machineWord uint64) uint64 {
	const ones, highBits = 0x0101010101010101, 0x8080808080808080
	quotes, backslashes := machineWord^ones*'"', machineWord^ones*'\\'
	isControl := (machineWord - ones*' ') &^ machineWord
	isQuote := (quotes - ones) &^ quotes
	isBackslash := (backslashes - ones) &^ backslashes
	return (isControl | isQuote | isBackslash) & highBits
}

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
