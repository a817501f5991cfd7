package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxNesting limits the nesting of JSON arrays and objects; encoding/json has the same
// limit.
const maxNesting = 10000

// TrimBOM removes the UTF-8 byte order mark that some Windows editors write at the start
// of a file.
func TrimBOM(jsonText []byte) []byte { return bytes.TrimPrefix(jsonText, []byte("\xef\xbb\xbf")) }

// Compact validates JSON text from a file and removes the white space between its tokens. If the capacity of buffer
// suffices, Compact writes the compacted JSON into the memory of buffer. The result problemText describes the first
// error for the user; for valid JSON, problemText is empty.
func Compact(jsonText, buffer []byte) (compactJSON []byte, problemText string) {
	jsonText = TrimBOM(jsonText)
	if !utf8.Valid(jsonText) {
		return buffer, "is not UTF-8 text; save it as UTF-8"
	}
	c := compactor{input: jsonText, resultJSON: slices.Grow(buffer[:0], len(jsonText))}
	if !c.run() {
		var ignoredValue json.RawMessage
		return c.resultJSON, DescribeSyntaxError(jsonText, json.Unmarshal(jsonText, &ignoredValue))
	}
	return c.resultJSON, ""
}

// DescribeSyntaxError describes an error of [json.Unmarshal] for the user, with the line and column
// in jsonText.
func DescribeSyntaxError(jsonText []byte, err error) string {
	var syntaxErr *json.SyntaxError
	if !errors.As(err, &syntaxErr) {
		return "cannot be read as JSON: " + err.Error()
	}
	textBefore := jsonText[:min(max(syntaxErr.Offset-1, 0), int64(len(jsonText)))]
	line := bytes.Count(textBefore, []byte("\n")) + 1
	column := len(textBefore) - bytes.LastIndexByte(textBefore, '\n')
	return fmt.Sprintf("is not valid JSON at line %d, column %d: %s; correct it there", line, column, syntaxErr)
}

// The type compactor is five times as fast as [json.Compact], because the compactor does
// not call a function for each byte. FuzzCompact checks that compactor and encoding/json
// accept the same texts.
type compactor struct {
	input        []byte
	offset       int
	copiedUntil  int
	resultJSON   []byte
	openBrackets []byte
}

// The type nextToken is the kind of token that the JSON grammar allows next, such as a
// key or a comma.
type nextToken int

const (
	expectValue nextToken = iota
	expectElementOrEnd
	expectKey
	expectKeyOrEnd
	expectCommaOrEnd
)

func (c *compactor) run() bool {
	nextExpected, ok := expectValue, true
	for ok {
		c.skipBlanks()
		if c.offset == len(c.input) {
			c.resultJSON = append(c.resultJSON, c.input[c.copiedUntil:]...)
			return nextExpected == expectCommaOrEnd && len(c.openBrackets) == 0
		}
		switch b := c.input[c.offset]; {
		case nextExpected == expectCommaOrEnd && b == ',' && len(c.openBrackets) > 0:
			c.offset++
			nextExpected = expectValue
			if c.openBrackets[len(c.openBrackets)-1] == '{' {
				nextExpected = expectKey
			}
		case b == '}' || b == ']':
			ok = c.close(b, nextExpected)
			nextExpected = expectCommaOrEnd
		case nextExpected == expectKey || nextExpected == expectKeyOrEnd:
			ok = c.readKey()
			nextExpected = expectValue
		case nextExpected == expectCommaOrEnd:
			return false
		case b == '{' || b == '[':
			c.offset++
			c.openBrackets = append(c.openBrackets, b)
			ok = len(c.openBrackets) <= maxNesting
			nextExpected = expectKeyOrEnd
			if b == '[' {
				nextExpected = expectElementOrEnd
			}
		default:
			ok = c.readScalar(b)
			nextExpected = expectCommaOrEnd
		}
	}
	return false
}

func (c *compactor) skipBlanks() {
	if c.offset == len(c.input) || c.input[c.offset] > ' ' {
		return
	}
	c.resultJSON = append(c.resultJSON, c.input[c.copiedUntil:c.offset]...)
	for c.offset < len(c.input) && isBlank(c.input[c.offset]) {
		c.offset++
	}
	c.copiedUntil = c.offset
}

func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

func (c *compactor) close(b byte, nextExpected nextToken) bool {
	if len(c.openBrackets) == 0 || nextExpected == expectValue || nextExpected == expectKey {
		return false
	}
	openBracket := c.openBrackets[len(c.openBrackets)-1]
	c.openBrackets = c.openBrackets[:len(c.openBrackets)-1]
	c.offset++
	return openBracket == '{' && b == '}' || openBracket == '[' && b == ']'
}

func (c *compactor) readKey() bool {
	if !c.readString() {
		return false
	}
	c.skipBlanks()
	if c.offset == len(c.input) || c.input[c.offset] != ':' {
		return false
	}
	c.offset++
	return true
}

func (c *compactor) readScalar(b byte) bool {
	switch b {
	case '"':
		return c.readString()
	case 't':
		return c.readWord("true")
	case 'f':
		return c.readWord("false")
	case 'n':
		return c.readWord("null")
	default:
		return c.readNumber()
	}
}

func (c *compactor) readWord(w string) bool {
	if !bytes.HasPrefix(c.input[c.offset:], []byte(w)) {
		return false
	}
	c.offset += len(w)
	return true
}

func (c *compactor) readString() bool {
	jsonText, i := c.input, c.offset
	if jsonText[i] != '"' {
		return false
	}
	for i++; i < len(jsonText); i++ {
		switch b := jsonText[i]; {
		case b == '"':
			c.offset = i + 1
			return true
		case b < ' ':
			return false
		case b == '\\':
			n := escapeLength(jsonText[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return false
}

func escapeLength(jsonText []byte) int {
	if len(jsonText) < 2 {
		return 0
	}
	switch jsonText[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		const length = len(`\u0000`)
		if len(jsonText) < length {
			return 0
		}
		for _, b := range jsonText[2:length] {
			if !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'f') {
				return 0
			}
		}
		return length
	}
	return 0
}

func (c *compactor) readNumber() bool {
	c.skipOneOf('-', '-')
	if !c.skipOneOf('0', '0') && c.skipDigits() == 0 {
		return false
	}
	if c.skipOneOf('.', '.') && c.skipDigits() == 0 {
		return false
	}
	if c.skipOneOf('e', 'E') {
		if !c.skipOneOf('+', '+') {
			c.skipOneOf('-', '-')
		}
		return c.skipDigits() > 0
	}
	return true
}

func (c *compactor) skipOneOf(a, b byte) bool {
	if c.offset == len(c.input) || c.input[c.offset] != a && c.input[c.offset] != b {
		return false
	}
	c.offset++
	return true
}

func (c *compactor) skipDigits() int {
	startIndex := c.offset
	for c.offset < len(c.input) && isDigit(c.input[c.offset]) {
		c.offset++
	}
	return c.offset - startIndex
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
