package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"time"
)

// asBlock returns the block with these members. asBlock reports false for any other object.
// Clients reject a whole result for one block that violates MCP's schema, so this check
// is as strict.
func (m *fewMembers) asBlock() (foundBlock, bool) {
	kind, ok := m.get("type")
	if !ok || m.n > blockMembers {
		return foundBlock{}, false
	}
	var b foundBlock
	switch string(kind.of(m.text)) {
	case `"image"`:
		b, ok = m.asMedia("image/")
	case `"audio"`:
		b, ok = m.asMedia("audio/")
	case `"resource"`:
		b, ok = m.asResource()
	case `"resource_link"`:
		ok = m.hasOnly("type", "uri", "name", "title", "description", "mimeType", "size", "annotations", "_meta") &&
			m.hasValidURI() && m.hasStrings("name") && m.hasOptionalStrings("title", "description", "mimeType") && m.hasValidSize()
	default:
		return b, false
	}
	return b, ok && m.hasValidExtras()
}

// asMedia returns an image or a sound.
func (m *fewMembers) asMedia(major string) (foundBlock, bool) {
	mime := m.mediaType("mimeType")
	if !m.hasOnly("type", "data", "mimeType", "annotations", "_meta") || !strings.HasPrefix(mime, major) {
		return foundBlock{}, false
	}
	data, ok := m.get("data")
	if !ok {
		return foundBlock{}, false
	}
	size, ok := base64Size(data.of(m.text))
	return foundBlock{bulk: data, mime: mime, size: size}, ok
}

// asResource returns a file with its content.
func (m *fewMembers) asResource() (foundBlock, bool) {
	if !m.hasOnly("type", "resource", "annotations", "_meta") {
		return foundBlock{}, false
	}
	at, ok := m.get("resource")
	if !ok || m.text[at.from] != '{' {
		return foundBlock{}, false
	}
	f := contentFinder{text: m.text}
	file, _, ok := f.scanMembers(at.from, 0)
	if !ok || !file.hasOnly("uri", "mimeType", "text", "blob", "_meta") || !file.hasValidURI() || !file.hasOptionalStrings("mimeType") || !file.hasValidExtras() {
		return foundBlock{}, false
	}
	b := foundBlock{mime: file.mediaType("mimeType")}
	text, hasText := file.get("text")
	blob, hasBlob := file.get("blob")
	switch {
	case hasText == hasBlob:
		return b, false
	case hasText:
		b.bulk, ok = text, m.text[text.from] == '"'
		b.size = text.to - text.from - 2
	default:
		b.bulk = blob
		b.size, ok = base64Size(blob.of(m.text))
	}
	if b.mime == "" {
		b.mime = "resource"
	}
	return b, ok
}

// hasValidExtras reports whether the members that every block may have are valid.
func (m *fewMembers) hasValidExtras() bool {
	if v, ok := m.get("_meta"); ok && m.text[v.from] != '{' {
		return false
	}
	v, ok := m.get("annotations")
	if !ok {
		return true
	}
	var a struct {
		Audience     []string `json:"audience"`
		Priority     *float64 `json:"priority"`
		LastModified *string  `json:"lastModified"`
	}
	d := json.NewDecoder(bytes.NewReader(v.of(m.text)))
	d.DisallowUnknownFields()
	if m.text[v.from] != '{' || bytes.Contains(v.of(m.text), []byte("null")) || d.Decode(&a) != nil {
		return false
	}
	if _, err := d.Token(); err != io.EOF {
		return false
	}
	for _, who := range a.Audience {
		if who != "user" && who != "assistant" {
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

// hasValidURI reports whether the member "uri" is an absolute URI. Some clients parse this URI.
func (m *fewMembers) hasValidURI() bool {
	v, ok := m.get("uri")
	var s string
	if !ok || json.Unmarshal(v.of(m.text), &s) != nil {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

// hasValidSize reports whether the member "size" is missing or a number of bytes.
func (m *fewMembers) hasValidSize() bool {
	v, ok := m.get("size")
	var n int64
	return !ok || json.Unmarshal(v.of(m.text), &n) == nil && n >= 0 && m.text[v.from] != 'n'
}

// isBase64 contains the alphabet of standard base64.
var isBase64 = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[c] = true
	}
	return table
}()

// base64Size returns the decoded size of a JSON string in padded standard base64, in
// bytes. base64Size reports false for an empty string or any other text.
func base64Size(quoted []byte) (int, bool) {
	if len(quoted) < 6 || quoted[0] != '"' {
		return 0, false
	}
	text := quoted[1 : len(quoted)-1]
	size := len(text) / 4 * 3
	digits := bytes.TrimSuffix(text, []byte("="))
	digits = bytes.TrimSuffix(digits, []byte("="))
	for _, c := range digits {
		if !isBase64[c] {
			return 0, false
		}
	}
	return size - (len(text) - len(digits)), len(text)%4 == 0
}
