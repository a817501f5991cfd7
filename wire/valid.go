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
func IsJSON(text []byte) bool {
	var memory [64]byte
	open := memory[:0]
	i := skipSpace(text, 0)
	for {
		if i == len(text) {
			return false
		}
		switch c := text[i]; c {
		case '{', '[':
			if len(open) == maxNesting {
				return false
			}
			i = skipSpace(text, i+1)
			if i < len(text) && text[i] == c+2 {
				i++
				break
			}
			open = append(open, c)
			if c == '{' {
				if i = skipKey(text, i); i < 0 {
					return false
				}
			}
			continue
		default:
			if i = skipScalar(text, i); i < 0 {
				return false
			}
		}
		// After a JSON value, skip the brackets that close its containers, up to a comma before
		// the next value.
		for {
			i = skipSpace(text, i)
			if len(open) == 0 || i == len(text) {
				return len(open) == 0 && i == len(text)
			}
			last := open[len(open)-1]
			if text[i] == ',' {
				i = skipSpace(text, i+1)
				if last == '{' {
					i = skipKey(text, i)
				}
				if i < 0 {
					return false
				}
				break
			}
			if text[i] != last+2 {
				return false
			}
			open = open[:len(open)-1]
			i++
		}
	}
}

func skipKey(text []byte, i int) int {
	if i == len(text) || text[i] != '"' {
		return -1
	}
	if i = skipValidString(text, i); i < 0 {
		return -1
	}
	i = skipSpace(text, i)
	if i == len(text) || text[i] != ':' {
		return -1
	}
	return skipSpace(text, i+1)
}

func skipScalar(text []byte, i int) int {
	switch text[i] {
	case '"':
		return skipValidString(text, i)
	case 't':
		return skipWord(text, i, "true")
	case 'f':
		return skipWord(text, i, "false")
	case 'n':
		return skipWord(text, i, "null")
	default:
		return skipNumber(text, i)
	}
}

func skipWord(text []byte, i int, word string) int {
	if len(text)-i < len(word) || string(text[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func skipValidString(text []byte, i int) int {
	for i++; ; {
		n := indexSpecial(text[i:])
		if n < 0 {
			return -1
		}
		if i += n; text[i] == '"' {
			return i + 1
		}
		n = escapeLength(text[i:])
		if n == 0 {
			return -1
		}
		i += n
	}
}

var isSpecial = func() (special [256]bool) {
	for c := range 0x20 {
		special[c] = true
	}
	special['"'], special['\\'] = true, true
	return special
}()

// indexSpecial returns the index of the first quote, backslash or control character in
// text, or -1. The compiler inlines indexSpecial (cost 80 of 80), which makes short strings
// fast.
func indexSpecial(text []byte) int {
	for i, c := range text[:min(len(text), shortStringBytes)] {
		if isSpecial[c] {
			return i
		}
	}
	return indexSpecialWord(text)
}

// In strings of fewer than shortStringBytes, checking one byte at a time is faster than checking eight bytes at a time.
const shortStringBytes = 16

func indexSpecialWord(text []byte) int {
	i := min(len(text), shortStringBytes)
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		isControl := (word - lowBitOfEachByte*' ') &^ word
		if special := (isControl | markEqualBytes(word, '"') | markEqualBytes(word, '\\')) & highBitOfEachByte; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(text); i++ {
		if isSpecial[text[i]] {
			return i
		}
	}
	return -1
}

const lowBitOfEachByte, highBitOfEachByte = 0x0101010101010101, 0x8080808080808080

// In the result of markEqualBytes, the lowest set bit is the high bit of the first byte of word that equals c. All bits
// above the lowest set bit in the result of markEqualBytes are undefined.
func markEqualBytes(word uint64, c byte) uint64 {
	difference := word ^ lowBitOfEachByte*uint64(c)
	return (difference - lowBitOfEachByte) &^ difference & highBitOfEachByte
}

func escapeLength(text []byte) int {
	if len(text) < 2 || text[0] != '\\' {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range text[2:6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func skipNumber(text []byte, i int) int {
	if text[i] == '-' {
		i++
	}
	whole := skipDigits(text, i)
	if whole == i || text[i] == '0' && whole > i+1 {
		return -1
	}
	if i = whole; i < len(text) && text[i] == '.' {
		end := skipDigits(text, i+1)
		if end == i+1 {
			return -1
		}
		i = end
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		end := skipDigits(text, i)
		if end == i {
			return -1
		}
		i = end
	}
	return i
}

func skipDigits(text []byte, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}
