package wsbridge

import "testing"

func TestClean(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"a\x00b\x1b[31mc\x7fd\u0085e", 20, "ab[31mcde"},
		{"a\n\tb\r", 9, "a\n\tb"},
		{"a\u202eb\u2066c\u200f", 9, "abc"},
		{"a\xffb", 9, "a\ufffdb"},
		{"\x00\x00\x00abc", 3, "abc"},
	}
	for _, tt := range tests {
		if got := clean(tt.in, tt.n); got != tt.want {
			t.Errorf("clean(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"é", 1, ""}, {"", 0, ""}} {
		if got := cut(tt.in, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}
