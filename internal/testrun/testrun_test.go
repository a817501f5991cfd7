package testrun

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
	"opentabs/internal/usererr"
)

var endedTestEvents = []jsbuild.TestEvent{
	{Op: "end", Test: "quick"}, {Op: "end", Test: "long", VirtualMs: 90_000},
	{Op: "end", Test: "bad\x1b[2J", Error: "one\ntwo\x1b", Location: "src/a.test.ts:1:2"},
	{Op: "skipped", Test: "later", Error: "needs a simulated page"}, {Error: "does not build"},
}

func TestPrintTestResults(t *testing.T) {
	for _, c := range []struct {
		json bool
		want string
	}{
		{false, `  ok    quick
  ok    long (1 min 30 s in the page)
  FAIL  bad\x1b[2J
        one
        two\x1b
        at src/a.test.ts:1:2
  skip  later (needs a simulated page)
  FAIL  the file
        does not build
`},
		{true, `{"file":"f","test":"quick","ok":true,"virtual_ms":0}
{"file":"f","test":"long","ok":true,"virtual_ms":90000}
{"file":"f","test":"bad\u001b[2J","ok":false,"error":"one\ntwo\u001b","where":"src/a.test.ts:1:2","virtual_ms":0}
{"file":"f","test":"later","ok":false,"skipped":true,"error":"needs a simulated page","virtual_ms":0}
{"file":"f","ok":false,"error":"does not build","virtual_ms":0}
`},
	} {
		var b bytes.Buffer
		p := printer{terminalOut: terminal.New(&b, &b, func(string) string { return "" }), json: c.json}
		for _, n := range endedTestEvents {
			p.print("f", n)
		}
		if got := b.String(); got != c.want || p.err != nil {
			t.Errorf("output with JSON = %t: error %v, text\n%s\nwant\n%s", c.json, p.err, got, c.want)
		}
		if got := p.counts.String(); got != "2 passed, 2 failed, 1 skipped" {
			t.Errorf("counts of the tests = %s; want %q", got, "2 passed, 2 failed, 1 skipped")
		}
	}
}

func TestFailureErrorOfTestCounts(t *testing.T) {
	for want, c := range map[string]struct {
		counts testCounts
		filter string
	}{
		"1 passed, 2 failed":                                      {testCounts{PassedCount: 1, Failed: 2}, ""},
		"no test can run in a real browser":                       {testCounts{SkippedCount: 1}, "x"},
		`no test has a name that matches "x": leave --filter out`: {testCounts{}, "x"},
		"there are no tests: write one in src/index.test.ts":      {testCounts{}, ""},
	} {
		if err := c.counts.failureError(c.filter); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("failureError returned %v, want an error that begins with %s", err, want)
		}
	}
	if err := (testCounts{PassedCount: 1, SkippedCount: 1}).failureError(""); err != nil {
		t.Error(err)
	}
}

func TestRunWithoutTests(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	terminalOut := terminal.New(&b, &b, func(string) string { return "" })
	for _, o := range []Options{{Dir: dir, Filter: "(", Timeout: time.Minute}, {Dir: dir}} {
		var userErr *usererr.Error
		if err := Run(t.Context(), o, terminalOut); !errors.As(err, &userErr) {
			t.Errorf("Run with the options %+v returned %v, want a user error", o, err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "test"), 0o700), os.WriteFile(filepath.Join(dir, "test", "a.test.ts"), []byte("import test from 'node:test'\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, invalidDir := range []string{filepath.Join(dir, "missing"), t.TempDir()} {
		err := Run(t.Context(), Options{Dir: invalidDir, Timeout: time.Minute}, terminalOut)
		if err == nil || err.Error() != "there is no plugin in "+invalidDir+": name the folder that contains the plugin's package.json" {
			t.Errorf("Run in the folder %s returned %v, want that it contains no plugin", invalidDir, err)
		}
	}
	err := Run(t.Context(), Options{Dir: dir, Timeout: time.Minute, JSON: true, Browser: true}, terminalOut)
	if err == nil || !strings.Contains(err.Error(), "there are no tests") || b.String() != "opentabs: test/a.test.ts imports node:test: run it with node --test\n{\"passed\":0,\"failed\":0}\n" {
		t.Errorf("Run without tests returned %v and printed %s; want an error and zero counts", err, b.String())
	}
}
