package terminal

import (
	"encoding/json"
	"testing"

	"opentabs/internal/plaintext"
)

func TestSafeText(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"":                            "",
		"two\nlines\tand a tab":       "two\nlines\tand a tab",
		"Grüße, 世界 🌍":                 "Grüße, 世界 🌍",
		"\x1b[31mred\x1b[0m":          `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\x07":            `\x1b]0;title\x07`,
		"over\rwritten":               `over\x0dwritten`,
		"back\b\x7f":                  `back\x08\x7f`,
		"\u009b31m":                   `\x9b31m`,
		"\x9b31m":                     `\x9b31m`,
		"user\u202egnp.exe":           `user\u202egnp.exe`,
		"\u2066isolated\u2069\u2028x": `\u2066isolated\u2069\u2028x`,
		"\x00":                        `\x00`,
	} {
		if got := escapeText(in); got != want {
			t.Errorf("escapeText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSafeJSON(t *testing.T) {
	value := "a\u007f\u009b\u202e\u2028世"
	encodedJSON, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	safeText := escapeJSON("[\"raw \u009b\u202e\x7f\"," + string(encodedJSON) + "]")
	if r, found := plaintext.FindHiddenRune(safeText); found {
		t.Errorf("escapeJSON returned %q with the hidden character %q, want it escaped", safeText, r)
	}
	var decodedText []string
	if err := json.Unmarshal([]byte(safeText), &decodedText); err != nil || decodedText[0] != "raw \u009b\u202e\x7f" || decodedText[1] != value {
		t.Errorf("the escaped JSON %s decodes to %q, error %v; want the original value", safeText, decodedText, err)
	}
}

func TestSafeLine(t *testing.T) {
	if got := SafeLine("  a\n\tb \x1b[2J\r\nc "); got != `a b \x1b[2J c` {
		t.Errorf("SafeLine = %q; want %q", got, `a b \x1b[2J c`)
	}
}

func TestWidthAndTruncate(t *testing.T) {
	for wideText, want := range map[string]int{"abc": 3, "世界": 4, "e\u0301": 1, "🌍": 2, "": 0, "한글": 4, "é": 1, "a\u200db": 2} {
		if got := textWidth(wideText); got != want {
			t.Errorf("textWidth(%q) = %d, want %d", wideText, got, want)
		}
	}
	for _, c := range []struct {
		input string
		width int
		want  string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc..."},
		{"世界世界", 7, "世界..."},
		{"世界世界", 6, "世..."},
		{"abcdef", 3, "..."},
		{"abcdef", 0, ""},
		{"abcdef", -1, ""},
	} {
		got := truncateColumns(c.input, c.width)
		if got != c.want || textWidth(got) > max(c.width, 0) {
			t.Errorf("truncateColumns(%q, %d) = %q, want %q", c.input, c.width, got, c.want)
		}
	}
}

func FuzzSafeText(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[31m", "\x9b", "\u202e世\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wideText string) {
		if r, found := plaintext.FindHiddenRune(escapeText(wideText)); found {
			t.Errorf("escapeText(%q) keeps the hidden character %q, want it escaped", wideText, r)
		}
		for width := range 12 {
			if got := truncateColumns(escapeText(wideText), width); textWidth(got) > width {
				t.Errorf("truncateColumns(%q, %d) has %d columns, want no more than the limit", wideText, width, textWidth(got))
			}
		}
	})
}
