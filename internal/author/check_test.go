package author

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCheckReportsBuildErrors(t *testing.T) {
	dir := createPluginWithEdit(t, "src/index.ts", "tools: [describePage, readTitles]", "tools: [describePage, readTitles")
	result, err := Check(t.Context(), dir, CheckOptions{Build: childOptions})
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors == 0 || result.Findings[0].Rule != "build" || !strings.HasPrefix(result.Findings[0].Where, "src/index.ts:") {
		t.Errorf("got %+v", result)
	}
}

func TestCheckPutsErrorsFirst(t *testing.T) {
	dir := createPluginWithEdit(t, "package.json", `"version": "0.1.0"`, `"version": "1"`)
	writePluginFile(t, dir, "icon.svg", "")
	if err := os.Remove(filepath.Join(dir, "icon.svg")); err != nil {
		t.Fatal(err)
	}
	result, err := Check(t.Context(), dir, CheckOptions{Build: childOptions})
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors != 1 || result.Warnings != 1 || result.Findings[0].Rule != "package-version" || result.Findings[1].Rule != "icon" {
		t.Errorf("got %+v", result)
	}
}

func TestCheckNeedsADirectory(t *testing.T) {
	if _, err := Check(t.Context(), filepath.Join(t.TempDir(), "none"), CheckOptions{Build: childOptions}); err == nil {
		t.Error("a missing directory was checked")
	}
}

// TestTypesAreCheckedByTheAuthorsCompiler replaces Node and the TypeScript compiler with
// shell scripts, so that the test does not need Node.
func TestTypesAreCheckedByTheAuthorsCompiler(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	dir := t.TempDir()
	typesOf := func() *CheckResult {
		t.Helper()
		c := &CheckResult{}
		if err := c.checkTypes(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		return c
	}
	notChecked := func(want string) {
		t.Helper()
		if c := typesOf(); len(c.Findings) > 0 || len(c.NotChecked) != 1 || !strings.Contains(c.NotChecked[0], want) {
			t.Errorf("got %+v, want %q", c, want)
		}
	}
	notChecked("no tsconfig.json")
	writePluginFile(t, dir, "tsconfig.json", "{}")
	notChecked("Node is not installed")
	writePluginFile(t, bin, "node", "#!/bin/sh\nset -e\n. \"$1\"\n")
	if err := os.Chmod(filepath.Join(bin, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	notChecked("TypeScript is not installed")
	compiler := func(script string) { writePluginFile(t, dir, "node_modules/typescript/bin/tsc", script) }
	compiler("exit 0")
	if c := typesOf(); len(c.Findings)+len(c.NotChecked) > 0 {
		t.Errorf("got %+v", c)
	}
	compiler(`echo "src/a.ts(3,7): error TS2322: Type 'x' is not y."
echo "  Because of z."
echo "error TS5023: Unknown compiler option."
exit 2`)
	want := []Finding{
		{"types", levelError, "src/a.ts:3:7", "TS2322: Type 'x' is not y.\nBecause of z."},
		{"types", levelError, "", "error TS5023: Unknown compiler option."},
	}
	if c := typesOf(); !slices.Equal(c.Findings, want) {
		t.Errorf("got %+v; want %v", c.Findings, want)
	}
	compiler(`i=0; while [ $i -lt 60 ]; do echo "src/a.ts($i,1): error TS1: x"; i=$((i+1)); done; exit 2`)
	if c := typesOf(); len(c.Findings) != maxDiagnostics || len(c.NotChecked) != 1 {
		t.Errorf("%d findings, not checked %q", len(c.Findings), c.NotChecked)
	}
}

func TestRulesHaveReasons(t *testing.T) {
	seenNames := map[string]bool{}
	for _, rule := range Rules() {
		if seenNames[rule.ID] || len(rule.Why) < 20 {
			t.Errorf("%+v", rule)
		}
		seenNames[rule.ID] = true
	}
	if !seenNames["build"] || !seenNames["types"] || !seenNames["tool-name"] {
		t.Errorf("rules: %v", seenNames)
	}
}
