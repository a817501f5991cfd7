package content

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"time"
)

// IsBlock reports whether text is one MCP content block, such as an image or a text
// block.
func IsBlock(blockJSON json.RawMessage) bool {
	f := contentFinder{resultJSON: blockJSON}
	if blockJSON[0] != '{' {
		return false
	}
	members, endIndex, ok := f.scanMembers(0, 0)
	if !ok || endIndex != len(blockJSON) {
		return false
	}
	if members.hasStringValue("type", "text") {
		return members.hasOnlyMembers("type", "text", "annotations", "_meta") && members.hasStrings("text") && members.hasValidOptionalMembers()
	}
	_, ok = members.parseBlock()
	return ok
}

// parseBlock validates as strictly as the MCP schema, because clients reject a result with one invalid block.
func (m *objectMembers) parseBlock() (foundBlock, bool) {
	kind, ok := m.findValue("type")
	if !ok || m.count > maxBlockMembers {
		return foundBlock{}, false
	}
	var b foundBlock
	switch string(kind.slice(m.object)) {
	case `"image"`:
		b, ok = m.parseMediaBlock("image/")
	case `"audio"`:
		b, ok = m.parseMediaBlock("audio/")
	case `"resource"`:
		b, ok = m.parseResourceBlock()
	case `"resource_link"`:
		ok = m.hasOnlyMembers("type", "uri", "name", "title", "description", "mimeType", "size", "annotations", "_meta") &&
			m.hasValidURI() && m.hasStrings("name") && m.hasOptionalStrings("title", "description", "mimeType") && m.hasValidSize()
	default:
		return b, false
	}
	return b, ok && m.hasValidOptionalMembers()
}

func (m *objectMembers) parseMediaBlock(typePrefix string) (foundBlock, bool) {
	mediaType := m.mediaType("mimeType")
	if !m.hasOnlyMembers("type", "data", "mimeType", "annotations", "_meta") || !strings.HasPrefix(mediaType, typePrefix) {
		return foundBlock{}, false
	}
	base64Range, ok := m.findValue("data")
	if !ok {
		return foundBlock{}, false
	}
	size, ok := base64Size(base64Range.slice(m.object))
	return foundBlock{base64Range: base64Range, mediaType: mediaType, size: size}, ok
}

func (m *objectMembers) parseResourceBlock() (foundBlock, bool) {
	if !m.hasOnlyMembers("type", "resource", "annotations", "_meta") {
		return foundBlock{}, false
	}
	span, ok := m.findValue("resource")
	if !ok || m.object[span.startIndex] != '{' {
		return foundBlock{}, false
	}
	f := contentFinder{resultJSON: m.object}
	resource, _, ok := f.scanMembers(span.startIndex, 0)
	if !ok || !resource.hasOnlyMembers("uri", "mimeType", "text", "blob", "_meta") || !resource.hasValidURI() || !resource.hasOptionalStrings("mimeType") || !resource.hasValidOptionalMembers() {
		return foundBlock{}, false
	}
	b := foundBlock{mediaType: resource.mediaType("mimeType")}
	textRange, hasText := resource.findValue("text")
	blob, hasBlob := resource.findValue("blob")
	switch {
	case hasText == hasBlob:
		return b, false
	case hasText:
		b.base64Range, ok = textRange, m.object[textRange.startIndex] == '"'
		b.size = textRange.endIndex - textRange.startIndex - 2
	default:
		b.base64Range = blob
		b.size, ok = base64Size(blob.slice(m.object))
	}
	if b.mediaType == "" {
		b.mediaType = "resource"
	}
	return b, ok
}

func (m *objectMembers) hasValidOptionalMembers() bool {
	if v, ok := m.findValue("_meta"); ok && m.object[v.startIndex] != '{' {
		return false
	}
	v, ok := m.findValue("annotations")
	if !ok {
		return true
	}
	var a struct {
		Audience     []string `json:"audience"`
		Priority     *float64 `json:"priority"`
		LastModified *string  `json:"lastModified"`
	}
	d := json.NewDecoder(bytes.NewReader(v.slice(m.object)))
	d.DisallowUnknownFields()
	if m.object[v.startIndex] != '{' || bytes.Contains(v.slice(m.object), []byte("null")) || d.Decode(&a) != nil {
		return false
	}
	if _, err := d.Token(); err != io.EOF {
		return false
	}
	for _, audience := range a.Audience {
		if audience != "user" && audience != "assistant" {
			return false
		}
	}
	if a.LastModified != nil {
		if _, err := time.Parse(time.RFC3339, *a.LastModified); err != nil {
			return false
		}
	}
	return a.Priority == nil || *a.Priority >= 0 && *a.Priority <= 1
}

// hasValidURI reports whether the member "uri" is an absolute URI, which some clients
// require.
func (m *objectMembers) hasValidURI() bool {
	v, ok := m.findValue("uri")
	var s string
	if !ok || json.Unmarshal(v.slice(m.object), &s) != nil {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

func (m *objectMembers) hasValidSize() bool {
	v, ok := m.findValue("size")
	var n int64
	return !ok || json.Unmarshal(v.slice(m.object), &n) == nil && n >= 0 && m.object[v.startIndex] != 'n'
}

var isBase64 = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[c] = true
	}
	return table
}()

// base64Size returns the decoded size in bytes of a JSON string in padded standard base64.
func base64Size(quotedJSON []byte) (int, bool) {
	if len(quotedJSON) < 6 || quotedJSON[0] != '"' {
		return 0, false
	}
	base64Text := quotedJSON[1 : len(quotedJSON)-1]
	size := len(base64Text) / 4 * 3
	base64Digits := bytes.TrimSuffix(base64Text, []byte("="))
	base64Digits = bytes.TrimSuffix(base64Digits, []byte("="))
	for _, c := range base64Digits {
		if !isBase64[c] {
			return 0, false
		}
	}
	return size - (len(base64Text) - len(base64Digits)), len(base64Text)%4 == 0
}
