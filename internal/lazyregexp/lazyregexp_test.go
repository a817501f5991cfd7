package lazyregexp

import "testing"

func TestNew(t *testing.T) {
	digits := New(`^[0-9]+$`)
	if !digits().MatchString("42") || digits().MatchString("4x2") {
		t.Error("the pattern does not match digits alone")
	}
	if firstCompiled := digits(); firstCompiled != digits() {
		t.Error("the pattern was compiled twice")
	}
}

func TestInvalidPatternPanicsInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted an invalid pattern")
		}
	}()
	New(`(`)
}
