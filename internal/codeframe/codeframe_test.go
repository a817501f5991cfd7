package codeframe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadCodeFrame(t *testing.T) {
	dir := t.TempDir()
	sourceCode := "one\ntwo\n\tthrow new Error('x');\r\nfour\n" + strings.Repeat("long ", 40) + "\nsix\x1b\n"
	if err := os.WriteFile(filepath.Join(dir, "a.ts"), []byte(sourceCode), 0o644); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{
		"a.ts:3:2":   "  1 | one\n  2 | two\n> 3 |   throw new Error('x');\n    |   ^\n  4 | four\n  5 | " + strings.Repeat("long ", 12) + "l...",
		"a.ts:1:1":   "> 1 | one\n    | ^\n  2 | two\n  3 |   throw new Error('x');",
		"a.ts:6:1":   "  4 | four\n  5 | " + strings.Repeat("long ", 12) + "l...\n> 6 | six\\x1b\n    | ^",
		"a.ts:5:151": "  3 |\n  4 |\n> 5 | " + strings.Repeat("long ", 12)[1:] + "lo...\n    | " + strings.Repeat(" ", 54) + "^\n  6 |",
		"a.ts:99:1":  "", "a.ts:0:1": "", "a.ts": "", "b.ts:1:1": "", "../a.ts:1:1": "", "": "",
	} {
		if got := strings.Join(ReadCodeFrame(dir, location), "\n"); got != want {
			t.Errorf("source lines around %s:\n%s\nwant\n%s", location, got, want)
		}
	}
}
