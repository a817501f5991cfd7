package bytefind

import (
	"bytes"
	"testing"
)

func TestNeedle(t *testing.T) {
	for _, haystack := range []string{"", "a", "bc", "abc", "xabc", "abcx", "bcabc", "abbc", "bcbcbc", "aabc", "ababcabc", "ab", "ababab"} {
		for rare := range 3 {
			n := Needle{[]byte("abc"), rare}
			if got, want := n.Index([]byte(haystack)), bytes.Index([]byte(haystack), n.Text); got != want || n.IsIn([]byte(haystack)) != (want >= 0) {
				t.Errorf("%q from letter %d is in %q at %d, want %d", n.Text, rare, haystack, got, want)
			}
		}
	}
}
