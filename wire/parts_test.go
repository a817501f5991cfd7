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
		t.Errorf("the length is %d, want 1", resultText.Len())
	}
	if got := string(resultText.Join()); got != "a\ufffd" {
		t.Errorf("the text is %q; want %q", got, "a\ufffd")
	}
}

func FuzzResultText(f *testing.F) {
	for _, s := range []string{`""`, `"a"`, `"\"\\\/\b\f\n\r\t"`, `"\ud83d\ude00"`, `"\ud83dx\ude00\uD83D\uD83D\uDE00"`, `"\u00fcü😀\u20AC"`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, quoted string, at int) {
		var want string
		if !utf8.ValidString(quoted) || json.Unmarshal([]byte(quoted), &want) != nil || len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
			return
		}
		var whole ResultText
		whole.Append([]byte(quoted))
		if got := string(whole.Join()); got != want {
			t.Fatalf("%s is decoded as %q, want %q", quoted, got, want)
		}
		at = max(1, min(at, len(quoted)-1))
		first, second := quoted[:at]+`"`, `"`+quoted[at:]
		if !json.Valid([]byte(first)) || !json.Valid([]byte(second)) || !utf8.ValidString(first) {
			return
		}
		var split ResultText
		split.Append([]byte(first))
		split.Append([]byte(second))
		if got := string(split.Join()); got != want {
			t.Fatalf("%s, split at %d, is decoded as %q, want %q", quoted, at, got, want)
		}
	})
}
