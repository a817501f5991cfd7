package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"opentabs/internal/plaintext"
)

const (
	// maxSchemaText is the longest title, description or comment in a schema, in
	// characters; a longer one is cut.
	maxSchemaText = 2000
	// maxSchemaBytes is the largest schema.
	maxSchemaBytes = 256 << 10
)

// schemaTexts are the keywords whose values are text for readers. The values of
// all others (enum, const, default, examples, formats) are cleaned, but not cut.
var schemaTexts = []string{"title", "description", "$comment", "markdownDescription"}

// schemaCleaner removes hidden characters from the strings of one schema, which
// agents and terminals receive.
type schemaCleaner struct {
	// removed is the first character that was removed, cut the first keyword whose
	// text was cut.
	removed rune
	cut     string
	// badName says what is wrong with the name of a member.
	badName string
}

// cleanSchema returns the schema, which is compact, with clean and bounded texts.
// Patterns keep their meaning: a hidden character becomes its escape. Names of
// members are data that the page compares, so hidden characters in them are a
// problem.
func (f *fields) cleanSchema(key string, schema json.RawMessage, p *Plugin) json.RawMessage {
	if len(schema) > maxSchemaBytes {
		f.add(key, "has %d bytes; shorten it to at most %d", len(schema), maxSchemaBytes)
		return nil
	}
	if !mayNeedCleaning(schema) {
		return schema
	}
	var c schemaCleaner
	clean := c.value(nil, schema, "")
	switch {
	case c.badName != "":
		f.add(key, "has a member whose name %s", c.badName)
		return nil
	case c.removed != 0:
		f.warn(p, key, "has characters that are not shown, such as U+%04X; they are removed for agents", c.removed)
	}
	if c.cut != "" {
		f.warn(p, key, "has a %s of more than %d characters; it is cut", c.cut, maxSchemaText)
	}
	return clean
}

// hiddenProblem says that a text has a hidden character.
func hiddenProblem(r rune) string {
	return fmt.Sprintf("has the character U+%04X, which is not shown and can hide what a text says; take it out", r)
}

// mayNeedCleaning reports whether compact JSON has a character beyond ASCII, an
// escape that can stand for a hidden one, or a long string.
func mayNeedCleaning(raw []byte) bool {
	from := 0 // where the current string or gap began
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case b >= 0x7f:
			return true
		case b == '"':
			if i-from > maxSchemaText {
				return true
			}
			from = i
		case b == '\\':
			if i++; bytes.IndexByte([]byte("ubfr"), raw[i]) >= 0 {
				return true
			}
		}
	}
	return false
}

// value appends the clean form of a value to dst; keyword is the name of the member
// that holds it.
func (c *schemaCleaner) value(dst, raw []byte, keyword string) []byte {
	switch kindOf(raw) {
	case kindString:
		return append(dst, c.text(raw, keyword)...)
	case kindArray:
		dst = append(dst, '[')
		for i, item := range elements(raw) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.value(dst, item, "")
		}
		return append(dst, ']')
	case kindObject:
		return c.object(dst, raw)
	}
	return append(dst, raw...)
}

func (c *schemaCleaner) object(dst, raw []byte) []byte {
	dst = append(dst, '{')
	first := true
	for m := range eachMember(raw) {
		if r, hidden := plaintext.FirstHidden(m.key); hidden && c.badName == "" {
			c.badName = hiddenProblem(r)
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, m.quoted...), ':')
		dst = c.value(dst, m.value, m.key)
	}
	return append(dst, '}')
}

// text returns the clean form of a string. One that is clean keeps its bytes.
func (c *schemaCleaner) text(quoted []byte, keyword string) []byte {
	text := unquote(quoted)
	limit := math.MaxInt
	if slices.Contains(schemaTexts, keyword) {
		limit = maxSchemaText
	}
	r, hidden := plaintext.FirstHidden(text)
	long := len(text) > limit && utf8.RuneCountInString(text) > limit
	switch {
	case !hidden && !long:
		return quoted
	case keyword == "pattern":
		return mustEncode(plaintext.Replace(text, escapeInPattern))
	}
	if hidden && r != '\r' && c.removed == 0 {
		c.removed = r
	}
	if long && c.cut == "" {
		c.cut = keyword
	}
	return mustEncode(plaintext.Clean(text, limit))
}

// escapeInPattern writes a character as a regular expression of JavaScript names
// it.
func escapeInPattern(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\u{%x}`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
