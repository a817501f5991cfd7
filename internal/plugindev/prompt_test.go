package plugindev

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                      nil,
		"  a=1\tb=2 ":           {"a=1", "b=2"},
		`a="b c" 'd e'=f ''`:    {"a=b c", "d e=f", ""},
		`text="it's" x='a "b"'`: {"text=it's", `x=a "b"`},
		`list=[1,2] text=a\b`:   {"list=[1,2]", `text=a\b`},
	} {
		if got, err := splitWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("splitWords(%q) = %q, error %v; want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`a="b`, `'`} {
		if got, err := splitWords(line); err == nil {
			t.Errorf("splitWords(%q) = %q without an error, want an error", line, got)
		}
	}
}
