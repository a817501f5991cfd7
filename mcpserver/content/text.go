package content

import (
	"bytes"
	"encoding/json"
	"net/url"
	"unicode/utf8"
)

// RemoveLineBreaks removes line breaks from JSON and replaces invalid UTF-8, because a line break
// ends a message over HTTP and stdio. In JSON, a line break can only occur between
// tokens, so removing a line break changes no value. JSON.stringify writes no line
// breaks.
func RemoveLineBreaks(toolOutput json.RawMessage) json.RawMessage {
	toolOutput = bytes.TrimSpace(toolOutput)
	if bytes.IndexByte(toolOutput, '\n') >= 0 || bytes.IndexByte(toolOutput, '\r') >= 0 {
		var b bytes.Buffer
		if json.Compact(&b, toolOutput) == nil {
			toolOutput = b.Bytes()
		}
	}
	if !utf8.Valid(toolOutput) {
		toolOutput = bytes.ToValidUTF8(toolOutput, []byte("\uFFFD"))
	}
	return toolOutput
}

// StructuredContent returns output if it is a JSON object, or nil, because structured
// content must be an object.
func StructuredContent(toolOutput json.RawMessage) json.RawMessage {
	if len(toolOutput) == 0 || toolOutput[0] != '{' {
		return nil
	}
	return toolOutput
}

// StripURL returns a URL without user, query and fragment. StripURL returns "" if the URL
// must not be shown or is malformed.
func StripURL(address string, isAllowed bool) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !isAllowed {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}
