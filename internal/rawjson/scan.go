package rawjson

import "bytes"

// SkipSpace returns the index of the first byte at or after i that is not JSON white
// space, or len(text).
func SkipSpace(text []byte, i int) int {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	return i
}

// SkipString returns the index after the JSON string that begins at text[i], or -1 if no
// complete string begins there. The search for the closing quote uses [bytes.IndexByte],
// which is fast because of its vector instructions.
func SkipString(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	for end := i + 1; ; {
		n := bytes.IndexByte(text[end:], '"')
		if n < 0 {
			return -1
		}
		end += n + 1
		backslashStart := end - 1
		for text[backslashStart-1] == '\\' {
			backslashStart--
		}
		if (end-1-backslashStart)%2 == 0 { // an odd number of backslashes escapes the quote
			return end
		}
	}
}

// SkipValue returns the index after the JSON value that begins at text[i], or -1 if no
// complete value begins there. SkipValue only looks for the end of the value, and does not
// validate its syntax.
func SkipValue(text []byte, i int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '"':
		return SkipString(text, i)
	case '{', '[':
		return skipBrackets(text, i)
	}
	start := i
	for i < len(text) && text[i] != ',' && text[i] != '}' && text[i] != ']' && !isBlank(text[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func skipBrackets(text []byte, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := SkipString(text, i)
			if end < 0 {
				return -1
			}
			i = end - 1
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
