package schema

func skipBlanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

var isPlain = func() (plain [256]bool) {
	for c := 0x20; c < 256; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

func skipText(text []byte, i int) (end int, hasEscape bool) {
	if i >= len(text) || text[i] != '"' {
		return -1, false
	}
	for i++; ; {
		for i < len(text) && isPlain[text[i]] {
			i++
		}
		switch {
		case i == len(text) || text[i] < 0x20:
			return -1, false
		case text[i] == '"':
			return i + 1, hasEscape
		}
		hasEscape = true
		if i = skipEscape(text, i); i < 0 {
			return -1, false
		}
	}
}

func skipEscape(text []byte, i int) int {
	if i+1 >= len(text) {
		return -1
	}
	switch text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(text) {
			return -1
		}
		for _, c := range text[i+2 : i+6] {
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

func skipWord(text []byte, i int, word string) int {
	if len(text)-i < len(word) || string(text[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func skipPlainNumber(text []byte, i int) (end int, isInteger bool) {
	if text[i] == '-' {
		i++
	}
	digits := i
	i = skipDigits(text, i)
	if i == digits || text[digits] == '0' && i > digits+1 {
		return -1, false
	}
	isInteger = true
	if i < len(text) && text[i] == '.' {
		isInteger = false
		fraction := i + 1
		if i = skipDigits(text, fraction); i == fraction {
			return -1, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		return -1, false
	}
	return i, isInteger
}

func skipDigits(text []byte, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}
