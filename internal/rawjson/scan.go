package rawjson

import "bytes"

// SkipSpace returns the index of the first byte at or after i that is not JSON white space, or
// len(jsonText).
func SkipSpace(jsonText []byte, i int) int {
	for i < len(jsonText) && isBlank(jsonText[i]) {
		i++
	}
	return i
}

// SkipString returns the index after the JSON string that begins at jsonText[i], or -1 if no
// complete string begins there. The search for the closing quote uses [bytes.IndexByte], which
// is fast because of its vector instructions.
func SkipString(jsonText []byte, i int) int {
	if i >= len(jsonText) || jsonText[i] != '"' {
		return -1
	}
	for endIndex := i + 1; ; {
		n := bytes.IndexByte(jsonText[endIndex:], '"')
		if n < 0 {
			return -1
		}
		endIndex += n + 1
		backslashStart := endIndex - 1
		for jsonText[backslashStart-1] == '\\' {
			backslashStart--
		}
		if (endIndex-1-backslashStart)%2 == 0 { // an odd number of backslashes escapes the quote
			return endIndex
		}
	}
}

// SkipValue returns the index after the JSON value that begins at jsonText[i], or -1 if no
// complete value begins there. SkipValue only looks for the end of the value, and does not
// validate its syntax.
func SkipValue(jsonText []byte, i int) int {
	if i >= len(jsonText) {
		return -1
	}
	switch jsonText[i] {
	case '"':
		return SkipString(jsonText, i)
	case '{', '[':
		return skipBrackets(jsonText, i)
	}
	startIndex := i
	for i < len(jsonText) && jsonText[i] != ',' && jsonText[i] != '}' && jsonText[i] != ']' && !isBlank(jsonText[i]) {
		i++
	}
	if i == startIndex {
		return -1
	}
	return i
}

func skipBrackets(jsonText []byte, i int) int {
	for depth := 0; i < len(jsonText); i++ {
		switch jsonText[i] {
		case '"':
			endIndex := SkipString(jsonText, i)
			if endIndex < 0 {
				return -1
			}
			i = endIndex - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
