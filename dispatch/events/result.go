package events

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxResultText is the length of the part of a result that surfaces get.
// maxDecodedResult is the length of the longest text result whose escapes are decoded.
// maxTextStart is the length of the start of a text result from which maxResultText can
// be decoded: an escape of six bytes may be one byte of text. All are in bytes.
const (
	maxResultText    = 400
	maxDecodedResult = 64 << 10
	maxTextStart     = 1 + 6*(maxResultText+2*utf8.UTFMax)
)

// ResultStart is the start of a successful result: JSON text from which [ResultStart.Text]
// makes the part that surfaces show. The end of a call stores the ResultStart, and a
// reader of the call makes the text. The zero value is the start of an empty result.
type ResultStart struct {
	text   []byte
	isCut  bool // the result is longer than text
	isText bool // the result is a JSON string whose escapes are decoded
}

// NewResultStart copies the start of a result.
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

// Text returns the beginning of the result: the text of a string, else the JSON. A
// truncated result ends with "…".
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
	return CutText(text, maxResultText) + "…"
}

// decodeTextStart decodes a JSON string, or its start if isCut is set. The last characters
// of a decoded start may be damaged.
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

// trimEscape returns a copy of the start of a JSON string without an incomplete escape at
// its end.
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
