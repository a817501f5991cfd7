package inbound

import "testing"

func TestTruncateKeepsCharacters(t *testing.T) {
	for _, tt := range []struct {
		input string
		n     int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"é", 1, ""}, {"", 0, ""}} {
		if got := Truncate(tt.input, tt.n); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.input, tt.n, got, tt.want)
		}
	}
}
