package events

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// These constants are lengths in bytes. maxTextStart exceeds maxResultText, because six bytes such as "\u0041" may
// decode to one byte.
const (
	maxResultText    = 400
	maxDecodedResult = 64 << 10
	maxTextStart     = 1 + 6*(maxResultText+2*utf8.UTFMax)
)

// ResultStart is the beginning of a call's result, as JSON. [ResultStart.Text] converts a
// ResultStart to the text that surfaces show, only when a surface needs the text. For a
// call with an empty result, ResultStart is the zero value.
type ResultStart struct {
	text   []byte
	isCut  bool
	isText bool
}

// NewResultStart copies the beginning of a JSON result.
func NewResultStart(output json.RawMessage) ResultStart {
	r := ResultStart{isText: len(output) > 0 && output[0] == '"' && len(output) <= maxDecodedResult}
	limit := maxResultText + utf8.UTFMax
	if r.isText {
		limit = maxTextStart
	}
	r.isCut = len(output) > limit
	r.text = bytes.Clone(output[:min(len(output), limit)])
	return r
}

// Text returns the beginning of the result: the decoded text if the result is a JSON
// string, and otherwise the JSON itself. A truncated result ends with an ellipsis.
func (r ResultStart) Text() string {
	text := r.text
	if r.isText {
		if decoded, ok := decodeTextStart(r.text, r.isCut); ok {
			text = decoded
		}
	}
	if !r.isCut && len(text) <= maxResultText {
		return string(text)
	}
	return TruncateText(text, maxResultText) + "…"
}

// The last characters of a truncated string can be damaged.
func decodeTextStart(text []byte, isCut bool) (decoded []byte, ok bool) {
	if isCut {
		text = append(trimEscape(text), '"')
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return nil, false
	}
	return []byte(s), true
}

func trimEscape(text []byte) []byte {
	end := len(text)
	for i := 1; i < len(text); {
		length := 1
		if text[i] == '\\' {
			length = 2
			if i+1 < len(text) && text[i+1] == 'u' {
				length = 6
			}
		}
		if i+length > len(text) {
			end = i
		}
		i += length
	}
	return append(make([]byte, 0, end+1), text[:end]...)
}
