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
	result, err := Check(t.Context(), dir, CheckOptions{Build: childBuildOptions})
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors == 0 || result.Findings[0].Rule != "build" || !strings.HasPrefix(result.Findings[0].Location, "src/index.ts:") {
		t.Errorf("Check returned %+v; want an error of the rule build in src/index.ts first", result)
	}
}

func TestCheckPutsErrorsFirst(t *testing.T) {
	dir := createPluginWithEdit(t, "package.json", `"version": "0.1.0"`, `"version": "1"`)
	writePluginFile(t, dir, "icon.svg", "")
	if err := os.Remove(filepath.Join(dir, "icon.svg")); err != nil {
		t.Fatal(err)
	}
	result, err := Check(t.Context(), dir, CheckOptions{Build: childBuildOptions})
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors != 1 || result.Warnings != 1 || result.Findings[0].Rule != "package-version" || result.Findings[1].Rule != "icon" {
		t.Errorf("Check returned %+v; want an error of package-version, then a warning of icon", result)
	}
}

func TestCheckOfMissingDirectory(t *testing.T) {
	if _, err := Check(t.Context(), filepath.Join(t.TempDir(), "none"), CheckOptions{Build: childBuildOptions}); err == nil {
		t.Error("Check accepted a missing directory; want an error")
	}
}

// TestTypesAreCheckedByTheAuthorsCompiler replaces Node and the TypeScript compiler with
// shell scripts, so that the test does not need Node.
func TestTypesAreCheckedByTheAuthorsCompiler(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	dir := t.TempDir()
	runTypeCheck := func() *CheckResult {
		t.Helper()
		c := &CheckResult{}
		if err := c.checkTypes(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		return c
	}
	checkIsSkipped := func(want string) {
		t.Helper()
		if c := runTypeCheck(); len(c.Findings) > 0 || len(c.SkippedChecks) != 1 || !strings.Contains(c.SkippedChecks[0], want) {
			t.Errorf("checkTypes found %+v; want only a skipped check with the reason %q", c, want)
		}
	}
	checkIsSkipped("no tsconfig.json")
	writePluginFile(t, dir, "tsconfig.json", "{}")
	checkIsSkipped("Node is not installed")
	writePluginFile(t, bin, "node", "#!/bin/sh\nset -e\n. \"$1\"\n")
	if err := os.Chmod(filepath.Join(bin, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	checkIsSkipped("TypeScript is not installed")
	compiler := func(script string) { writePluginFile(t, dir, "node_modules/typescript/bin/tsc", script) }
	compiler("exit 0")
	if c := runTypeCheck(); len(c.Findings)+len(c.SkippedChecks) > 0 {
		t.Errorf("checkTypes found %+v after a successful compilation; want nothing", c)
	}
	compiler(`echo "src/a.ts(3,7): error TS2322: Type 'x' is not y."
echo "  Because of z."
echo "error TS5023: Unknown compiler option."
exit 2`)
	want := []Finding{
		{"types", levelError, "src/a.ts:3:7", "TS2322: Type 'x' is not y.\nBecause of z."},
		{"types", levelError, "", "error TS5023: Unknown compiler option."},
	}
	if c := runTypeCheck(); !slices.Equal(c.Findings, want) {
		t.Errorf("findings of checkTypes = %+v; want %v", c.Findings, want)
	}
	compiler(`i=0; while [ $i -lt 60 ]; do echo "src/a.ts($i,1): error TS1: x"; i=$((i+1)); done; exit 2`)
	if c := runTypeCheck(); len(c.Findings) != maxDiagnostics || len(c.SkippedChecks) != 1 {
		t.Errorf("got %d findings and the skipped checks %q; want %d findings and 1 skipped check", len(c.Findings), c.SkippedChecks, maxDiagnostics)
	}
}

func TestRulesHaveExplanations(t *testing.T) {
	seenNames := map[string]bool{}
	for _, rule := range Rules() {
		if seenNames[rule.ID] || len(rule.Why) < 20 {
			t.Errorf("the linter rule %+v has a duplicate ID or no reason; want a unique ID and a reason of at least 20 bytes", rule)
		}
		seenNames[rule.ID] = true
	}
	if !seenNames["build"] || !seenNames["types"] || !seenNames["tool-name"] {
		t.Errorf("the linter has the rules %v; want build, types and tool-name among them", seenNames)
	}
}
