package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The functions below take text apart that compact has checked. They look at
// each byte once and copy nothing, so that a hundred plugins are read in the
// time encoding/json would need for a few.

// utf8BOM may stand before JSON text that a Windows editor wrote.
var utf8BOM = []byte("\xef\xbb\xbf")

// compact checks JSON text from a file and returns it without blanks. The
// problem says where it is wrong.
func compact(text []byte) (compacted []byte, problem string) {
	text = bytes.TrimPrefix(text, utf8BOM)
	if !utf8.Valid(text) {
		return nil, "is not UTF-8 text; save it as UTF-8"
	}
	var b bytes.Buffer
	b.Grow(len(text))
	if err := json.Compact(&b, text); err != nil {
		var whole json.RawMessage
		return nil, syntaxProblem(text, json.Unmarshal(text, &whole)) // unlike Compact it tells the place
	}
	return b.Bytes(), ""
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

// member is one member of a JSON object; quoted is its key as it was written.
type member struct {
	key    string
	quoted []byte
	value  []byte
}

// members returns the members of a compact object in their order; nil for
// anything else.
func members(raw []byte) []member {
	if kindOf(raw) != kindObject {
		return nil
	}
	var list []member
	for i := 1; raw[i] != '}'; {
		if raw[i] == ',' {
			i++
		}
		colon := valueEnd(raw, i)
		end := valueEnd(raw, colon+1)
		list = append(list, member{key: unquote(raw[i:colon]), quoted: raw[i:colon], value: raw[colon+1 : end]})
		i = end
	}
	return list
}

// elements returns the elements of a compact array; nil for anything else.
func elements(raw []byte) [][]byte {
	if kindOf(raw) != kindArray {
		return nil
	}
	list := [][]byte{}
	for i := 1; raw[i] != ']'; {
		if raw[i] == ',' {
			i++
		}
		end := valueEnd(raw, i)
		list = append(list, raw[i:end])
		i = end
	}
	return list
}

// valueEnd returns where the value that begins at raw[i] ends.
func valueEnd(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // of what the value stands in
				return i
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// stringEnd returns where the string that begins at raw[i] ends.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote returns what a JSON string stands for.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("plugin: unquote: " + err.Error()) // compact has checked it
	}
	return s
}

// The kinds of JSON values, as sentences name them.
const (
	kindObject = "an object"
	kindArray  = "an array"
	kindString = "a string"
	kindBool   = "a boolean"
	kindNull   = "null"
	kindNumber = "a number"
)

// kindOf names what raw, which is valid JSON, holds.
func kindOf(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	case 't', 'f':
		return kindBool
	case 'n':
		return kindNull
	default:
		return kindNumber
	}
}
