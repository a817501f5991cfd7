package plaintext

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanCases(t *testing.T) {
	fileContent, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Name, In, Out string }
	if err := json.Unmarshal(fileContent, &cases); err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		if got := Clean(c.In, 1000); got != c.Out {
			t.Errorf("%s: Clean(%+q) = %+q, want %+q", c.Name, c.In, got, c.Out)
		}
		if _, isHidden := FindHiddenRune(c.In); isHidden != (c.In != c.Out) {
			t.Errorf("%s: FindHiddenRune reports a hidden character = %t, want %t", c.Name, isHidden, c.In != c.Out)
		}
	}
}

func TestCleanTruncatesText(t *testing.T) {
	for _, tt := range []struct {
		input string
		n     int
		want  string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"a\xffb", 9, "a\ufffdb"},
		{"\x00\x00\x00abc", 3, "abc"},
		{"👩\u200d🚀👩\u200d🚀", 3, "👩…"},
		{"1\ufe0f\u20e3x", 3, "1…"},
	} {
		if got := Clean(tt.input, tt.n); got != tt.want {
			t.Errorf("Clean(%+q, %d) = %+q, want %+q", tt.input, tt.n, got, tt.want)
		}
	}
}

func TestLineRemovesControlCharacters(t *testing.T) {
	if got := Line(" a\r\n\tb \u2028c\x1b[0m ", 5); got != "a b …" {
		t.Errorf("Line returned %q; want %q", got, "a b …")
	}
}

func TestReplaceHiddenRunes(t *testing.T) {
	var hiddenRunes []rune
	got := Replace("a\x1bb\xffc\u2028", func(r rune) string { hiddenRunes = append(hiddenRunes, r); return "?" })
	if got != "a?b?c?" || len(hiddenRunes) != 3 || hiddenRunes[0] != 0x1b || hiddenRunes[1] != 0xff || hiddenRunes[2] != 0x2028 {
		t.Errorf("Replace returned %q for the hidden characters %x, want a?b?c? for 1b, ff and 2028", got, hiddenRunes)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("👩\u200d🚀\ufe0f\u202e\U000e0041\U000e0100 می\u200cخ\xff", 4)
	f.Fuzz(func(t *testing.T, input string, n int) {
		n = 1 + int(uint(n)%50)
		cleaned := Clean(input, n)
		if !utf8.ValidString(cleaned) || utf8.RuneCountInString(cleaned) > n {
			t.Errorf("Clean(%+q, %d) = %+q, want valid UTF-8 within the limit", input, n, cleaned)
		}
		if secondResult := Clean(cleaned, n); secondResult != cleaned {
			t.Errorf("Clean of the cleaned text %+q = %+q, want it unchanged", cleaned, secondResult)
		}
		if strings.ContainsAny(cleaned, "\x1b\u202e\u2028") {
			t.Errorf("cleaned text = %+q, want no hidden characters", cleaned)
		}
	})
}

func BenchmarkCleanMessage(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Clean("Indexed batch 17 of 100, 4.2 MB/s, 3 errors", 1000)
	}
}

func TestCleanJSON(t *testing.T) {
	for input, want := range map[string]string{
		`{"a":1.50,"b":[true,"x"]}`:                    `{"a":1.50,"b":[true,"x"]}`,
		`{"a\u202eb": "\udb40\udc41<b>\"\\", "c": ""}`: `{"ab": "<b>\"\\", "c": ""}`,
		"[\"\u202e\",\"👩\u200d🚀\"]":                    "[\"\",\"👩\u200d🚀\"]",
		`"\\u202e"`:                                    `"\\u202e"`,
	} {
		if got := string(CleanJSON([]byte(input))); got != want {
			t.Errorf("CleanJSON(%s) = %s, want %s", input, got, want)
		}
	}
}
