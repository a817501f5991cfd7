package plugin

import (
	"bytes"
	"encoding/json"
	"iter"
)

// The functions below take text apart that compact has checked. They look at
// each byte once and copy nothing, so that a hundred plugins are read in the
// time encoding/json would need for a few.

// member is one member of a JSON object; quoted is its key as it was written.
type member struct {
	key    string
	quoted []byte
	value  []byte
}

// eachMember goes through the members of a compact object in their order; there
// are none in anything else.
func eachMember(raw []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		if kindOf(raw) != kindObject {
			return
		}
		for i := 1; raw[i] != '}'; {
			if raw[i] == ',' {
				i++
			}
			colon := stringEnd(raw, i)
			end := valueEnd(raw, colon+1)
			if !yield(member{key: unquote(raw[i:colon]), quoted: raw[i:colon], value: raw[colon+1 : end]}) {
				return
			}
			i = end
		}
	}
}

// SchemaMember returns a member of a schema of a loaded plugin, or of what such a
// member holds; nil if it is no object or has none of this name. Of several with
// one name the last counts.
func SchemaMember(schema json.RawMessage, name string) json.RawMessage {
	var found json.RawMessage
	for m := range eachMember(schema) {
		if m.key == name {
			found = m.value
		}
	}
	return found
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
	switch raw[i] {
	case '"':
		return stringEnd(raw, i)
	case '{', '[':
		return bracketEnd(raw, i)
	}
	for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' {
		i++
	}
	return i
}

// bracketEnd returns where the object or array that begins at raw[i] ends.
func bracketEnd(raw []byte, i int) int {
	for depth := 0; ; i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// stringEnd returns where the string that begins at raw[i] ends. It looks for
// quotes, because [bytes.IndexByte] uses vector instructions.
func stringEnd(raw []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(raw[i:], '"')
		before := i
		for raw[before-1] == '\\' {
			before--
		}
		if (i-before)%2 == 0 { // else the last backslash escapes the quote
			return i + 1
		}
	}
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
	for len(raw) > 0 && isBlank(raw[0]) {
		raw = raw[1:]
	}
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
