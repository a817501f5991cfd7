package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/rawjson"
)

// A tool returns images, sounds and files as blocks of MCP content: objects with
// exactly these members, as the whole result or anywhere in it.
//
//	{"type":"image","data":BASE64,"mimeType":"image/..."}
//	{"type":"audio","data":BASE64,"mimeType":"audio/..."}
//	{"type":"resource","resource":{"uri":URI,"text":TEXT or "blob":BASE64,"mimeType"?}}
//	{"type":"resource_link","uri":URI,"name":NAME,"title"?,"description"?,"mimeType"?,"size"?}
//
// Each block may also have annotations and _meta. An object with another member, or
// with data that is not base64, is not a block and stays in the result.

// separated is a result, split into a text for agents and blocks of content.
type separated struct {
	// text is the result as JSON. The data of each block is replaced by its place in
	// the content. text is nil if the result consists of blocks.
	text json.RawMessage
	// data is the same for programs, nil unless the result is an object.
	data json.RawMessage
	// blocks are content blocks as the page wrote them.
	blocks [][]byte
}

// Every block contains one of blockHints, in the form of JSON.stringify. Long texts
// that begin with a rare byte are found fastest.
var blockHints = [...][]byte{[]byte(`Type":"image/`), []byte(`Type":"audio/`), []byte(`"type":"resource`)}

// mayHaveBlocks reports whether a result may contain blocks. mayHaveBlocks does not
// parse the result.
func mayHaveBlocks(output []byte) bool {
	for _, hint := range blockHints {
		if bytes.Contains(output, hint) {
			return true
		}
	}
	return false
}

// separateBlocks separates the blocks of content from a result, compact JSON. separate
// reports false if there are none.
func separateBlocks(output json.RawMessage) (separated, bool) {
	if !mayHaveBlocks(output) {
		return separated{}, false
	}
	f := contentFinder{text: output}
	end, ok := f.scanValue(0, 0)
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
	s := separated{text: f.reducedResult(first)}
	for _, b := range f.blocks {
		s.blocks = append(s.blocks, b.at.of(output))
	}
	s.data = objectOnly(s.text)
	if whole {
		s.text = nil
	}
	return s, true
}

// span is a part of the result.
type span struct{ from, to int }

func (s span) of(text []byte) []byte { return text[s.from:s.to] }

// foundBlock is a block in a result.
type foundBlock struct {
	at span
	// bulk is the data, which is removed from the result; empty if there is none.
	bulk span
	mime string
	size int // of the bulk, decoded, in bytes
}

// contentFinder finds blocks in JSON text without decoding it, because an image may
// have 100 MB.
type contentFinder struct {
	text   []byte
	blocks []foundBlock
}

// deepestBlock is the deepest level of a result at which blocks are found.
const deepestBlock = 100

// scanValue scans the value at i and returns its end. scanValue reports false for invalid JSON.
func (f *contentFinder) scanValue(i, depth int) (int, bool) {
	if i >= len(f.text) {
		return 0, false
	}
	switch c := f.text[i]; {
	case c == '{' && depth < deepestBlock:
		return f.scanObject(i, depth)
	case c == '[' && depth < deepestBlock:
		return f.scanArray(i, depth, func(span) {})
	}
	end := rawjson.SkipValue(f.text, i)
	return end, end >= 0
}

// scanSeparator scans the byte after the value that ends at i: more is true for a comma, false
// for the closing byte. after is the position behind this byte.
func (f *contentFinder) scanSeparator(i int, closing byte) (after int, more, ok bool) {
	i = rawjson.SkipSpace(f.text, i)
	if i >= len(f.text) || f.text[i] != ',' && f.text[i] != closing {
		return 0, false, false
	}
	return rawjson.SkipSpace(f.text, i+1), f.text[i] == ',', true
}

// scanArray scans an array and calls element for each element.
func (f *contentFinder) scanArray(i, depth int, element func(span)) (int, bool) {
	i = rawjson.SkipSpace(f.text, i+1)
	if i < len(f.text) && f.text[i] == ']' {
		return i + 1, true
	}
	for {
		end, ok := f.scanValue(i, depth+1)
		if !ok {
			return 0, false
		}
		element(span{i, end})
		after, more, ok := f.scanSeparator(end, ']')
		if !ok {
			return 0, false
		}
		if !more {
			return rawjson.SkipSpace(f.text, end) + 1, true
		}
		i = after
	}
}

// scanObject scans an object and records it if it is a block.
func (f *contentFinder) scanObject(i, depth int) (int, bool) {
	before := len(f.blocks)
	m, end, ok := f.scanMembers(i, depth)
	if !ok {
		return 0, false
	}
	if b, ok := m.asBlock(); ok {
		b.at = span{i, end}
		f.blocks = append(f.blocks[:before], b) // blocks in a block's _meta are not content
	}
	return end, true
}

// blockMembers is more than the number of members of a block.
const blockMembers = 10

// fewMembers contains the members of an object that may be a block.
type fewMembers struct {
	text []byte
	n    int // if larger than the arrays, the object is not a block
	key  [blockMembers]span
	val  [blockMembers]span
}

// scanMembers scans the object at i and returns its members and its end.
func (f *contentFinder) scanMembers(i, depth int) (m fewMembers, end int, ok bool) {
	m.text = f.text
	i = rawjson.SkipSpace(f.text, i+1)
	if i < len(f.text) && f.text[i] == '}' {
		return m, i + 1, true
	}
	for {
		key := rawjson.SkipString(f.text, i)
		if key < 0 {
			return m, 0, false
		}
		colon := rawjson.SkipSpace(f.text, key)
		if colon >= len(f.text) || f.text[colon] != ':' {
			return m, 0, false
		}
		from := rawjson.SkipSpace(f.text, colon+1)
		to, ok := f.scanValue(from, depth+1)
		if !ok {
			return m, 0, false
		}
		if m.n < blockMembers {
			m.key[m.n], m.val[m.n] = span{i, key}, span{from, to}
		}
		m.n++
		after, more, ok := f.scanSeparator(to, '}')
		if !ok {
			return m, 0, false
		}
		if !more {
			return m, rawjson.SkipSpace(f.text, to) + 1, true
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

// hasOnly reports whether all members have these names, each once.
func (m *fewMembers) hasOnly(names ...string) bool {
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

// reducedResult returns the result with the data of each block replaced by its place in
// the content. first is the index of the first block in the content.
func (f *contentFinder) reducedResult(first int) json.RawMessage {
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

// listOfBlocks returns the elements of an array that contains only blocks and text
// blocks, and at least one block. listOfBlocks reports false for any other result.
func (f *contentFinder) listOfBlocks() ([][]byte, bool) {
	if f.text[0] != '[' {
		return nil, false
	}
	var all [][]byte
	blocks, next := true, 0
	second := contentFinder{text: f.text}
	_, _ = second.scanArray(0, 0, func(at span) {
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
	m, _, ok := f.scanMembers(0, 0)
	return ok && m.hasOnly("type", "text", "annotations", "_meta") && m.is("type", "text") && m.hasStrings("text") && m.hasValidExtras()
}

// is reports whether a member is this string.
func (m *fewMembers) is(name, value string) bool {
	v, ok := m.get(name)
	return ok && m.text[v.from] == '"' && string(m.text[v.from+1:v.to-1]) == value
}

// hasStrings reports whether all these members exist and are strings.
func (m *fewMembers) hasStrings(names ...string) bool {
	for _, name := range names {
		if v, ok := m.get(name); !ok || m.text[v.from] != '"' {
			return false
		}
	}
	return true
}

// hasOptionalStrings reports whether each of these members is a string or absent.
func (m *fewMembers) hasOptionalStrings(names ...string) bool {
	for _, name := range names {
		if v, ok := m.get(name); ok && m.text[v.from] != '"' {
			return false
		}
	}
	return true
}

// mediaType returns a media type without escapes, "" if the member is not one.
func (m *fewMembers) mediaType(name string) string {
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
