package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
)

// Member is one member of a JSON object.
type Member struct {
	Key string
	// Quoted is the key as it is written in the text.
	Quoted []byte
	Value  []byte
}

// Members iterates over the members of a compact object in the order of the text.
// Other values have no members.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if KindOf(raw) != KindObject {
			return
		}
		for i := 1; raw[i] != '}'; {
			if raw[i] == ',' {
				i++
			}
			colon := stringEnd(raw, i)
			end := valueEnd(raw, colon+1)
			if !yield(Member{Key: Unquote(raw[i:colon]), Quoted: raw[i:colon], Value: raw[colon+1 : end]}) {
				return
			}
			i = end
		}
	}
}

// Get returns the value of a member of a compact object; nil if there is none. Of
// several members with one name the last counts, as in JavaScript.
func Get(object []byte, name string) json.RawMessage {
	var value json.RawMessage
	for m := range Members(object) {
		if m.Key == name {
			value = m.Value
		}
	}
	return value
}

// Elements returns the elements of a compact array; nil for any other value.
func Elements(raw []byte) [][]byte {
	if KindOf(raw) != KindArray {
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

// stringEnd returns where the string that begins at raw[i] ends. It searches for
// quotes because [bytes.IndexByte] uses vector instructions.
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

// Unquote returns the text of a JSON string.
func Unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("rawjson: unquote: " + err.Error()) // Compact has checked the text
	}
	return s
}

// The kinds of JSON values as error messages name them.
const (
	KindObject = "an object"
	KindArray  = "an array"
	KindString = "a string"
	KindBool   = "a boolean"
	KindNumber = "a number"
)

// KindOf returns the kind of a valid JSON value, "nothing" for an empty text.
func KindOf(raw []byte) string {
	for len(raw) > 0 && isBlank(raw[0]) {
		raw = raw[1:]
	}
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return "null"
	default:
		return KindNumber
	}
}

// JoinMembers returns an object with these members. It uses their Quoted keys.
func JoinMembers(list []Member) []byte {
	b := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, m.Quoted...)
		b = append(b, ':')
		b = append(b, m.Value...)
	}
	return append(b, '}')
}

// JoinElements returns an array with these elements.
func JoinElements(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

// Encode returns v as JSON without escaped HTML characters, so that paths stay
// readable. It panics for a value that JSON cannot express.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("rawjson: " + err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// AppendString appends s as a JSON string.
func AppendString(dst []byte, s string) []byte { return append(dst, Encode(s)...) }
