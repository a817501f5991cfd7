package jsbuild

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evanw/esbuild/pkg/api"
)

type mountedDirs map[string]fstest.MapFS

func (m mountedDirs) mountFiles() map[string]fs.FS {
	roots := map[string]fs.FS{}
	for name, filesystem := range m {
		roots[name] = filesystem
	}
	return roots
}

func bundleTest(t *testing.T, s sourceSet, entry string) (string, []string) {
	t.Helper()
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{entry},
		Bundle:      true,
		Format:      api.FormatESModule,
		Plugins:     []api.Plugin{s.Plugin()},
		LogLevel:    api.LogLevelSilent,
		Outfile:     "out.js",
	})
	var problems []string
	for _, m := range append(r.Errors, r.Warnings...) {
		problems = append(problems, m.Text)
	}
	if len(r.OutputFiles) == 0 {
		return "", problems
	}
	return string(r.OutputFiles[0].Contents), problems
}

func TestBundleEmbeddedFiles(t *testing.T) {
	s := sourceSet{
		Roots: mountedDirs{
			"app": {
				"src/main.ts":   {Data: []byte(`import { a } from './a.ts'; import { b } from '../../lib/b'; import { c } from 'pkg'; import { d } from 'pkg/deep/d.js'; import { e } from './e.js'; console.log(a, b, c, d, e);`)},
				"src/a.ts":      {Data: []byte(`export const a: string = 'from-a';`)},
				"src/e.ts":      {Data: []byte(`export const e: string = 'from-e';`)},
				"src/bad.ts":    {Data: []byte(`import x from 'unknown'; console.log(x);`)},
				"src/badrel.ts": {Data: []byte(`import './nothing'; `)},
			},
			"lib": {"b/index.ts": {Data: []byte(`export const b = 'from-b';`)}},
			"pkg": {"main.mjs": {Data: []byte(`export const c = 'from-c';`)}, "deep/d.js": {Data: []byte(`export const d = 'from-d';`)}},
		}.mountFiles(),
		Alias: map[string]string{"pkg": "pkg/main.mjs", "pkg/": "pkg/"},
	}
	bundleText, problems := bundleTest(t, s, "app/src/main.ts")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, want := range []string{"from-a", "from-b", "from-c", "from-d", "from-e"} {
		if !strings.Contains(bundleText, want) {
			t.Errorf("the bundle lacks %q:\n%s", want, bundleText)
		}
	}
	for entry, want := range map[string]string{
		"app/src/bad.ts":    `"unknown" is not among the embedded sources`,
		"app/src/badrel.ts": `"./nothing" is not among the embedded sources`,
	} {
		if _, problems := bundleTest(t, s, entry); len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("problems of the entry %s = %q, want %q", entry, problems, want)
		}
	}
}

func TestImportsWithoutAliasAreReadFromDisk(t *testing.T) {
	s := sourceSet{Roots: mountedDirs{"pkg": {"main.js": {Data: []byte(`export const c = 'from-c';`)}}}.mountFiles(), Alias: map[string]string{"pkg": "pkg/main.js"}}
	r := api.Build(api.BuildOptions{
		Stdin:    &api.StdinOptions{Contents: `import { c } from 'pkg'; import './not-here.js'; console.log(c)`, ResolveDir: t.TempDir()},
		Bundle:   true,
		Plugins:  []api.Plugin{s.Plugin()},
		LogLevel: api.LogLevelSilent,
	})
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Text, `Could not resolve "./not-here.js"`) {
		t.Fatalf("errors of the bundle = %v, want only esbuild's error about ./not-here.js", r.Errors)
	}
}

func TestReadSourceAcceptsByteOrderMark(t *testing.T) {
	dir := buildFreshExample(t)
	file := filepath.Join(dir, packageFile)
	fileContent, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("\ufeff"), fileContent...), 0o600); err != nil {
		t.Fatal(err)
	}
	pluginSource, problems, err := readSource(dir)
	if err != nil || len(problems) > 0 || pluginSource.ID.Name != "messages" {
		t.Errorf("readSource = %+v, problems %v, error %v; want the plugin messages and no problems", pluginSource.ID, problems, err)
	}
}
