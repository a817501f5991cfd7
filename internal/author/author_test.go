package author

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"opentabs/internal/jsbuild"
)

// TestMain lets the test binary be the child that reads a plugin's tools.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "__extract" {
		os.Exit(jsbuild.Extract(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// patient is how long a plugin may take to be read: the engine under the race
// detector, on a busy machine.
const patient = 10 * time.Minute

// inChild makes this test binary the child. Without the variable a program built
// with -race sleeps for a second at its end, and the child has no environment.
var inChild = func() jsbuild.Options {
	if runtime.GOOS == "windows" {
		return jsbuild.Options{Extract: []string{os.Args[0], "__extract"}, ExtractTimeout: patient}
	}
	return jsbuild.Options{Extract: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "__extract"}, ExtractTimeout: patient}
}()

// created makes the plugin tickets.
func created(t testing.TB) string {
	t.Helper()
	made, err := Create(CreateOptions{Name: "tickets", Dir: t.TempDir(), Domain: "tickets.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return made.Dir
}

// replaced makes the plugin tickets with one text of a file replaced.
func replaced(t testing.TB, file, old, fresh string) string {
	t.Helper()
	dir := created(t)
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s does not hold %q once", file, old)
	}
	put(t, dir, file, strings.Replace(string(text), old, fresh, 1))
	return dir
}

// read returns a file of a plugin.
func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
