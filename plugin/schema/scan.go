package schema

func skipBlanks(jsonText []byte, i int) int {
	for i < len(jsonText) && (jsonText[i] == ' ' || jsonText[i] == '\n' || jsonText[i] == '\r' || jsonText[i] == '\t') {
		i++
	}
	return i
}

var isPlain = func() (isPlainByte [256]bool) {
	for c := 0x20; c < 256; c++ {
		isPlainByte[c] = c != '"' && c != '\\'
	}
	return isPlainByte
}()

func skipString(jsonText []byte, i int) (endIndex int, hasEscape bool) {
	if i >= len(jsonText) || jsonText[i] != '"' {
		return -1, false
	}
	for i++; ; {
		for i < len(jsonText) && isPlain[jsonText[i]] {
			i++
		}
		switch {
		case i == len(jsonText) || jsonText[i] < 0x20:
			return -1, false
		case jsonText[i] == '"':
			return i + 1, hasEscape
		}
		hasEscape = true
		if i = skipEscape(jsonText, i); i < 0 {
			return -1, false
		}
	}
}

func skipEscape(jsonText []byte, i int) int {
	if i+1 >= len(jsonText) {
		return -1
	}
	switch jsonText[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(jsonText) {
			return -1
		}
		for _, c := range jsonText[i+2 : i+6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

func skipLiteral(jsonText []byte, i int, literal string) int {
	if len(jsonText)-i < len(literal) || string(jsonText[i:i+len(literal)]) != literal {
		return -1
	}
	return i + len(literal)
}

func skipPlainNumber(jsonText []byte, i int) (endIndex int, isInteger bool) {
	if jsonText[i] == '-' {
		i++
	}
	digits := i
	i = skipDigits(jsonText, i)
	if i == digits || jsonText[digits] == '0' && i > digits+1 {
		return -1, false
	}
	isInteger = true
	if i < len(jsonText) && jsonText[i] == '.' {
		isInteger = false
		fraction := i + 1
		if i = skipDigits(jsonText, fraction); i == fraction {
			return -1, false
		}
	}
	if i < len(jsonText) && (jsonText[i] == 'e' || jsonText[i] == 'E') {
		return -1, false
	}
	return i, isInteger
}

func skipDigits(jsonText []byte, i int) int {
	for i < len(jsonText) && jsonText[i] >= '0' && jsonText[i] <= '9' {
		i++
	}
	return i
}
