package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
)

// Member is one key and its value in a JSON object.
type Member struct {
	Key string
	// QuotedKey is the key as written in the JSON text, with quotes and escapes.
	QuotedKey []byte
	Value     []byte
}

// Members iterates over the members of a JSON object in the order of the text. The argument
// rawJSON must be valid JSON. If rawJSON is not an object, Members yields nothing.
func Members(rawJSON []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for pairs := NewMemberIterator(rawJSON); pairs.Next(); {
			if !yield(Member{Key: Unquote(pairs.QuotedKey), QuotedKey: pairs.QuotedKey, Value: pairs.Value}) {
				return
			}
		}
	}
}

// MemberIterator iterates over the members of a JSON object, as [Members] does, but without memory
// allocations.
type MemberIterator struct {
	// QuotedKey and Value are the current key and its value, as written in the JSON text. The
	// fields QuotedKey and Value are valid only after the method Next has returned true.
	QuotedKey, Value []byte

	rawJSON []byte
	i       int
	hasMore bool
}

// NewMemberIterator returns an iterator over the members of a JSON object, in the order of the text. The
// argument rawJSON must be valid JSON. If rawJSON is not an object, the iterator yields
// nothing.
func NewMemberIterator(rawJSON []byte) MemberIterator {
	i := SkipSpace(rawJSON, 0)
	return MemberIterator{rawJSON: rawJSON, i: i, hasMore: i < len(rawJSON) && rawJSON[i] == '{'}
}

// Next moves to the next member and reports whether the object has another member.
func (p *MemberIterator) Next() bool {
	if !p.hasMore {
		return false
	}
	startIndex := SkipSpace(p.rawJSON, p.i+1)
	key := SkipString(p.rawJSON, startIndex)
	if key < 0 {
		return false
	}
	valueStart := SkipSpace(p.rawJSON, SkipSpace(p.rawJSON, key)+1)
	endIndex := SkipValue(p.rawJSON, valueStart)
	if endIndex < 0 {
		return false
	}
	p.QuotedKey, p.Value = p.rawJSON[startIndex:key], p.rawJSON[valueStart:endIndex]
	p.i = SkipSpace(p.rawJSON, endIndex)
	p.hasMore = p.i < len(p.rawJSON) && p.rawJSON[p.i] == ','
	return true
}

// Get returns the value of a member of a JSON object, or nil if the object has no such
// member. The argument object must be valid JSON. If a key occurs twice, Get returns the
// last value, as JavaScript does.
func Get(object []byte, name string) json.RawMessage {
	var valueJSON json.RawMessage
	for m := range Members(object) {
		if m.Key == name {
			valueJSON = m.Value
		}
	}
	return valueJSON
}

// Elements returns the elements of a JSON array, or nil if the value is not an array. The
// argument rawJSON must be valid JSON.
func Elements(rawJSON []byte) [][]byte {
	i := SkipSpace(rawJSON, 0)
	if i == len(rawJSON) || rawJSON[i] != '[' {
		return nil
	}
	elements := [][]byte{}
	for hasMore := true; hasMore; {
		i = SkipSpace(rawJSON, i+1)
		endIndex := SkipValue(rawJSON, i)
		if endIndex < 0 {
			break
		}
		elements = append(elements, rawJSON[i:endIndex])
		i = SkipSpace(rawJSON, endIndex)
		hasMore = i < len(rawJSON) && rawJSON[i] == ','
	}
	return elements
}

// Unquote decodes a JSON string that includes its quotes, and panics if the JSON string is
// invalid.
func Unquote(quotedJSON []byte) string {
	if bytes.IndexByte(quotedJSON, '\\') < 0 {
		return string(quotedJSON[1 : len(quotedJSON)-1])
	}
	var s string
	if err := json.Unmarshal(quotedJSON, &s); err != nil {
		panic("rawjson: unquote: " + err.Error())
	}
	return s
}

// KindObject and the constants after it name the types of JSON values in error messages.
const (
	KindObject = "an object"
	KindArray  = "an array"
	KindString = "a string"
	KindBool   = "a boolean"
	KindNumber = "a number"
)

// KindOf returns the type of a valid JSON value for error messages, such as "an object",
// or "nothing" for an empty text.
func KindOf(rawJSON []byte) string {
	if rawJSON = rawJSON[SkipSpace(rawJSON, 0):]; len(rawJSON) == 0 {
		return "nothing"
	}
	switch rawJSON[0] {
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

// JoinMembers returns a JSON object with the given members. JoinMembers writes the field
// QuotedKey of each member as its key, and ignores the field Key.
func JoinMembers(elements []Member) []byte {
	b := []byte{'{'}
	for i, m := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, m.QuotedKey...)
		b = append(b, ':')
		b = append(b, m.Value...)
	}
	return append(b, '}')
}

// JoinElements returns a JSON array whose elements are the given JSON values.
func JoinElements(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]"))
}

// Marshal is [json.Marshal] without escapes for <, > and &, so that URLs in the JSON stay
// readable.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode is [Marshal] for a value that always has a JSON form. Encode panics for a value
// without a JSON form, such as a channel.
func Encode(v any) json.RawMessage {
	jsonText, err := Marshal(v)
	if err != nil {
		panic("rawjson: " + err.Error())
	}
	return jsonText
}

// Indent formats valid JSON for a file, with two spaces per level and a newline at the
// end.
func Indent(jsonText []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, jsonText, "", "  "); err != nil {
		panic("rawjson: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// AppendString appends s to buffer as a JSON string, with quotes and escapes.
func AppendString(buffer []byte, s string) []byte { return append(buffer, Encode(s)...) }
