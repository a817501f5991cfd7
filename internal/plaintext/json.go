package plaintext

import (
	"bytes"
	"encoding/json"
	"math"
)

// CleanJSON returns valid JSON in which every string and member name is cleaned. All
// other bytes are kept. Use it for JSON that is shown, never for results.
func CleanJSON(text []byte) []byte {
	var out []byte
	kept := 0 // text[kept:i] needs no change
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := stringEnd(text, i)
		if clean, changed := cleanString(text[i:end]); changed {
			out = append(append(out, text[kept:i]...), clean...)
			kept = end
		}
		i = end - 1
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}

// stringEnd returns the end of the JSON string that begins at text[i].
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// cleanString returns a JSON string without hidden characters.
func cleanString(quoted []byte) (clean []byte, changed bool) {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil, false
	}
	if _, hidden := FirstHidden(s); !hidden {
		return nil, false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(Clean(s, math.MaxInt)) != nil { // encoding a string cannot fail
		return nil, false
	}
	return bytes.TrimRight(b.Bytes(), "\n"), true
}
