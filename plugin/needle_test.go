package plugin

import (
	"bytes"
	"testing"
)

func TestNeedle(t *testing.T) {
	for _, in := range []string{"", "a", "bc", "abc", "xabc", "abcx", "bcabc", "abbc", "bcbcbc", "aabc", "ababcabc", "ab", "ababab"} {
		for rare := range 3 {
			n := needle{[]byte("abc"), rare}
			if got, want := n.index([]byte(in)), bytes.Index([]byte(in), n.text); got != want || n.isIn([]byte(in)) != (want >= 0) {
				t.Errorf("%q from letter %d is in %q at %d, want %d", n.text, rare, in, got, want)
			}
		}
	}
	for n, letter := range map[*needle]byte{&hashMarker: 'T', &defaultKey: 'f', &requiredKey: 'q', &refKey: '$'} {
		if n.text[n.rare] != letter {
			t.Errorf("%q is looked for by its %c, want %c", n.text, n.text[n.rare], letter)
		}
	}
}
