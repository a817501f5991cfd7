package wire

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestUnpairedSurrogateIsReplaced(t *testing.T) {
	var resultText ResultText
	resultText.Append([]byte(`"a\ud83d"`))
	if resultText.Len() != 1 {
		t.Errorf("resultText.Len() = %d before the second half of the pair, want 1", resultText.Len())
	}
	if got := string(resultText.Join()); got != "a\ufffd" {
		t.Errorf("resultText.Join() = %q, want %q", got, "a\ufffd")
	}
}

func FuzzResultText(f *testing.F) {
	for _, s := range []string{`""`, `"a"`, `"\"\\\/\b\f\n\r\t"`, `"\ud83d\ude00"`, `"\ud83dx\ude00\uD83D\uD83D\uDE00"`, `"\u00fcü😀\u20AC"`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, quotedJSON string, at int) {
		var want string
		if !utf8.ValidString(quotedJSON) || json.Unmarshal([]byte(quotedJSON), &want) != nil || len(quotedJSON) < 2 || quotedJSON[0] != '"' || quotedJSON[len(quotedJSON)-1] != '"' {
			return
		}
		var unsplitResult ResultText
		unsplitResult.Append([]byte(quotedJSON))
		if got := string(unsplitResult.Join()); got != want {
			t.Fatalf("ResultText decodes %s as %q, want %q", quotedJSON, got, want)
		}
		at = max(1, min(at, len(quotedJSON)-1))
		firstHalf, secondHalf := quotedJSON[:at]+`"`, `"`+quotedJSON[at:]
		if !json.Valid([]byte(firstHalf)) || !json.Valid([]byte(secondHalf)) || !utf8.ValidString(firstHalf) {
			return
		}
		var joinedParts ResultText
		joinedParts.Append([]byte(firstHalf))
		joinedParts.Append([]byte(secondHalf))
		if got := string(joinedParts.Join()); got != want {
			t.Fatalf("ResultText decodes %s, split at byte %d, as %q, want %q", quotedJSON, at, got, want)
		}
	})
}
