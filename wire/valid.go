package wire

import (
	"encoding/binary"
	"math/bits"
)

const maxNesting = 10000

// IsJSON reports whether text is valid JSON, with the same results as json.Valid.
//
// The server checks each frame of a browser and each large result with IsJSON. IsJSON
// is several times as fast as json.Valid (BenchmarkIsJSON).
func IsJSON(jsonText []byte) bool {
	var memory [64]byte
	open := memory[:0]
	i := skipSpace(jsonText, 0)
	for {
		if i == len(jsonText) {
			return false
		}
		switch c := jsonText[i]; c {
		case '{', '[':
			if len(open) == maxNesting {
				return false
			}
			i = skipSpace(jsonText, i+1)
			if i < len(jsonText) && jsonText[i] == c+2 {
				i++
				break
			}
			open = append(open, c)
			if c == '{' {
				if i = skipKey(jsonText, i); i < 0 {
					return false
				}
			}
			continue
		default:
			if i = skipScalar(jsonText, i); i < 0 {
				return false
			}
		}
		// After a JSON value, skip the brackets that close its containers, up to a comma before
		// the next value.
		for {
			i = skipSpace(jsonText, i)
			if len(open) == 0 || i == len(jsonText) {
				return len(open) == 0 && i == len(jsonText)
			}
			innermostBracket := open[len(open)-1]
			if jsonText[i] == ',' {
				i = skipSpace(jsonText, i+1)
				if innermostBracket == '{' {
					i = skipKey(jsonText, i)
				}
				if i < 0 {
					return false
				}
				break
			}
			if jsonText[i] != innermostBracket+2 {
				return false
			}
			open = open[:len(open)-1]
			i++
		}
	}
}

func skipKey(jsonText []byte, i int) int {
	if i == len(jsonText) || jsonText[i] != '"' {
		return -1
	}
	if i = skipValidString(jsonText, i); i < 0 {
		return -1
	}
	i = skipSpace(jsonText, i)
	if i == len(jsonText) || jsonText[i] != ':' {
		return -1
	}
	return skipSpace(jsonText, i+1)
}

func skipScalar(jsonText []byte, i int) int {
	switch jsonText[i] {
	case '"':
		return skipValidString(jsonText, i)
	case 't':
		return skipLiteral(jsonText, i, "true")
	case 'f':
		return skipLiteral(jsonText, i, "false")
	case 'n':
		return skipLiteral(jsonText, i, "null")
	default:
		return skipNumber(jsonText, i)
	}
}

func skipLiteral(jsonText []byte, i int, literal string) int {
	if len(jsonText)-i < len(literal) || string(jsonText[i:i+len(literal)]) != literal {
		return -1
	}
	return i + len(literal)
}

func skipValidString(jsonText []byte, i int) int {
	for i++; ; {
		n := findSpecialByte(jsonText[i:])
		if n < 0 {
			return -1
		}
		if i += n; jsonText[i] == '"' {
			return i + 1
		}
		n = escapeLength(jsonText[i:])
		if n == 0 {
			return -1
		}
		i += n
	}
}

var isSpecialByte = func() (specialBytes [256]bool) {
	for c := range 0x20 {
		specialBytes[c] = true
	}
	specialBytes['"'], specialBytes['\\'] = true, true
	return specialBytes
}()

// findSpecialByte returns the index of the first quote, backslash or control character in
// text, or -1. The compiler inlines findSpecialByte (cost 80 of 80), which makes short strings
// fast.
func findSpecialByte(jsonText []byte) int {
	for i, c := range jsonText[:min(len(jsonText), shortStringBytes)] {
		if isSpecialByte[c] {
			return i
		}
	}
	return findSpecialByteByWord(jsonText)
}

// In strings of fewer than shortStringBytes, checking one byte at a time is faster than checking eight bytes at a time.
const shortStringBytes = 16

func findSpecialByteByWord(jsonText []byte) int {
	i := min(len(jsonText), shortStringBytes)
	for ; i+8 <= len(jsonText); i += 8 {
		wordValue := binary.LittleEndian.Uint64(jsonText[i:])
		isControl := (wordValue - lowBitOfEachByte*' ') &^ wordValue
		if specialBits := (isControl | markEqualBytes(wordValue, '"') | markEqualBytes(wordValue, '\\')) & highBitOfEachByte; specialBits != 0 {
			return i + bits.TrailingZeros64(specialBits)/8
		}
	}
	for ; i < len(jsonText); i++ {
		if isSpecialByte[jsonText[i]] {
			return i
		}
	}
	return -1
}

const lowBitOfEachByte, highBitOfEachByte = 0x0101010101010101, 0x8080808080808080

// In the result of markEqualBytes, the lowest set bit is the high bit of the first byte of word that equals c. All bits
// above the lowest set bit in the result of markEqualBytes are undefined.
func markEqualBytes(wordValue uint64, c byte) uint64 {
	differingBits := wordValue ^ lowBitOfEachByte*uint64(c)
	return (differingBits - lowBitOfEachByte) &^ differingBits & highBitOfEachByte
}

func escapeLength(jsonText []byte) int {
	if len(jsonText) < 2 || jsonText[0] != '\\' {
		return 0
	}
	switch jsonText[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(jsonText) < 6 {
			return 0
		}
		for _, c := range jsonText[2:6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func skipNumber(jsonText []byte, i int) int {
	if jsonText[i] == '-' {
		i++
	}
	integerEnd := skipDigits(jsonText, i)
	if integerEnd == i || jsonText[i] == '0' && integerEnd > i+1 {
		return -1
	}
	if i = integerEnd; i < len(jsonText) && jsonText[i] == '.' {
		endIndex := skipDigits(jsonText, i+1)
		if endIndex == i+1 {
			return -1
		}
		i = endIndex
	}
	if i < len(jsonText) && (jsonText[i] == 'e' || jsonText[i] == 'E') {
		i++
		if i < len(jsonText) && (jsonText[i] == '+' || jsonText[i] == '-') {
			i++
		}
		endIndex := skipDigits(jsonText, i)
		if endIndex == i {
			return -1
		}
		i = endIndex
	}
	return i
}

func skipDigits(jsonText []byte, i int) int {
	for i < len(jsonText) && jsonText[i] >= '0' && jsonText[i] <= '9' {
		i++
	}
	return i
}
