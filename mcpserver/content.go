package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A tool returns pictures, sounds and files as blocks of MCP content: objects
// of exactly these members, as the whole result or anywhere in it.
//
//	{"type":"image","data":BASE64,"mimeType":"image/..."}
//	{"type":"audio","data":BASE64,"mimeType":"audio/..."}
//	{"type":"resource","resource":{"uri":URI,"text":TEXT or "blob":BASE64,"mimeType"?}}
//	{"type":"resource_link","uri":URI,"name":NAME,"title"?,"description"?,"mimeType"?,"size"?}
//
// Each may have annotations and _meta too. What is only like a block, with
// another member or with data that is no base64, is data as any other: it stays
// in the result, where nothing is lost.

// separated is a result taken apart into what agents read and blocks of content.
type separated struct {
	// text is the result as JSON, each block's bulk replaced by where it is; nil
	// if the result is nothing but blocks.
	text json.RawMessage
	// data is the same for programs, if the result is an object.
	data json.RawMessage
	// blocks are content blocks as the page wrote them.
	blocks [][]byte
}

// blockHints are what one of stands in every block, as JSON.stringify writes
// it. Looking is fastest for what is long and begins with a rare byte.
var blockHints = [...][]byte{[]byte(`Type":"image/`), []byte(`Type":"audio/`), []byte(`"type":"resource`)}

// mayHaveBlocks is a cheap look at a result, which is not parsed for it.
func mayHaveBlocks(output []byte) bool {
	for _, hint := range blockHints {
		if bytes.Contains(output, hint) {
			return true
		}
	}
	return false
}

// separate takes the blocks of content out of a result, compact JSON. It
// reports false if there are none.
func separate(output json.RawMessage) (separated, bool) {
	if !mayHaveBlocks(output) {
		return separated{}, false
	}
	f := contentFinder{text: output}
	end, ok := f.value(0, 0)
	if !ok || end != len(output) || len(f.blocks) == 0 {
		return separated{}, false
	}
	if all, ok := f.listOfBlocks(); ok {
		return separated{blocks: all}, true
	}
	whole := f.blocks[0].at == span{0, end}
	first := 1 // the text is content[0]
	if whole {
		first = 0
	}
	s := separated{text: f.reduced(first)}
	for _, b := range f.blocks {
		s.blocks = append(s.blocks, b.at.of(output))
	}
	s.data = objectOnly(s.text)
	if whole {
		s.text = nil
	}
	return s, true
}

// span is a piece of the result.
type span struct{ from, to int }

func (s span) of(text []byte) []byte { return text[s.from:s.to] }

// foundBlock is a block in a result.
type foundBlock struct {
	at span
	// bulk is the string that moves out of the result; empty if there is none.
	bulk span
	mime string
	size int // of the bulk, decoded, in bytes
}

// contentFinder finds blocks in JSON text without decoding it: a picture may
// be a hundred megabytes.
type contentFinder struct {
	text   []byte
	blocks []foundBlock
}

// deepestBlock is how deep in a result blocks are looked for, in levels.
const deepestBlock = 100

// value walks over the value at i and returns its end; false if this is not
// JSON.
func (f *contentFinder) value(i, depth int) (int, bool) {
	if i >= len(f.text) {
		return 0, false
	}
	switch c := f.text[i]; {
	case c == '"':
		return f.string(i)
	case (c == '{' || c == '[') && depth >= deepestBlock:
		return f.skip(i)
	case c == '{':
		return f.object(i, depth)
	case c == '[':
		return f.array(i, depth, func(span) {})
	}
	for j := i; ; j++ {
		if j == len(f.text) || bytes.IndexByte([]byte(",]} \t"), f.text[j]) >= 0 {
			return j, j > i
		}
	}
}

// string returns the end of the string that begins at i.
func (f *contentFinder) string(i int) (int, bool) {
	for j := i + 1; ; {
		n := bytes.IndexByte(f.text[j:], '"')
		if n < 0 {
			return 0, false
		}
		j += n + 1
		slashes := 0
		for f.text[j-2-slashes] == '\\' { // ends at the opening quote
			slashes++
		}
		if slashes%2 == 0 {
			return j, true
		}
	}
}

// skip returns the end of the object or array at i, whatever its depth.
func (f *contentFinder) skip(i int) (int, bool) {
	open := 0
	for i < len(f.text) {
		switch f.text[i] {
		case '{', '[':
			open++
		case '}', ']':
			open--
			if open == 0 {
				return i + 1, true
			}
		case '"':
			end, ok := f.string(i)
			if !ok {
				return 0, false
			}
			i = end
			continue
		}
		i++
	}
	return 0, false
}

// space returns the place of the next byte that is no blank.
func (f *contentFinder) space(i int) int {
	for i < len(f.text) && (f.text[i] == ' ' || f.text[i] == '\t') {
		i++
	}
	return i
}

// next says what follows the value that ends at i: more true for a comma,
// false for the closing byte. It returns the place after it.
func (f *contentFinder) next(i int, closing byte) (after int, more, ok bool) {
	i = f.space(i)
	if i >= len(f.text) || f.text[i] != ',' && f.text[i] != closing {
		return 0, false, false
	}
	return f.space(i + 1), f.text[i] == ',', true
}

// array walks over an array and calls element for each of its elements.
func (f *contentFinder) array(i, depth int, element func(span)) (int, bool) {
	i = f.space(i + 1)
	if i < len(f.text) && f.text[i] == ']' {
		return i + 1, true
	}
	for {
		end, ok := f.value(i, depth+1)
		if !ok {
			return 0, false
		}
		element(span{i, end})
		after, more, ok := f.next(end, ']')
		if !ok {
			return 0, false
		}
		if !more {
			return f.space(end) + 1, true
		}
		i = after
	}
}

// object walks over an object and notes it if it is a block.
func (f *contentFinder) object(i, depth int) (int, bool) {
	before := len(f.blocks)
	m, end, ok := f.members(i, depth)
	if !ok {
		return 0, false
	}
	if b, ok := m.block(); ok {
		b.at = span{i, end}
		f.blocks = append(f.blocks[:before], b) // a block in a block's _meta is not content
	}
	return end, true
}

// blockMembers is more than a block has.
const blockMembers = 10

// fewMembers are the members of an object that may be a block.
type fewMembers struct {
	text []byte
	n    int // may be larger than the arrays: then this is no block
	key  [blockMembers]span
	val  [blockMembers]span
}

// members walks over the object at i and returns its members and its end.
func (f *contentFinder) members(i, depth int) (m fewMembers, end int, ok bool) {
	m.text = f.text
	i = f.space(i + 1)
	if i < len(f.text) && f.text[i] == '}' {
		return m, i + 1, true
	}
	for {
		if i >= len(f.text) || f.text[i] != '"' {
			return m, 0, false
		}
		key, ok := f.string(i)
		if !ok {
			return m, 0, false
		}
		colon := f.space(key)
		if colon >= len(f.text) || f.text[colon] != ':' {
			return m, 0, false
		}
		from := f.space(colon + 1)
		to, ok := f.value(from, depth+1)
		if !ok {
			return m, 0, false
		}
		if m.n < blockMembers {
			m.key[m.n], m.val[m.n] = span{i, key}, span{from, to}
		}
		m.n++
		after, more, ok := f.next(to, '}')
		if !ok {
			return m, 0, false
		}
		if !more {
			return m, f.space(to) + 1, true
		}
		i = after
	}
}

// get returns the value of a member.
func (m *fewMembers) get(name string) (span, bool) {
	for i := range m.n {
		if k := m.key[i]; string(m.text[k.from+1:k.to-1]) == name {
			return m.val[i], true
		}
	}
	return span{}, false
}

// only reports whether all members have these names, each once.
func (m *fewMembers) only(names ...string) bool {
	if m.n > blockMembers {
		return false
	}
	for i := range m.n {
		k := string(m.text[m.key[i].from+1 : m.key[i].to-1])
		if !slices.Contains(names, k) {
			return false
		}
		for j := range i {
			if string(m.text[m.key[j].from+1:m.key[j].to-1]) == k {
				return false
			}
		}
	}
	return true
}

// reduced is the result without the bulk of its blocks, each replaced by where
// it is. first is the number of the first block in the content.
func (f *contentFinder) reduced(first int) json.RawMessage {
	var out []byte
	done := 0
	for i, b := range f.blocks {
		if b.bulk.to == 0 {
			continue
		}
		out = append(out, f.text[done:b.bulk.from]...)
		out = append(out, `"see content[`...)
		out = fmt.Appendf(out, `%d], %s, %d bytes"`, first+i, b.mime, b.size)
		done = b.bulk.to
	}
	return append(out, f.text[done:]...)
}

// listOfBlocks returns the elements of a result that is an array of blocks and
// texts alone, and has one block at least.
func (f *contentFinder) listOfBlocks() ([][]byte, bool) {
	if f.text[0] != '[' {
		return nil, false
	}
	var all [][]byte
	blocks, next := true, 0
	again := contentFinder{text: f.text}
	_, _ = again.array(0, 0, func(at span) {
		switch {
		case next < len(f.blocks) && f.blocks[next].at == at:
			next++
		case isTextBlock(at.of(f.text)):
		default:
			blocks = false
		}
		all = append(all, at.of(f.text))
	})
	return all, blocks && next == len(f.blocks)
}

// isTextBlock reports whether text is {"type":"text","text":...}.
func isTextBlock(text []byte) bool {
	if text[0] != '{' {
		return false
	}
	f := contentFinder{text: text}
	m, _, ok := f.members(0, 0)
	return ok && m.only("type", "text", "annotations", "_meta") && m.is("type", "text") && m.strings("text") && m.extras()
}

// is reports whether a member is this string.
func (m *fewMembers) is(name, value string) bool {
	v, ok := m.get(name)
	return ok && m.text[v.from] == '"' && string(m.text[v.from+1:v.to-1]) == value
}

// strings reports whether all these members are there and are strings.
func (m *fewMembers) strings(names ...string) bool {
	for _, name := range names {
		if v, ok := m.get(name); !ok || m.text[v.from] != '"' {
			return false
		}
	}
	return true
}

// optional reports whether each of these members is a string or absent.
func (m *fewMembers) optional(names ...string) bool {
	for _, name := range names {
		if v, ok := m.get(name); ok && m.text[v.from] != '"' {
			return false
		}
	}
	return true
}

// mime returns a media type that needs no escapes; "" if it is none.
func (m *fewMembers) mime(name string) string {
	v, ok := m.get(name)
	if !ok || m.text[v.from] != '"' {
		return ""
	}
	kind := string(m.text[v.from+1 : v.to-1])
	major, minor, found := strings.Cut(kind, "/")
	if !found || major == "" || minor == "" || len(kind) > 100 {
		return ""
	}
	for _, c := range major + minor {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$&^_.+-", c) {
			return ""
		}
	}
	return kind
}
