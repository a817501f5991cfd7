package goldentest

import "testing"

func TestFirstDifference(t *testing.T) {
	for _, c := range []struct{ got, want, wantDifference string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\n", "a\nc\n", "line 2\n got b\nwant c"},
		{"a", "a\nb", "line 2\n got (the end)\nwant b"},
		{"a\nb", "a", "line 2\n got b\nwant (the end)"},
	} {
		if got := firstDifference(c.got, c.want); got != c.wantDifference {
			t.Errorf("firstDifference(%q, %q) = %q, want %q", c.got, c.want, got, c.wantDifference)
		}
	}
}
