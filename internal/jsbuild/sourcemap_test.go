package jsbuild

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

func TestDecodeVLQ(t *testing.T) {
	for segment, want := range map[string]string{
		"": "[]", "A": "[0]", "C": "[1]", "D": "[-1]", "gB": "[16]", "hB": "[-16]", "AAAA": "[0 0 0 0]", "qtCAo4B": "[1237 0 900]", "A!": "[]",
	} {
		if got := fmt.Sprint(decodeVLQ(segment)); got != want {
			t.Errorf("%q: %s, want %s", segment, got, want)
		}
	}
}

// TestPlaceOfStack checks that the location of an error in a bundle maps to its source.
func TestPlaceOfStack(t *testing.T) {
	source := "const filler = 1;\n\nexport function first() {\n  throw new Error('one');\n}\nexport function second() { filler; throw new Error('two'); }\nfirst(); second();\n"
	dir := writeFiles(t, map[string]string{"src/a.ts": source})
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"src/a.ts"}, AbsWorkingDir: dir, Outfile: "dist/" + bundleFileName, Bundle: true,
		Format: api.FormatIIFE, Sourcemap: api.SourceMapExternal, LogLevel: api.LogLevelSilent,
	})
	if len(r.OutputFiles) != 2 {
		t.Fatal(r.Errors)
	}
	b := bundledScript{SourceMap: r.OutputFiles[0].Contents, Code: r.OutputFiles[1].Contents}
	for word, want := range map[string]string{`new Error("one")`: "src/a.ts:4:9", `new Error("two")`: "src/a.ts:6:42"} {
		codeBefore, _, ok := strings.Cut(string(b.Code), word)
		if !ok {
			t.Fatalf("no %s in\n%s", word, b.Code)
		}
		line, column := strings.Count(codeBefore, "\n")+1, len(codeBefore)-strings.LastIndexByte(codeBefore, '\n')
		stack := fmt.Sprintf("    at f (native)\n    at <anonymous> (<eval>:%d:%d)\n    at <eval> (<eval>:1:1)\n", line, column)
		if got := b.sourceLocation(stack); got != want {
			t.Errorf("%s: %q, want %s", word, got, want)
		}
	}
	for _, stack := range []string{"", "    at f (native)", "    at <eval> (<eval>:9999:1)"} {
		if got := b.sourceLocation(stack); got != "" {
			t.Errorf("%q: %s; want %q", stack, got, "")
		}
	}
}
