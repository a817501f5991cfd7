package plaintext

import (
	"encoding/json"
	"math"

	"opentabs/internal/rawjson"
)

// CleanJSON returns valid JSON in which every string and member name is cleaned.
// CleanJSON keeps all bytes outside of strings. Use CleanJSON for JSON that is shown,
// never for results.
func CleanJSON(text []byte) []byte {
	var out []byte
	copiedTo := 0 // text[copiedTo:i] needs no change
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := rawjson.SkipString(text, i)
		if end < 0 { // the text is not JSON
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

// cleanString returns a JSON string without hidden characters.
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
