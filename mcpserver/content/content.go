// Package content separates images, sounds and files from the result of a tool.
//
// A tool returns images, sounds and files as MCP content blocks, anywhere in its result:
//
//	{"type":"image","data":BASE64,"mimeType":"image/..."}
//	{"type":"audio","data":BASE64,"mimeType":"audio/..."}
//	{"type":"resource","resource":{"uri":URI,"text":TEXT or "blob":BASE64,"mimeType"?}}
//	{"type":"resource_link","uri":URI,"name":NAME,"title"?,"description"?,"mimeType"?,"size"?}
//
// Each content block may also have annotations and _meta. An object with an unknown
// member, or with data that is not base64, is not a content block and stays in the
// result.
package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/rawjson"
)

// Result is a tool's result, split into a text for agents and content blocks.
type Result struct {
	// Text is the result as JSON, with the data of each content block replaced by a
	// reference such as "see content[1], image/png, 8 bytes". The field Text is nil if
	// the tool's result consists only of content blocks.
	Text json.RawMessage
	// Data is the same JSON as Text, for the structured content of the MCP result. The
	// field Data is nil if the tool's result is not an object.
	Data json.RawMessage
	// The field Blocks contains the content blocks exactly as the page wrote them.
	Blocks [][]byte
}

// blockMarkers are texts of which each content block contains one. They are long and begin with a byte that is rare in JSON,
// so that a text search is fast.
var blockMarkers = [...][]byte{[]byte(`Type":"image/`), []byte(`Type":"audio/`), []byte(`"type":"resource`)}

func mayContainBlocks(output []byte) bool {
	for _, hint := range blockMarkers {
		if bytes.Contains(output, hint) {
			return true
		}
	}
	return false
}

// SeparateBlocks separates the content blocks from a result, which must be compact JSON.
// If the tool's result contains no content blocks, SeparateBlocks returns false.
func SeparateBlocks(toolOutput json.RawMessage) (Result, bool) {
	if !mayContainBlocks(toolOutput) {
		return Result{}, false
	}
	f := contentFinder{resultJSON: toolOutput}
	endIndex, ok := f.scanValue(0, 0)
	if !ok || endIndex != len(toolOutput) || len(f.blocks) == 0 {
		return Result{}, false
	}
	if blocks, ok := f.splitIntoBlocks(); ok {
		return Result{Blocks: blocks}, true
	}
	isOnlyBlock := f.blocks[0].blockBounds == byteRange{0, endIndex}
	firstIndex := 1 // content[0] is the text of the result
	if isOnlyBlock {
		firstIndex = 0
	}
	s := Result{Text: f.replaceBlocks(firstIndex)}
	for _, b := range f.blocks {
		s.Blocks = append(s.Blocks, b.blockBounds.slice(toolOutput))
	}
	if s.Text[0] == '{' {
		s.Data = s.Text
	}
	if isOnlyBlock {
		s.Text = nil
	}
	return s, true
}

// byteRange is a part of a tool's result: byte offsets from start to end.
type byteRange struct{ startIndex, endIndex int }

func (s byteRange) slice(resultJSON []byte) []byte { return resultJSON[s.startIndex:s.endIndex] }

// foundBlock is a content block that the contentFinder has found in a tool's result.
type foundBlock struct {
	blockBounds byteRange
	// base64Range is the byte range of the block's content within the JSON text, empty for a block without content.
	base64Range byteRange
	mediaType   string
	size        int // of the decoded data, in bytes
}

// contentFinder finds content blocks in JSON text without decoding it, because an image
// may have 100 MB.
type contentFinder struct {
	resultJSON []byte
	blocks     []foundBlock
}

// maxBlockDepth is the maximum depth in the JSON of a tool's result at which content
// blocks are found.
const maxBlockDepth = 100

func (f *contentFinder) scanValue(i, depth int) (int, bool) {
	if i >= len(f.resultJSON) {
		return 0, false
	}
	switch c := f.resultJSON[i]; {
	case c == '{' && depth < maxBlockDepth:
		return f.scanObject(i, depth)
	case c == '[' && depth < maxBlockDepth:
		return f.scanArray(i, depth, func(byteRange) {})
	}
	endIndex := rawjson.SkipValue(f.resultJSON, i)
	return endIndex, endIndex >= 0
}

func (f *contentFinder) scanSeparator(i int, closingByte byte) (nextIndex int, hasMore, ok bool) {
	i = rawjson.SkipSpace(f.resultJSON, i)
	if i >= len(f.resultJSON) || f.resultJSON[i] != ',' && f.resultJSON[i] != closingByte {
		return 0, false, false
	}
	return rawjson.SkipSpace(f.resultJSON, i+1), f.resultJSON[i] == ',', true
}

func (f *contentFinder) scanArray(i, depth int, onElement func(byteRange)) (int, bool) {
	i = rawjson.SkipSpace(f.resultJSON, i+1)
	if i < len(f.resultJSON) && f.resultJSON[i] == ']' {
		return i + 1, true
	}
	for {
		endIndex, ok := f.scanValue(i, depth+1)
		if !ok {
			return 0, false
		}
		onElement(byteRange{i, endIndex})
		nextIndex, hasMore, ok := f.scanSeparator(endIndex, ']')
		if !ok {
			return 0, false
		}
		if !hasMore {
			return rawjson.SkipSpace(f.resultJSON, endIndex) + 1, true
		}
		i = nextIndex
	}
}

func (f *contentFinder) scanObject(i, depth int) (int, bool) {
	blockCountBefore := len(f.blocks)
	m, endIndex, ok := f.scanMembers(i, depth)
	if !ok {
		return 0, false
	}
	if b, ok := m.parseBlock(); ok {
		b.blockBounds = byteRange{i, endIndex}
		f.blocks = append(f.blocks[:blockCountBefore], b) // drops blocks that were found in the _meta of this block
	}
	return endIndex, true
}

// maxBlockMembers is larger than the number of members of any content block.
const maxBlockMembers = 10

// objectMembers contains the members of a JSON object that is possibly a content block.
type objectMembers struct {
	object       []byte
	count        int // the number of members; if it exceeds the arrays, the object is not a content block
	keys         [maxBlockMembers]byteRange
	memberRanges [maxBlockMembers]byteRange
}

func (f *contentFinder) scanMembers(i, depth int) (m objectMembers, endIndex int, ok bool) {
	m.object = f.resultJSON
	i = rawjson.SkipSpace(f.resultJSON, i+1)
	if i < len(f.resultJSON) && f.resultJSON[i] == '}' {
		return m, i + 1, true
	}
	for {
		keyEnd := rawjson.SkipString(f.resultJSON, i)
		if keyEnd < 0 {
			return m, 0, false
		}
		colonIndex := rawjson.SkipSpace(f.resultJSON, keyEnd)
		if colonIndex >= len(f.resultJSON) || f.resultJSON[colonIndex] != ':' {
			return m, 0, false
		}
		valueStart := rawjson.SkipSpace(f.resultJSON, colonIndex+1)
		valueEnd, ok := f.scanValue(valueStart, depth+1)
		if !ok {
			return m, 0, false
		}
		if m.count < maxBlockMembers {
			m.keys[m.count], m.memberRanges[m.count] = byteRange{i, keyEnd}, byteRange{valueStart, valueEnd}
		}
		m.count++
		nextIndex, hasMore, ok := f.scanSeparator(valueEnd, '}')
		if !ok {
			return m, 0, false
		}
		if !hasMore {
			return m, rawjson.SkipSpace(f.resultJSON, valueEnd) + 1, true
		}
		i = nextIndex
	}
}

func (m *objectMembers) findValue(name string) (byteRange, bool) {
	for i := range m.count {
		if k := m.keys[i]; string(m.object[k.startIndex+1:k.endIndex-1]) == name {
			return m.memberRanges[i], true
		}
	}
	return byteRange{}, false
}

// hasOnlyMembers reports whether the object has no member that is not in names, and no
// member twice.
func (m *objectMembers) hasOnlyMembers(names ...string) bool {
	if m.count > maxBlockMembers {
		return false
	}
	for i := range m.count {
		k := string(m.object[m.keys[i].startIndex+1 : m.keys[i].endIndex-1])
		if !slices.Contains(names, k) {
			return false
		}
		for j := range i {
			if string(m.object[m.keys[j].startIndex+1:m.keys[j].endIndex-1]) == k {
				return false
			}
		}
	}
	return true
}

// The argument firstIndex is the index of the first content block in the content array of the MCP result.
func (f *contentFinder) replaceBlocks(firstIndex int) json.RawMessage {
	var resultJSON []byte
	copiedBytes := 0
	for i, b := range f.blocks {
		if b.base64Range.endIndex == 0 {
			continue
		}
		resultJSON = append(resultJSON, f.resultJSON[copiedBytes:b.base64Range.startIndex]...)
		resultJSON = append(resultJSON, `"see content[`...)
		resultJSON = fmt.Appendf(resultJSON, `%d], %s, %d bytes"`, firstIndex+i, b.mediaType, b.size)
		copiedBytes = b.base64Range.endIndex
	}
	return append(resultJSON, f.resultJSON[copiedBytes:]...)
}

// splitIntoBlocks returns content blocks if the result is an array of blocks, at least one of which is not text.
func (f *contentFinder) splitIntoBlocks() ([][]byte, bool) {
	if f.resultJSON[0] != '[' {
		return nil, false
	}
	var elements [][]byte
	isAllBlocks, blockIndex := true, 0
	finder := contentFinder{resultJSON: f.resultJSON}
	_, _ = finder.scanArray(0, 0, func(blockRange byteRange) {
		switch {
		case blockIndex < len(f.blocks) && f.blocks[blockIndex].blockBounds == blockRange:
			blockIndex++
		case isTextBlock(blockRange.slice(f.resultJSON)):
		default:
			isAllBlocks = false
		}
		elements = append(elements, blockRange.slice(f.resultJSON))
	})
	return elements, isAllBlocks && blockIndex == len(f.blocks)
}

func isTextBlock(blockJSON []byte) bool {
	if blockJSON[0] != '{' {
		return false
	}
	f := contentFinder{resultJSON: blockJSON}
	m, _, ok := f.scanMembers(0, 0)
	return ok && m.hasOnlyMembers("type", "text", "annotations", "_meta") && m.hasStringValue("type", "text") && m.hasStrings("text") && m.hasValidOptionalMembers()
}

func (m *objectMembers) hasStringValue(name, value string) bool {
	v, ok := m.findValue(name)
	return ok && m.object[v.startIndex] == '"' && string(m.object[v.startIndex+1:v.endIndex-1]) == value
}

func (m *objectMembers) hasStrings(names ...string) bool {
	for _, name := range names {
		if v, ok := m.findValue(name); !ok || m.object[v.startIndex] != '"' {
			return false
		}
	}
	return true
}

func (m *objectMembers) hasOptionalStrings(names ...string) bool {
	for _, name := range names {
		if v, ok := m.findValue(name); ok && m.object[v.startIndex] != '"' {
			return false
		}
	}
	return true
}

func (m *objectMembers) mediaType(name string) string {
	v, ok := m.findValue(name)
	if !ok || m.object[v.startIndex] != '"' {
		return ""
	}
	kind := string(m.object[v.startIndex+1 : v.endIndex-1])
	mainType, subtype, hasSlash := strings.Cut(kind, "/")
	if !hasSlash || mainType == "" || subtype == "" || len(kind) > 100 {
		return ""
	}
	for _, c := range mainType + subtype {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$&^_.+-", c) {
			return ""
		}
	}
	return kind
}
