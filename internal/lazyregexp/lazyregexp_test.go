package lazyregexp

import "testing"

func TestNewCompilesOnce(t *testing.T) {
	digits := New(`^[0-9]+$`)
	if !digits().MatchString("42") || digits().MatchString("4x2") {
		t.Error("the pattern matches a text other than digits, or does not match digits; want it to match only digits")
	}
	if firstCompiled := digits(); firstCompiled != digits() {
		t.Error("two calls returned different expressions, want the pattern compiled once")
	}
}

func TestInvalidPatternPanicsInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New did not panic on an invalid pattern, want a panic in tests")
		}
	}()
	New(`(`)
}
