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

// TestMain makes the test binary usable as the child process that reads a plugin's tools.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "__extract" {
		os.Exit(jsbuild.Extract(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// extractTimeout is long enough for the race detector on a busy machine.
const extractTimeout = 10 * time.Minute

// Without GORACE=atexit_sleep_ms=0, a program built with -race sleeps for a second before it exits.
var childBuildOptions = func() jsbuild.Options {
	if runtime.GOOS == "windows" {
		return jsbuild.Options{Extract: []string{os.Args[0], "__extract"}, ExtractTimeout: extractTimeout}
	}
	return jsbuild.Options{Extract: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "__extract"}, ExtractTimeout: extractTimeout}
}()

func createPlugin(t testing.TB) string {
	t.Helper()
	result, err := Create(CreateOptions{Name: "tickets", Dir: t.TempDir(), Domain: "tickets.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return result.Dir
}

func createPluginWithEdit(t testing.TB, file, oldText, replacement string) string {
	t.Helper()
	dir := createPlugin(t)
	fileContent, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(fileContent), oldText) != 1 {
		t.Fatalf("%s contains %q %d times; want exactly once", file, oldText, strings.Count(string(fileContent), oldText))
	}
	writePluginFile(t, dir, file, strings.Replace(string(fileContent), oldText, replacement, 1))
	return dir
}

func readPluginFile(t testing.TB, dir, name string) string {
	t.Helper()
	fileContent, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(fileContent)
}
