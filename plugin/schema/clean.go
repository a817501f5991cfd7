package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
)

const (
	// maxSchemaText is the longest title, description or comment in a schema, in
	// characters. Longer texts of a schema are cut.
	maxSchemaText = 2000
	// maxSchemaBytes is the largest schema, in bytes.
	maxSchemaBytes = 256 << 10
)

// schemaTexts are the keywords with texts for readers. Values of other keywords
// (enum, const, default, examples, formats) are cleaned but never cut.
var schemaTexts = []string{"title", "description", "$comment", "markdownDescription"}

// cleaner removes hidden characters from the strings of one schema.
type cleaner struct {
	// removedRune is the first removed character.
	removedRune rune
	// shortenedKeyword is the first keyword whose text was cut.
	shortenedKeyword string
	// nameProblem is the problem of the first member name with a hidden character.
	nameProblem string
}

// Cleaned is the result of [Clean].
type Cleaned struct {
	// Schema is nil if the schema cannot be used.
	Schema json.RawMessage
	// Problem is the reason why the schema cannot be used, as in "has 300000 bytes; ...".
	Problem string
	// Warnings list the changes to the schema, in the form of Problem.
	Warnings []string
}

// Clean removes hidden characters from the texts of a compact schema, and cuts long
// texts. Patterns keep their meaning: each hidden character becomes its escape
// sequence. Hidden characters in member names are a problem, because the page compares
// these names.
func Clean(schema json.RawMessage) Cleaned {
	if len(schema) > maxSchemaBytes {
		return Cleaned{Problem: fmt.Sprintf("has %d bytes; shorten it to at most %d", len(schema), maxSchemaBytes)}
	}
	if !mayNeedCleaning(schema) {
		return Cleaned{Schema: schema}
	}
	var c cleaner
	var warnings []string
	clean := c.appendValue(nil, schema, "")
	switch {
	case c.nameProblem != "":
		return Cleaned{Problem: "has a member whose name " + c.nameProblem}
	case c.removedRune != 0:
		warnings = append(warnings, fmt.Sprintf("has characters that are not shown, such as U+%04X; they are removed for agents", c.removedRune))
	}
	if c.shortenedKeyword != "" {
		warnings = append(warnings, fmt.Sprintf("has a %s of more than %d characters; it is cut", c.shortenedKeyword, maxSchemaText))
	}
	return Cleaned{Schema: clean, Warnings: warnings}
}

// mayNeedCleaning reports whether compact JSON has a non-ASCII character, an escape
// of a hidden character, or a long string.
func mayNeedCleaning(raw []byte) bool {
	from := 0 // start of the current string, or of the text between two strings
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

// appendValue appends the clean form of a value to dst. keyword is the name of the
// member that has the value.
func (c *cleaner) appendValue(dst, raw []byte, keyword string) []byte {
	switch rawjson.KindOf(raw) {
	case rawjson.KindString:
		return append(dst, c.cleanText(raw, keyword)...)
	case rawjson.KindArray:
		dst = append(dst, '[')
		for i, item := range rawjson.Elements(raw) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.appendValue(dst, item, "")
		}
		return append(dst, ']')
	case rawjson.KindObject:
		return c.appendObject(dst, raw)
	}
	return append(dst, raw...)
}

func (c *cleaner) appendObject(dst, raw []byte) []byte {
	dst = append(dst, '{')
	isFirst := true
	for m := range rawjson.Members(raw) {
		if r, hidden := plaintext.FirstHidden(m.Key); hidden && c.nameProblem == "" {
			c.nameProblem = plaintext.HiddenProblem(r)
		}
		if !isFirst {
			dst = append(dst, ',')
		}
		isFirst = false
		dst = append(append(dst, m.Quoted...), ':')
		dst = c.appendValue(dst, m.Value, m.Key)
	}
	return append(dst, '}')
}

// cleanText returns the clean form of a string. A string without hidden characters
// stays unchanged.
func (c *cleaner) cleanText(quoted []byte, keyword string) []byte {
	text := rawjson.Unquote(quoted)
	limit := math.MaxInt
	if slices.Contains(schemaTexts, keyword) {
		limit = maxSchemaText
	}
	r, hidden := plaintext.FirstHidden(text)
	isTooLong := len(text) > limit && utf8.RuneCountInString(text) > limit
	switch {
	case !hidden && !isTooLong:
		return quoted
	case keyword == "pattern":
		return rawjson.Encode(plaintext.Replace(text, escapeInPattern))
	}
	if hidden && r != '\r' && c.removedRune == 0 {
		c.removedRune = r
	}
	if isTooLong && c.shortenedKeyword == "" {
		c.shortenedKeyword = keyword
	}
	return rawjson.Encode(plaintext.Clean(text, limit))
}

// escapeInPattern returns the escape of a character in a JavaScript regular
// expression.
func escapeInPattern(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\u{%x}`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
