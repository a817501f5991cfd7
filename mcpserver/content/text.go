package content

import (
	"bytes"
	"encoding/json"
	"net/url"
	"unicode/utf8"
)

// OneLine removes line breaks from JSON and replaces invalid UTF-8, because a line break
// ends a message over HTTP and stdio. In JSON, a line break can only occur between
// tokens, so removing a line break changes no value. JSON.stringify writes no line
// breaks.
func OneLine(output json.RawMessage) json.RawMessage {
	output = bytes.TrimSpace(output)
	if bytes.IndexByte(output, '\n') >= 0 || bytes.IndexByte(output, '\r') >= 0 {
		var b bytes.Buffer
		if json.Compact(&b, output) == nil {
			output = b.Bytes()
		}
	}
	if !utf8.Valid(output) {
		output = bytes.ToValidUTF8(output, []byte("\uFFFD"))
	}
	return output
}

// ObjectOrNil returns output if it is a JSON object, or nil, because structured
// content must be an object.
func ObjectOrNil(output json.RawMessage) json.RawMessage {
	if len(output) == 0 || output[0] != '{' {
		return nil
	}
	return output
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
