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

// Members iterates over the members of an object, valid JSON, in the order of the text.
// Members yields nothing for a value that is not an object.
func Members(raw []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for pairs := NewPairs(raw); pairs.Next(); {
			if !yield(Member{Key: Unquote(pairs.Quoted), Quoted: pairs.Quoted, Value: pairs.Value}) {
				return
			}
		}
	}
}

// Pairs are the keys and values of an object as they are written in the text. Unlike
// [Members], Pairs allocate nothing.
type Pairs struct {
	// Quoted and Value are the key and the value after a call of Next that returned true.
	Quoted, Value []byte

	raw     []byte
	i       int // where the previous member ended
	hasMore bool
}

// NewPairs returns the members of an object, valid JSON, in the order of the text. Any other
// value has no members.
func NewPairs(raw []byte) Pairs {
	i := SkipSpace(raw, 0)
	return Pairs{raw: raw, i: i, hasMore: i < len(raw) && raw[i] == '{'}
}

// Next moves to the next member and reports whether there is one.
func (p *Pairs) Next() bool {
	if !p.hasMore {
		return false
	}
	start := SkipSpace(p.raw, p.i+1)
	key := SkipString(p.raw, start)
	if key < 0 { // the object is empty
		return false
	}
	valueStart := SkipSpace(p.raw, SkipSpace(p.raw, key)+1) // the value starts after the colon
	end := SkipValue(p.raw, valueStart)
	if end < 0 {
		return false
	}
	p.Quoted, p.Value = p.raw[start:key], p.raw[valueStart:end]
	p.i = SkipSpace(p.raw, end)
	p.hasMore = p.i < len(p.raw) && p.raw[p.i] == ','
	return true
}

// Get returns the value of a member of an object, valid JSON; nil if there is none. Of
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

// Elements returns the elements of an array, valid JSON; nil for any other value.
func Elements(raw []byte) [][]byte {
	i := SkipSpace(raw, 0)
	if i == len(raw) || raw[i] != '[' {
		return nil
	}
	elements := [][]byte{}
	for hasMore := true; hasMore; {
		i = SkipSpace(raw, i+1)
		end := SkipValue(raw, i)
		if end < 0 { // the array is empty
			break
		}
		elements = append(elements, raw[i:end])
		i = SkipSpace(raw, end)
		hasMore = i < len(raw) && raw[i] == ','
	}
	return elements
}

// Unquote returns the text of a JSON string.
func Unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("rawjson: unquote: " + err.Error()) // the text is valid
	}
	return s
}

// The constants KindObject to KindNumber are the kinds of JSON values in error
// messages.
const (
	KindObject = "an object"
	KindArray  = "an array"
	KindString = "a string"
	KindBool   = "a boolean"
	KindNumber = "a number"
)

// KindOf returns the kind of a valid JSON value, "nothing" for an empty string.
func KindOf(raw []byte) string {
	if raw = raw[SkipSpace(raw, 0):]; len(raw) == 0 {
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

// JoinMembers returns a JSON object with the given members. The keys of the object are
// the Quoted keys of the members.
func JoinMembers(elements []Member) []byte {
	b := []byte{'{'}
	for i, m := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, m.Quoted...)
		b = append(b, ':')
		b = append(b, m.Value...)
	}
	return append(b, '}')
}

// JoinElements returns a JSON array with the given elements.
func JoinElements(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

// Marshal returns v as JSON without escaped HTML characters, so that paths and addresses
// stay readable.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode is [Marshal] for a value that JSON can express. Encode panics if JSON can't
// express the value.
func Encode(v any) json.RawMessage {
	text, err := Marshal(v)
	if err != nil {
		panic("rawjson: " + err.Error())
	}
	return text
}

// Indent returns valid JSON with two blanks for each level, and a newline at its end,
// for a file.
func Indent(text []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		panic("rawjson: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// AppendString appends s as a JSON string.
func AppendString(dst []byte, s string) []byte { return append(dst, Encode(s)...) }
