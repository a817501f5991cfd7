package bytefind

import (
	"bytes"
	"testing"
)

func TestNeedle(t *testing.T) {
	for _, text := range []string{"", "a", "bc", "abc", "xabc", "abcx", "bcabc", "abbc", "bcbcbc", "aabc", "ababcabc", "ab", "ababab"} {
		for rare := range 3 {
			n := Needle{[]byte("abc"), rare}
			if got, want := n.Index([]byte(text)), bytes.Index([]byte(text), n.Text); got != want || n.IsIn([]byte(text)) != (want >= 0) {
				t.Errorf("%q from letter %d is in %q at %d, want %d", n.Text, rare, text, got, want)
			}
		}
	}
}
