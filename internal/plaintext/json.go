package plaintext

import (
	"encoding/json"
	"math"

	"opentabs/internal/rawjson"
)

// CleanJSON removes hidden characters from every string and member name of a JSON text.
// CleanJSON keeps all bytes outside of strings. Use CleanJSON only for JSON that users or
// agents read, never for tool results.
func CleanJSON(text []byte) []byte {
	var out []byte
	copiedTo := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := rawjson.SkipString(text, i)
		if end < 0 { // a string without a closing quote is invalid JSON
			break
		}
		if cleanText, hasChanged := cleanString(text[i:end]); hasChanged {
			out = append(append(out, text[copiedTo:i]...), cleanText...)
			copiedTo = end
		}
		i = end - 1
	}
	if copiedTo == 0 {
		return text
	}
	return append(out, text[copiedTo:]...)
}

func cleanString(quoted []byte) (cleanText []byte, hasChanged bool) {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil, false
	}
	if _, hidden := FirstHidden(s); !hidden {
		return nil, false
	}
	return rawjson.Encode(Clean(s, math.MaxInt)), true
}
