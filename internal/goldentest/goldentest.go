// Package goldentest compares the output of a test with a file in testdata. To write the
// current output to the files in testdata, run go test with the flag -update.
package goldentest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files in testdata with the current output")

// Compare fails the test if got, the output under test, differs from the content of file.
// If the flag -update is set, Compare writes got to the file and does not fail the test.
func Compare(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with: go test -run '%s' -update", err, t.Name())
	}
	if difference := firstDifference(string(got), string(want)); difference != "" {
		t.Errorf("%s: %s\nIf the new output is right, run: go test -run '%s' -update", file, difference, t.Name())
	}
}

func firstDifference(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, lineAt(g, i), lineAt(w, i))
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
