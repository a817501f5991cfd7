package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxNesting is how deep values may lie in each other, as in encoding/json.
const maxNesting = 10000

// utf8BOM may stand before JSON text that a Windows editor wrote.
var utf8BOM = []byte("\xef\xbb\xbf")

// compact checks JSON text from a file and returns it without blanks, in memory
// if it fits there. The problem says where it is wrong.
func compact(text, memory []byte) (compacted []byte, problem string) {
	text = bytes.TrimPrefix(text, utf8BOM)
	if !utf8.Valid(text) {
		return memory, "is not UTF-8 text; save it as UTF-8"
	}
	c := compactor{text: text, out: sized(memory, int64(len(text)))[:0]}
	if !c.run() {
		var whole json.RawMessage
		return c.out, syntaxProblem(text, json.Unmarshal(text, &whole)) // it tells the place
	}
	return c.out, ""
}

// syntaxProblem says where text is no JSON.
func syntaxProblem(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "cannot be read as JSON: " + err.Error()
	}
	before := text[:min(max(syntax.Offset-1, 0), int64(len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("is not valid JSON at line %d, column %d: %s; correct it there", line, column, syntax)
}

// compactor does what [json.Compact] does, in a fifth of the time, which counts
// for a server that starts with a hundred plugins: it calls no function for each
// byte. It takes exactly what encoding/json takes; FuzzCompact holds it to that.
type compactor struct {
	text []byte
	at   int    // what is before has been checked
	from int    // what is before has been copied
	out  []byte // without blanks
	open []byte // the brackets that are open at this place
}

// expectation is what may come next.
type expectation int

const (
	expectValue expectation = iota
	expectElementOrEnd
	expectKey
	expectKeyOrEnd
	expectCommaOrEnd
)

// run compacts the text; it reports whether that is one JSON value.
func (c *compactor) run() bool {
	next, ok := expectValue, true
	for ok {
		c.skipBlanks()
		if c.at == len(c.text) {
			c.out = append(c.out, c.text[c.from:]...)
			return next == expectCommaOrEnd && len(c.open) == 0
		}
		switch b := c.text[c.at]; {
		case next == expectCommaOrEnd && b == ',' && len(c.open) > 0:
			c.at++
			next = expectValue
			if c.open[len(c.open)-1] == '{' {
				next = expectKey
			}
		case b == '}' || b == ']':
			ok = c.close(b, next)
			next = expectCommaOrEnd
		case next == expectKey || next == expectKeyOrEnd:
			ok = c.key()
			next = expectValue
		case next == expectCommaOrEnd:
			return false
		case b == '{' || b == '[':
			c.at++
			c.open = append(c.open, b)
			ok = len(c.open) <= maxNesting
			next = expectKeyOrEnd
			if b == '[' {
				next = expectElementOrEnd
			}
		default:
			ok = c.scalar(b)
			next = expectCommaOrEnd
		}
	}
	return false
}

// skipBlanks passes over blanks, after having copied what stands before them.
func (c *compactor) skipBlanks() {
	if c.at == len(c.text) || c.text[c.at] > ' ' {
		return
	}
	c.out = append(c.out, c.text[c.from:c.at]...)
	for c.at < len(c.text) && isBlank(c.text[c.at]) {
		c.at++
	}
	c.from = c.at
}

func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

// close takes a closing bracket, where next was expected.
func (c *compactor) close(b byte, next expectation) bool {
	if len(c.open) == 0 || next == expectValue || next == expectKey {
		return false
	}
	opened := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	c.at++
	return opened == '{' && b == '}' || opened == '[' && b == ']'
}

// key takes a member's name and the colon.
func (c *compactor) key() bool {
	if !c.string() {
		return false
	}
	c.skipBlanks()
	if c.at == len(c.text) || c.text[c.at] != ':' {
		return false
	}
	c.at++
	return true
}

// scalar takes a value that begins with b and holds no others.
func (c *compactor) scalar(b byte) bool {
	switch b {
	case '"':
		return c.string()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

func (c *compactor) word(w string) bool {
	if !bytes.HasPrefix(c.text[c.at:], []byte(w)) {
		return false
	}
	c.at += len(w)
	return true
}

// string takes a string.
func (c *compactor) string() bool {
	text, i := c.text, c.at
	if text[i] != '"' {
		return false
	}
	for i++; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			c.at = i + 1
			return true
		case b < ' ':
			return false
		case b == '\\':
			n := escapeLength(text[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return false
}

// escapeLength returns the length of the escape that text begins with; 0 if it
// is none.
func escapeLength(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		const length = len(`\u0000`)
		if len(text) < length {
			return 0
		}
		for _, b := range text[2:length] {
			if !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'f') {
				return 0
			}
		}
		return length
	}
	return 0
}

// number takes a number.
func (c *compactor) number() bool {
	c.skip('-', '-')
	if !c.skip('0', '0') && c.digits() == 0 {
		return false
	}
	if c.skip('.', '.') && c.digits() == 0 {
		return false
	}
	if c.skip('e', 'E') {
		if !c.skip('+', '+') {
			c.skip('-', '-')
		}
		return c.digits() > 0
	}
	return true
}

// skip passes over one byte that is a or b.
func (c *compactor) skip(a, b byte) bool {
	if c.at == len(c.text) || c.text[c.at] != a && c.text[c.at] != b {
		return false
	}
	c.at++
	return true
}

// digits passes over digits and returns how many.
func (c *compactor) digits() int {
	from := c.at
	for c.at < len(c.text) && isDigit(c.text[c.at]) {
		c.at++
	}
	return c.at - from
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
