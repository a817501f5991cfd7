package plaintext

import (
	"encoding/json"
	"math"

	"opentabs/internal/rawjson"
)

// CleanJSON removes hidden characters from every string and member name of a JSON text.
// CleanJSON keeps all bytes outside of strings. Use CleanJSON only for JSON that users or
// agents read, never for tool results.
func CleanJSON(jsonText []byte) []byte {
	var cleanedJSON []byte
	copiedUntil := 0
	for i := 0; i < len(jsonText); i++ {
		if jsonText[i] != '"' {
			continue
		}
		endIndex := rawjson.SkipString(jsonText, i)
		if endIndex < 0 { // invalid JSON: an unterminated string
			break
		}
		if cleanText, hasChanged := cleanString(jsonText[i:endIndex]); hasChanged {
			cleanedJSON = append(append(cleanedJSON, jsonText[copiedUntil:i]...), cleanText...)
			copiedUntil = endIndex
		}
		i = endIndex - 1
	}
	if copiedUntil == 0 {
		return jsonText
	}
	return append(cleanedJSON, jsonText[copiedUntil:]...)
}

func cleanString(quotedJSON []byte) (cleanText []byte, hasChanged bool) {
	var s string
	if json.Unmarshal(quotedJSON, &s) != nil {
		return nil, false
	}
	if _, isHidden := FindHiddenRune(s); !isHidden {
		return nil, false
	}
	return rawjson.Encode(Clean(s, math.MaxInt)), true
}
