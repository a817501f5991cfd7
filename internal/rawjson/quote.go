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
		outBuffer := w.AvailableBuffer()
		outBuffer = outBuffer[:cap(outBuffer)]
		if len(outBuffer) < minQuoteBufferBytes {
			outBuffer = make([]byte, minQuoteBufferBytes)
		}
		readBytes, writtenBytes := quoteBytes(outBuffer, jsonText)
		w.Write(outBuffer[:writtenBytes])
		jsonText = jsonText[readBytes:]
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
// outBuffer.
func quoteBytes(outBuffer, jsonText []byte) (readBytes, writtenBytes int) {
	for writtenBytes+wordBytes+maxEscapeBytes <= len(outBuffer) {
		if len(jsonText)-readBytes < wordBytes {
			if readBytes == len(jsonText) {
				break
			}
			writtenBytes += copyEscaped(outBuffer[writtenBytes:], jsonText[readBytes])
			readBytes++
			continue
		}
		wordValue := binary.LittleEndian.Uint64(jsonText[readBytes:])
		binary.LittleEndian.PutUint64(outBuffer[writtenBytes:], wordValue)
		specialBits := specialBytes(wordValue)
		if specialBits == 0 {
			readBytes += wordBytes
			writtenBytes += wordBytes
			continue
		}
		unescapedLength := bits.TrailingZeros64(specialBits) / 8
		readBytes += unescapedLength
		writtenBytes += unescapedLength
		writtenBytes += copyEscaped(outBuffer[writtenBytes:], jsonText[readBytes])
		readBytes++
	}
	return readBytes, writtenBytes
}

// In the result of specialBytes, the lowest set bit belongs to the first byte of word that must be escaped.
func specialBytes(wordValue uint64) uint64 {
	const lowBitOfEachByte, highBitOfEachByte = 0x0101010101010101, 0x8080808080808080
	quoteMatches, backslashMatches := wordValue^lowBitOfEachByte*'"', wordValue^lowBitOfEachByte*'\\'
	isControl := (wordValue - lowBitOfEachByte*' ') &^ wordValue
	isQuote := (quoteMatches - lowBitOfEachByte) &^ quoteMatches
	isBackslash := (backslashMatches - lowBitOfEachByte) &^ backslashMatches
	return (isControl | isQuote | isBackslash) & highBitOfEachByte
}

func copyEscaped(outBuffer []byte, c byte) int {
	const hex = "0123456789abcdef"
	switch {
	case c == '"' || c == '\\':
		outBuffer[0], outBuffer[1] = '\\', c
		return 2
	case c == '\t':
		return copy(outBuffer, `\t`)
	case c >= ' ':
		outBuffer[0] = c
		return 1
	}
	n := copy(outBuffer, `\u00`)
	outBuffer[n], outBuffer[n+1] = hex[c>>4], hex[c&15]
	return n + 2
}
