package layout

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The linter biome and the compiler tsc enforce detailed rules for TypeScript, such as no casts and no default exports.

// allowedTSImports lists the workspaces and npm packages that the code of each TypeScript
// workspace may import. Test files are also allowed to import the packages in
// testOnlyPackages.
var allowedTSImports = map[string][]string{
	"wire":      {},
	"extension": {"wire", "preact", "dom-accessibility-api", "sdk-ts/src/runtime/primordials.ts", "sdk-ts/src/runtime/hints.ts"},
	"sdk-ts":    {"zod", "@opentabs/sdk", "@opentabs-dev/plugin-sdk"}, // tsconfig.json maps the name of the original OpenTabs SDK to sdk-ts
	"e2e":       {"wire", "sdk-ts", "node:", "playwright-core", "@modelcontextprotocol/sdk", "ws", "@opentabs/sdk", "zod"},
}

var testOnlyPackages = []string{"node:", "extension", "wire", "typescript", "esbuild", "zod"}

// lintExceptions are the TypeScript files that may suppress a lint rule on a line, each with
// a reason.
var lintExceptions = map[string]string{}

// chromeFilePattern matches the TypeScript files that may use Chrome's extension API.
var chromeFilePattern = regexp.MustCompile(`^extension/src/chrome(-[a-z-]+)?\.ts$`)

type tsFile struct {
	name, sourceCode string
	test             bool
}

func (f tsFile) workspace() string {
	firstDir, _, _ := strings.Cut(f.name, "/")
	return firstDir
}

func tsFiles(t *testing.T) []tsFile {
	t.Helper()
	var files []tsFile
	err := walkFiles(func(name string) error {
		if ext := path.Ext(name); ext != ".ts" && ext != ".tsx" || strings.HasSuffix(name, ".gen.ts") {
			return nil
		}
		sourceCode, err := os.ReadFile(name)
		files = append(files, tsFile{name, string(sourceCode), isTSTest(name)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no TypeScript files, want at least one")
	}
	return files
}

func isTSTest(name string) bool {
	return strings.HasSuffix(name, ".test.ts") || strings.HasSuffix(name, ".test.tsx") || strings.Contains(name, "/test/")
}

var tsRules = map[string]func(tsFile) []string{
	"size": func(f tsFile) []string {
		if n := strings.Count(f.sourceCode, "\n"); !f.test && n > maxFileLines && allowedSizeExceptions[f.name] == "" {
			return []string{fmt.Sprintf("%s: %d lines, limit %d; split it by concept", f.name, n, maxFileLines)}
		}
		return nil
	},
	"name":    func(f tsFile) []string { return checkFileName(f.name) },
	"imports": checkTSImports,
	"late":    checkBuiltInLookups,
	"chrome":  checkChromeUse,
	"forward": checkUseBeforeDeclaration,
	"restate": checkImplementsClauses,
	"sleep":   checkTSSleep,
	"debt": func(f tsFile) []string {
		return f.eachLine(func(line string) string {
			if todoPattern.MatchString(line) && !trackedTodoPattern.MatchString(line) {
				return "a TODO needs a date or an issue: TODO(2026-01-31) or TODO(#12)"
			}
			return ""
		})
	},
	"ignore": func(f tsFile) []string {
		return f.eachLine(func(line string) string {
			switch {
			case regexp.MustCompile(`@ts-(ignore|nocheck)`).MatchString(line):
				return "do not switch off the compiler; narrow the value"
			case strings.Contains(line, "@ts-expect-error") && !f.test:
				return "@ts-expect-error is for tests of types only"
			case strings.Contains(line, "biome-ignore") && lintExceptions[f.name] == "":
				return "do not switch off lint rules; an exception needs an entry in lintExceptions (internal/layout/typescript_test.go)"
			}
			return ""
		})
	},
	"skip": func(f tsFile) []string {
		if !f.test {
			return nil
		}
		return f.eachLine(func(line string) string {
			if regexp.MustCompile(`\b(test|it|describe|suite)\.(skip|todo|only)\b|\bonly:\s*true\b|\b(skip|todo):\s*(true|'|")`).MatchString(line) {
				return "tests are never skipped and none runs alone; make it run or remove it"
			}
			return ""
		})
	},
}

func (f tsFile) eachLine(checkLine func(line string) string) []string {
	var violations []string
	n := 0
	for line := range strings.Lines(f.sourceCode) {
		n++
		if violation := checkLine(line); violation != "" {
			violations = append(violations, fmt.Sprintf("%s:%d: %s", f.name, n, violation))
		}
	}
	return violations
}

func TestTypeScriptConventions(t *testing.T) {
	changeToRepositoryRoot(t)
	files := tsFiles(t)
	for name, rule := range tsRules {
		t.Run(name, func(t *testing.T) {
			for _, f := range files {
				report(t, rule(f))
			}
		})
	}
}

var importFrom = regexp.MustCompile(`(?m)(?:^|[;}\s])(?:from|import)\s*\(?\s*['"]([^'"\n]+)['"]`)

func checkTSImports(f tsFile) []string {
	workspace := f.workspace()
	allowedImports, ok := allowedTSImports[workspace]
	if !ok {
		return []string{fmt.Sprintf("%s: %s is not in tsMayImport (internal/layout/typescript_test.go)", f.name, workspace)}
	}
	if f.test {
		allowedImports = slices.Concat(allowedImports, testOnlyPackages)
	}
	var violations []string
	for _, m := range importFrom.FindAllStringSubmatch(stripComments(f.sourceCode), -1) {
		importPath := m[1]
		if strings.HasPrefix(importPath, ".") {
			target := path.Join(path.Dir(f.name), importPath)
			if path.Ext(target) == "" {
				violations = append(violations, fmt.Sprintf("%s: import %q with its extension, so that every bundler finds it", f.name, importPath))
			}
			importPath, _, _ = strings.Cut(target, "/")
			if importPath == workspace || slices.Contains(allowedImports, target) {
				continue
			}
		}
		if !slices.ContainsFunc(allowedImports, func(a string) bool {
			return importPath == a || strings.HasPrefix(importPath, a+"/") || strings.HasSuffix(a, ":") && strings.HasPrefix(importPath, a)
		}) {
			violations = append(violations, fmt.Sprintf("%s: %s may not import %q", f.name, workspace, m[1]))
		}
	}
	return violations
}

// chromeUse matches uses of Chrome's extension API, such as chrome.tabs.query,
// chrome['tabs'] and "= chrome;". chromeUse does not match a call such as
// chrome.register(), because the extension also has its own variables called chrome.
var chromeUse = regexp.MustCompile(`\bchrome\s*(\[|\??\.\s*\w+\s*(\??\.\s*\w|[;,)\]]))|=\s*chrome\s*;|\btypeof\s+chrome\b`)

func checkChromeUse(f tsFile) []string {
	if f.workspace() != "extension" || f.test || chromeFilePattern.MatchString(f.name) {
		return nil
	}
	if m := chromeUse.FindString(stripStrings(stripComments(f.sourceCode))); m != "" {
		return []string{fmt.Sprintf("%s: only files extension/src/chrome*.ts may use chrome's API (%q)", f.name, m)}
	}
	return nil
}

// compositionRoots are the TypeScript files that create and connect the objects of the
// extension's service worker and bridge.
var compositionRoots = []string{"extension/src/worker/worker.ts", "extension/src/bridge/bridge.ts"}

var topLevelConst = regexp.MustCompile(`(?m)^const (\w+)\b`)

// checkUseBeforeDeclaration reports constants in compositionRoots that are used before
// their declaration, even in closures.
func checkUseBeforeDeclaration(f tsFile) []string {
	if !slices.Contains(compositionRoots, f.name) {
		return nil
	}
	var violations []string
	sourceCode := stripStrings(stripComments(f.sourceCode))
	for _, m := range topLevelConst.FindAllStringSubmatchIndex(sourceCode, -1) {
		name := sourceCode[m[2]:m[3]]
		// nameUsePattern ignores properties with the name of a constant, such as link.docs for a constant docs.
		nameUsePattern := regexp.MustCompile(`(?m)(?:^|[^.\w])` + name + `\b(?:[^:?\w]|$)`)
		if nameUsePattern.MatchString(sourceCode[:m[0]]) {
			violations = append(violations, fmt.Sprintf("%s: %s is used before its declaration; build it earlier, or report by a Signal", f.name, name))
		}
	}
	return violations
}

var implementsPattern = regexp.MustCompile(`\bclass (\w+)[^{]*\bimplements (\w+)`)

// checkImplementsClauses reports TypeScript classes that implement an interface, because
// every method is then declared twice.
func checkImplementsClauses(f tsFile) []string {
	if f.workspace() != "extension" || f.test {
		return nil
	}
	if m := implementsPattern.FindStringSubmatch(stripComments(f.sourceCode)); m != nil {
		return []string{fmt.Sprintf("%s: %s restates the methods of %s; export the class, and let its users take a Pick<> of it", f.name, m[2], m[1])}
	}
	return nil
}

var (
	commentPattern = regexp.MustCompile(`(?s)/\*.*?\*/|(?m:^|[\s;{}(),])//[^\n]*`)
	quotedPattern  = regexp.MustCompile(`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`)
)

// stripComments and stripStrings use regular expressions, which are reliable only for
// code that biome has formatted.
func stripComments(sourceCode string) string {
	return commentPattern.ReplaceAllString(sourceCode, "\n")
}

func stripStrings(sourceCode string) string {
	return quotedPattern.ReplaceAllString(sourceCode, `''`)
}

func TestTypeScriptRulesReportViolations(t *testing.T) {
	changeToRepositoryRoot(t)
	for _, c := range []struct{ rule, name, sourceCode, want string }{
		{"size", "wire/a.ts", strings.Repeat("//\n", maxFileLines+1), "501 lines"},
		{"name", "extension/src/utils.ts", "", "by the concept"},
		{"imports", "wire/a.ts", "import { x } from '../extension/src/x.ts';", "wire may not import"},
		{"imports", "extension/src/a.ts", "import {\n  x,\n} from '../../sdk-ts/src/x.ts';", "extension may not import"},
		{"imports", "extension/src/a.ts", "import 'lodash';", "may not import \"lodash\""},
		{"imports", "extension/src/a.ts", "export { x } from 'node:fs';", "may not import \"node:fs\""},
		{"imports", "extension/src/a.ts", "const x = await import('ws');", "may not import \"ws\""},
		{"imports", "extension/src/a.ts", "import { x } from './b';", "with its extension"},
		{"imports", "other/a.ts", "", "not in tsMayImport"},
		{"chrome", "extension/src/a.ts", "const x = /* */ chrome.runtime;", "may use chrome's API"},
		{"chrome", "extension/src/a.ts", "await chrome.tabs.query({});", "may use chrome's API"},
		{"chrome", "extension/src/a.ts", "const { tabs } = chrome;", "may use chrome's API"},
		{"chrome", "extension/src/a.ts", "globalThis.chrome['tabs']", "may use chrome's API"},
		{"late", "extension/src/host/a.ts", "const x = list.map(f);", "primordials.ts"},
		{"late", "extension/src/host/a.ts", "const x = await y;", "primordials.ts"},
		{"late", "sdk-ts/src/config.ts", "for (const x of list) f(x);", "primordials.ts"},
		{"late", "sdk-ts/src/config.ts", "f([...list]);", "primordials.ts"},
		{"forward", compositionRoots[0], "const a = makeA({ b: () => b.size });\nconst b = makeB();", "b is used before"},
		{"forward", compositionRoots[0], "const a = makeA({ b });\nconst b = makeB();", "b is used before"},
		{"restate", "extension/src/a.ts", "class A extends B implements C {", "C restates the methods of A"},
		{"debt", "wire/a.ts", "// FIXME later", "date or an issue"},
		{"ignore", "wire/a.ts", "// @ts-ignore", "do not switch off"},
		{"ignore", "wire/a.ts", "// @ts-expect-error x", "tests of types"},
		{"ignore", "wire/a.ts", "// biome-ignore lint: x", "lintExceptions"},
		{"sleep", "wire/a.test.ts", "await new Promise((resolve) => setTimeout(resolve, 50));", "fixed time"},
		{"sleep", "sdk-ts/src/a.test.ts", "await pause(50);", "fixed time"},
		{"skip", "wire/a.test.ts", "test.skip('x', () => {});", "skipped"},
		{"skip", "wire/a.test.ts", "test('x', { only: true }, () => {});", "alone"},
	} {
		if got := strings.Join(tsRules[c.rule](tsFile{c.name, c.sourceCode, isTSTest(c.name)}), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("violations of the rule %s = %q, want %q, for\n%s", c.rule, got, c.want, c.sourceCode)
		}
	}
	allowedFiles := []tsFile{
		{compositionRoots[0], "// b is in a comment\nconst a = makeA({ b: x.b, c: 'b' });\nconst b = makeB(a);", false},
		{"extension/src/a.ts", "function f(chrome: Registrar) {\n  return chrome.register(x);\n}", false},
		{"extension/src/a.ts", "// chrome.tabs is in a comment\nconst x = 'chrome.tabs'; import y from '../../wire/frame.ts';", false},
		{"extension/src/a.test.ts", "import test from 'node:test';", true},
		{"e2e/a.test.ts", "await pause(50);", true},
		{"wire/a.test.ts", "t.mock.timers.enable({});\nawait new Promise((resolve) => setTimeout(resolve, 50));", true},
		{"e2e/a.test.ts", "import { chromium } from 'playwright-core';", true},
	}
	for _, f := range allowedFiles {
		for name, rule := range tsRules {
			report(t, rule(f))
			_ = name
		}
	}
}

func TestRequiredLintRulesAreEnabled(t *testing.T) {
	changeToRepositoryRoot(t)
	var biomeConfig struct {
		Plugins []string
		Linter  struct{ Rules map[string]any }
	}
	readJSONFile(t, "biome.json", &biomeConfig)
	if !slices.Contains(biomeConfig.Plugins, "./.ci/biome/no-cast.grit") {
		t.Error("biome.json must use .ci/biome/no-cast.grit, which reports casts")
	}
	for _, rule := range []string{"suspicious.noExplicitAny", "style.noNonNullAssertion", "style.noDefaultExport", "performance.noReExportAll"} {
		group, name, _ := strings.Cut(rule, ".")
		if rules, ok := biomeConfig.Linter.Rules[group].(map[string]any); !ok || rules[name] != "error" {
			t.Errorf("biome.json: rule %s must be an error", rule)
		}
	}
	sizeLimits, _ := biomeConfig.Linter.Rules["complexity"].(map[string]any)
	want := map[string]any{"level": "error", "options": map[string]any{"maxLines": float64(maxFuncLines)}}
	if !reflect.DeepEqual(sizeLimits["noExcessiveLinesPerFunction"], want) {
		t.Errorf("biome.json: complexity.noExcessiveLinesPerFunction must limit functions to %d lines", maxFuncLines)
	}
	var tsconfig struct{ CompilerOptions map[string]any }
	readJSONFile(t, "tsconfig.json", &tsconfig)
	for _, option := range []string{"strict", "noUncheckedIndexedAccess", "exactOptionalPropertyTypes", "verbatimModuleSyntax", "isolatedModules", "erasableSyntaxOnly"} {
		if tsconfig.CompilerOptions[option] != true {
			t.Errorf("tsconfig.json: %s must be true", option)
		}
	}
}

func readJSONFile(t *testing.T, name string, v any) {
	t.Helper()
	fileContent, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(fileContent, v); err != nil {
		t.Fatalf("the file %s is not valid JSON: %v", name, err)
	}
}

// runtimePackages are the npm packages that the SDK and the extension use at run time, at
// most one each.
var runtimePackages = map[string][]string{
	"package.json":           nil,
	"wire/package.json":      nil,
	"sdk-ts/package.json":    {"zod"},
	"extension/package.json": {"preact"},
	"e2e/package.json":       nil,
}

func TestRuntimeDependencies(t *testing.T) {
	changeToRepositoryRoot(t)
	for file, want := range runtimePackages {
		var p struct{ Dependencies, DevDependencies map[string]string }
		readJSONFile(t, file, &p)
		var got []string
		for name := range p.Dependencies {
			got = append(got, name)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has the dependencies %v, want %v; a tool belongs in devDependencies", file, got, want)
		}
		for _, group := range []map[string]string{p.Dependencies, p.DevDependencies} {
			for name, version := range group {
				if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
					t.Errorf("%s: %s is %q; pin one version", file, name, version)
				}
			}
		}
	}
}

// TestE2EFoldersAreSmall limits the number and length of end-to-end tests, because unit
// tests cover the details.
func TestE2EFoldersAreSmall(t *testing.T) {
	changeToRepositoryRoot(t)
	const maxFiles, maxLines = 36, 200
	files, err := filepath.Glob("e2e/*.test.ts")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 || len(files) > maxFiles {
		t.Errorf("the folder e2e has %d test files, want 1 to %d", len(files), maxFiles)
	}
	for _, file := range files {
		fileContent, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(fileContent), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, limit %d", file, n, maxLines)
		}
	}
}
