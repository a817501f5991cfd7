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
	// maxSchemaTextChars is the maximum length of a title, description or comment in a schema,
	// in characters. [Clean] cuts a text that is longer than maxSchemaTextChars.
	maxSchemaTextChars = 2000
	// maxSchemaBytes is the maximum size of a JSON Schema, in bytes.
	maxSchemaBytes = 256 << 10
)

// schemaTexts are the keywords of a schema whose values are texts for a reader.
var schemaTexts = []string{"title", "description", "$comment", "markdownDescription"}

// schemaCleaner removes hidden characters from the strings of one JSON Schema.
type schemaCleaner struct {
	removedRune         rune
	shortenedKeyword    string
	propertyNameProblem string
}

// CleanResult is the result of [Clean]: a JSON Schema without hidden characters, with
// warnings.
type CleanResult struct {
	// Schema is the cleaned schema; nil if Problem gives a reason why opentabs must not
	// use the schema.
	Schema json.RawMessage
	// Problem is the reason why opentabs must not use the schema, such as "has 300000
	// bytes; shorten it to at most 262144".
	Problem string
	// Warnings describes the changes that Clean made to the schema. Like Problem, each
	// warning is a sentence without a subject.
	Warnings []string
}

// Clean removes hidden characters from the texts of a compact JSON Schema, and cuts long
// texts. In a pattern, Clean replaces each hidden character with its escape sequence, so
// that the pattern keeps its meaning. Clean reports a problem for a hidden character in a
// member name, because the page compares member names.
func Clean(schema json.RawMessage) CleanResult {
	if len(schema) > maxSchemaBytes {
		return CleanResult{Problem: fmt.Sprintf("has %d bytes; shorten it to at most %d", len(schema), maxSchemaBytes)}
	}
	if !mayNeedCleaning(schema) {
		return CleanResult{Schema: schema}
	}
	var c schemaCleaner
	var warnings []string
	cleanSchema := c.appendValue(nil, schema, "")
	switch {
	case c.propertyNameProblem != "":
		return CleanResult{Problem: "has a member whose name " + c.propertyNameProblem}
	case c.removedRune != 0:
		warnings = append(warnings, fmt.Sprintf("has characters that are not shown, such as U+%04X; they are removed for agents", c.removedRune))
	}
	if c.shortenedKeyword != "" {
		warnings = append(warnings, fmt.Sprintf("has a %s of more than %d characters; it is cut", c.shortenedKeyword, maxSchemaTextChars))
	}
	return CleanResult{Schema: cleanSchema, Warnings: warnings}
}

func mayNeedCleaning(rawJSON []byte) bool {
	start := 0
	for i := 0; i < len(rawJSON); i++ {
		switch b := rawJSON[i]; {
		case b >= 0x7f:
			return true
		case b == '"':
			if i-start > maxSchemaTextChars {
				return true
			}
			start = i
		case b == '\\':
			if i++; bytes.IndexByte([]byte("ubfr"), rawJSON[i]) >= 0 {
				return true
			}
		}
	}
	return false
}

func (c *schemaCleaner) appendValue(buffer, rawJSON []byte, keyword string) []byte {
	switch rawjson.KindOf(rawJSON) {
	case rawjson.KindString:
		return append(buffer, c.cleanText(rawJSON, keyword)...)
	case rawjson.KindArray:
		buffer = append(buffer, '[')
		for i, item := range rawjson.Elements(rawJSON) {
			if i > 0 {
				buffer = append(buffer, ',')
			}
			buffer = c.appendValue(buffer, item, "")
		}
		return append(buffer, ']')
	case rawjson.KindObject:
		return c.appendObject(buffer, rawJSON)
	}
	return append(buffer, rawJSON...)
}

func (c *schemaCleaner) appendObject(buffer, rawJSON []byte) []byte {
	buffer = append(buffer, '{')
	isFirst := true
	for m := range rawjson.Members(rawJSON) {
		if r, isHidden := plaintext.FindHiddenRune(m.Key); isHidden && c.propertyNameProblem == "" {
			c.propertyNameProblem = plaintext.DescribeHiddenRune(r)
		}
		if !isFirst {
			buffer = append(buffer, ',')
		}
		isFirst = false
		buffer = append(append(buffer, m.QuotedKey...), ':')
		buffer = c.appendValue(buffer, m.Value, m.Key)
	}
	return append(buffer, '}')
}

func (c *schemaCleaner) cleanText(quotedJSON []byte, keyword string) []byte {
	unquoted := rawjson.Unquote(quotedJSON)
	limit := math.MaxInt
	if slices.Contains(schemaTexts, keyword) {
		limit = maxSchemaTextChars
	}
	r, isHidden := plaintext.FindHiddenRune(unquoted)
	isTooLong := len(unquoted) > limit && utf8.RuneCountInString(unquoted) > limit
	switch {
	case !isHidden && !isTooLong:
		return quotedJSON
	case keyword == "pattern":
		return rawjson.Encode(plaintext.Replace(unquoted, escapeInPattern))
	}
	if isHidden && r != '\r' && c.removedRune == 0 {
		c.removedRune = r
	}
	if isTooLong && c.shortenedKeyword == "" {
		c.shortenedKeyword = keyword
	}
	return rawjson.Encode(plaintext.Clean(unquoted, limit))
}

func escapeInPattern(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\u{%x}`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
