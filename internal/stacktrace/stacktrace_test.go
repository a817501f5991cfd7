package stacktrace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var trace = Trace{
	Stack: "TypeError: x\n    at Object.handle (chrome-extension://a/u.js:101:3)\n    at start (chrome-extension://a/u.js:90:1)\n" +
		"    at f (https://page/u.js:101:1)\n    at Generator.next (<anonymous>)\n    at chrome-extension://a/u.js:102:2\n",
	Origin: "Error\n    at chrome-extension://a/u.js:100:20\n    at run (chrome-extension://a/u.js:9:1)",
}

func TestFrames(t *testing.T) {
	dir := t.TempDir()
	adapter := filepath.Join(dir, "adapter.iife.js")
	r := &Resolver{}
	checkFrames := func(stepName string, want ...string) {
		t.Helper()
		if got := r.Frames(adapter, trace); !slices.Equal(got, want) {
			t.Errorf("frames of %s = %q, want %q", stepName, got, want)
		}
	}
	checkFrames("no source map", "handle (adapter.iife.js:1:3)", "adapter.iife.js:2:2")
	sourceMap := `{"version": 3, "sources": ["../src/a.ts"], "mappings": "AAEA;AACA"}`
	if err := os.WriteFile(adapter+".map", []byte(sourceMap), 0o644); err != nil {
		t.Fatal(err)
	}
	checkFrames("a source map", "handle (src/a.ts:3:1)", "src/a.ts:4:1")
	library := strings.Replace(sourceMap, "../src/a.ts", "../node_modules/x/a.ts  ", 1)
	if err := os.WriteFile(adapter+".map", []byte(library), 0o644); err != nil {
		t.Fatal(err)
	}
	checkFrames("a map of a library")
	if err := os.WriteFile(adapter+".map", []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	checkFrames("a broken map", "handle (adapter.iife.js:1:3)", "adapter.iife.js:2:2")
	if got := r.Frames(adapter, Trace{Stack: trace.Stack}); got != nil {
		t.Errorf("frames of a stack trace without an origin = %q, want none", got)
	}
}
