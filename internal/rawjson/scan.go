package rawjson

import "bytes"

// SkipSpace returns the index of the first byte from i on that is not a blank.
func SkipSpace(text []byte, i int) int {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	return i
}

// SkipString returns where the string that begins at text[i] ends; -1 without a
// complete string. SkipString finds quotes with [bytes.IndexByte], which is fast
// because it uses vector instructions.
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
		for text[backslashStart-1] == '\\' { // the loop ends at the opening quote
			backslashStart--
		}
		if (end-1-backslashStart)%2 == 0 { // an odd number of backslashes escapes the quote
			return end
		}
	}
}

// SkipValue returns where the value that begins at text[i] ends; -1 without a complete
// value. SkipValue does not check the content of the value.
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

// skipBrackets returns where the object or array that begins at text[i] ends; -1 if it
// does not end.
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
