package rawjson

import (
	"bufio"
	"encoding/binary"
	"math/bits"
)

// WriteQuoted writes the text jsonText to w as one JSON string, with quotes and escapes.
// WriteQuoted makes no copy of the whole text, because a tool's result may have 100 MB. If a
// write fails, w keeps the error, and the method w.Flush returns it.
func WriteQuoted(w *bufio.Writer, jsonText []byte) {
	w.WriteByte('"')
	for len(jsonText) > 0 {
		if w.Available() < minQuoteBufferBytes && w.Buffered() > 0 && w.Flush() != nil {
			return
		}
		freeBuffer := w.AvailableBuffer()
		freeBuffer = freeBuffer[:cap(freeBuffer)]
		if len(freeBuffer) < minQuoteBufferBytes {
			freeBuffer = make([]byte, minQuoteBufferBytes)
		}
		readLength, writtenBytes := quoteBytes(freeBuffer, jsonText)
		w.Write(freeBuffer[:writtenBytes])
		jsonText = jsonText[readLength:]
	}
	w.WriteByte('"')
}

const (
	wordBytes      = 8
	maxEscapeBytes = len(`\u0000`)
	// minQuoteBufferBytes is the smallest buffer in which quoteBytes can always write at least one
	// byte.
	minQuoteBufferBytes = 2 * wordBytes
)

// quoteBytes returns the number of bytes read from jsonText, and the number of bytes written to
// room.
func quoteBytes(freeBuffer, jsonText []byte) (readLength, writtenBytes int) {
	for writtenBytes+wordBytes+maxEscapeBytes <= len(freeBuffer) {
		if len(jsonText)-readLength < wordBytes {
			if readLength == len(jsonText) {
				break
			}
			writtenBytes += copyEscaped(freeBuffer[writtenBytes:], jsonText[readLength])
			readLength++
			continue
		}
		wordValue := binary.LittleEndian.Uint64(jsonText[readLength:])
		binary.LittleEndian.PutUint64(freeBuffer[writtenBytes:], wordValue)
		specialBits := specialBytes(wordValue)
		if specialBits == 0 {
			readLength += wordBytes
			writtenBytes += wordBytes
			continue
		}
		unescapedLength := bits.TrailingZeros64(specialBits) / 8
		readLength += unescapedLength
		writtenBytes += unescapedLength
		writtenBytes += copyEscaped(freeBuffer[writtenBytes:], jsonText[readLength])
		readLength++
	}
	return readLength, writtenBytes
}

// In the result of specialBytes, the lowest set bit belongs to the first byte of word that must be escaped.
func specialBytes(wordValue uint64) uint64 {
	const lowBits, highBits = 0x0101010101010101, 0x8080808080808080
	quoteMatches, backslashMatches := wordValue^lowBits*'"', wordValue^lowBits*'\\'
	isControl := (wordValue - lowBits*' ') &^ wordValue
	isQuote := (quoteMatches - lowBits) &^ quoteMatches
	isBackslash := (backslashMatches - lowBits) &^ backslashMatches
	return (isControl | isQuote | isBackslash) & highBits
}

func copyEscaped(freeBuffer []byte, c byte) int {
	const hex = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		freeBuffer[0], freeBuffer[1] = '\\', c
		return 2
	case c == '\t':
		return copy(freeBuffer, `\t`)
	case c >= ' ':
		freeBuffer[0] = c
		return 1
	}
	n := copy(freeBuffer, `\u00`)
	freeBuffer[n], freeBuffer[n+1] = hex[c>>4], hex[c&15]
	return n + 2
}
