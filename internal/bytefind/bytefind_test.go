package bytefind

import (
	"bytes"
	"testing"
)

func TestNeedle(t *testing.T) {
	for _, haystack := range []string{"", "a", "bc", "abc", "xabc", "abcx", "bcabc", "abbc", "bcbcbc", "aabc", "ababcabc", "ab", "ababab"} {
		for rareByteIndex := range 3 {
			n := Needle{[]byte("abc"), rareByteIndex}
			if got, want := n.Index([]byte(haystack)), bytes.Index([]byte(haystack), n.Text); got != want || n.IsContainedIn([]byte(haystack)) != (want >= 0) {
				t.Errorf("index of %q with the rare byte %d in the text %q = %d, want %d", n.Text, rareByteIndex, haystack, got, want)
			}
		}
	}
}
