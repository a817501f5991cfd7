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
	encodedStart []byte
	isTruncated  bool
	isText       bool
}

// NewResultStart copies the beginning of a JSON result.
func NewResultStart(toolOutput json.RawMessage) ResultStart {
	r := ResultStart{isText: len(toolOutput) > 0 && toolOutput[0] == '"' && len(toolOutput) <= maxDecodedResult}
	limit := maxResultText + utf8.UTFMax
	if r.isText {
		limit = maxTextStart
	}
	r.isTruncated = len(toolOutput) > limit
	r.encodedStart = bytes.Clone(toolOutput[:min(len(toolOutput), limit)])
	return r
}

// Text returns the beginning of the result: the decoded text if the result is a JSON
// string, and otherwise the JSON itself. A truncated result ends with an ellipsis.
func (r ResultStart) Text() string {
	resultStart := r.encodedStart
	if r.isText {
		if decodedText, ok := decodeTextStart(r.encodedStart, r.isTruncated); ok {
			resultStart = decodedText
		}
	}
	if !r.isTruncated && len(resultStart) <= maxResultText {
		return string(resultStart)
	}
	return TruncateText(resultStart, maxResultText) + "…"
}

// Truncation may have damaged the last characters of the string.
func decodeTextStart(resultStart []byte, isTruncated bool) (decodedText []byte, ok bool) {
	if isTruncated {
		resultStart = append(trimPartialEscape(resultStart), '"')
	}
	var s string
	if json.Unmarshal(resultStart, &s) != nil {
		return nil, false
	}
	return []byte(s), true
}

func trimPartialEscape(resultStart []byte) []byte {
	endIndex := len(resultStart)
	for i := 1; i < len(resultStart); {
		length := 1
		if resultStart[i] == '\\' {
			length = 2
			if i+1 < len(resultStart) && resultStart[i+1] == 'u' {
				length = 6
			}
		}
		if i+length > len(resultStart) {
			endIndex = i
		}
		i += length
	}
	return append(make([]byte, 0, endIndex+1), resultStart[:endIndex]...)
}
