package jsbuild

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secretText = "S3CRET-of-the-user"

type boundaryFixture struct {
	dir, outsideDir string
}

func newBoundaryFixture(t *testing.T, index string) boundaryFixture {
	t.Helper()
	baseDir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := boundaryFixture{dir: filepath.Join(baseDir, "plugin"), outsideDir: filepath.Join(baseDir, "outside")}
	for name, fileContent := range map[string]string{
		"outside/s.json": `{"s":"` + secretText + `"}`,
		"outside/s.txt":  secretText,
		"outside/token":  secretText,
		"outside/s.ts":   "export default '" + secretText + "';",
		"outside/s.md":   secretText,
		"plugin/in.ts":   "export default 'inside';",
		// The test installs the package as pnpm does: pnpm stores each package once and
		// creates symbolic links to it.
		"node_modules/.pnpm/dep@1/node_modules/dep/package.json": `{"name":"dep","main":"index.js"}`,
		"node_modules/.pnpm/dep@1/node_modules/dep/index.js":     "export default 'installed';",
		"plugin/" + packageFile:                                  validPackage,
		"plugin/" + defaultEntry:                                 strings.ReplaceAll(index, "OUT", f.outsideDir) + "\n" + pluginWithTools("{...ok, name: 'tool'}"),
	} {
		if err := writeFile(filepath.Join(baseDir, name), []byte(fileContent)); err != nil {
			t.Fatal(err)
		}
	}
	f.linkFile(t, "../node_modules/dep", ".pnpm/dep@1/node_modules/dep")
	return f
}

func (f boundaryFixture) linkFile(t *testing.T, name, target string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(strings.ReplaceAll(target, "OUT", f.outsideDir), path); err != nil {
		t.Fatal(err)
	}
}

func (f boundaryFixture) checkRefused(t *testing.T, textParts ...string) {
	t.Helper()
	_, err := BuildPlugin(t.Context(), f.dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
	var buildErr *BuildError
	if !errors.As(err, &buildErr) {
		t.Fatalf("build error = %v, want a *BuildError", err)
	}
	for _, textPart := range textParts {
		if !strings.Contains(err.Error(), strings.ReplaceAll(textPart, "OUT", f.outsideDir)) {
			t.Errorf("want the text %q in the error of the build, got %v", textPart, err)
		}
	}
	if strings.Contains(err.Error(), secretText) || strings.Contains(err.Error(), "S3CRET") {
		t.Errorf("the error quotes a file outside of the plugin: %v; want no content of this file", err)
	}
	err = filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == bundleFileName {
			t.Errorf("the failed build wrote %s, want no file", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsOutsidePluginAreRejected(t *testing.T) {
	usage := "\n(globalThis as any).q = a;"
	for name, index := range map[string]string{
		"JSON":                `import a from "OUT/s.json";` + usage,
		"text":                `import a from "OUT/s.md";` + usage,
		"text by attribute":   `import a from "OUT/token" with { type: "text" };` + usage,
		"a module":            `import a from "OUT/s.ts";` + usage,
		"a relative path":     `import a from "../../outside/s.ts";` + usage,
		"no extension":        `import "OUT/token";`,
		"require":             `declare const require: any; const a = require("OUT/s.txt");` + usage,
		"import by a pattern": "declare const n: string; const a = import(`../../outside/s${n}`);" + usage,
	} {
		t.Run(name, func(t *testing.T) {
			newBoundaryFixture(t, index).checkRefused(t, "src/index.ts:1:", "OUT/", " is outside of the plugin; "+sourceBoundaryHint+": copy it into the plugin, or install")
		})
	}
}

func TestLinksOutsidePluginAreRejected(t *testing.T) {
	const usage = "\n(globalThis as any).q = a;"
	t.Run("link to a file", func(t *testing.T) {
		f := newBoundaryFixture(t, `import a from "./a.json";`+usage)
		f.linkFile(t, "src/a.json", "OUT/s.json")
		f.checkRefused(t, "src/index.ts:1:", "outside of the plugin")
	})
	t.Run("link to a directory", func(t *testing.T) {
		f := newBoundaryFixture(t, `import a from "../lib/s.ts";`+usage)
		f.linkFile(t, "lib", "OUT")
		f.checkRefused(t, "src/index.ts:1:", "outside of the plugin")
	})
	t.Run("link named node_modules", func(t *testing.T) {
		f := newBoundaryFixture(t, `import a from "s.ts";`+usage)
		f.linkFile(t, "node_modules", "OUT")
		f.checkRefused(t, "src/index.ts:1:", "outside of the plugin")
	})
	t.Run("link named node_modules in a parent directory", func(t *testing.T) {
		f := newBoundaryFixture(t, `import a from "s.ts";`+usage)
		f.linkFile(t, "../node_modules", "OUT")
		f.checkRefused(t, "src/index.ts:1:", "outside of the plugin")
	})
	t.Run("link as the entry module", func(t *testing.T) {
		f := newBoundaryFixture(t, "")
		f.linkFile(t, defaultEntry, "OUT/token")
		f.checkRefused(t, defaultEntry+": the path is a link to OUT/token, outside of the plugin's directory; replace the link")
	})
	t.Run("link as the entry module's directory", func(t *testing.T) {
		f := newBoundaryFixture(t, "")
		if err := os.WriteFile(filepath.Join(f.outsideDir, "index.ts"), []byte(secretText), 0o600); err != nil {
			t.Fatal(err)
		}
		f.linkFile(t, "src", "OUT")
		f.checkRefused(t, defaultEntry+": the path is a link to OUT/index.ts, outside")
	})
	t.Run("package.json", func(t *testing.T) {
		f := newBoundaryFixture(t, "")
		f.linkFile(t, packageFile, "OUT/token")
		f.checkRefused(t, "package.json: the path is a link to OUT/token, outside")
	})
}

func TestConfigurationOutsidePluginIsNotRead(t *testing.T) {
	writeConfig := func(t *testing.T, f boundaryFixture, sourceCode string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.dir, "tsconfig.json"), []byte(strings.ReplaceAll(sourceCode, "OUT", f.outsideDir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("paths", func(t *testing.T) {
		f := newBoundaryFixture(t, `import a from "secret";`+"\n(globalThis as any).q = a;")
		writeConfig(t, f, `{"compilerOptions":{"paths":{"secret":["OUT/s.json"]}}}`)
		f.checkRefused(t, "src/index.ts:1:", "OUT/s.json is outside of the plugin")
	})
	t.Run("extends", func(t *testing.T) {
		f := newBoundaryFixture(t, "")
		writeConfig(t, f, `{"extends":"OUT/token"}`)
		b, err := BuildPlugin(t.Context(), f.dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
		if err != nil {
			if strings.Contains(err.Error(), "S3CRET") {
				t.Errorf("the error quotes a file outside of the plugin: %v; want no content of this file", err)
			}
			return
		}
		for _, w := range b.Warnings {
			if strings.Contains(w.String(), "S3CRET") {
				t.Errorf("a warning quotes a file outside of the plugin: %v; want no content of this file", w)
			}
		}
	})
	t.Run("source map", func(t *testing.T) {
		f := newBoundaryFixture(t, `import a from "../lib.js";`+"\n(globalThis as any).q = a;")
		sourceCode := "export default 1\n//# sourceMappingURL=../outside/token\n"
		if err := os.WriteFile(filepath.Join(f.dir, "lib.js"), []byte(sourceCode), 0o600); err != nil {
			t.Fatal(err)
		}
		f.checkRefused(t, "../outside/token:1:1: this file is invalid or outside of the plugin; "+sourceBoundaryHint)
	})
}

func TestSourcesInsidePluginAreAllowed(t *testing.T) {
	f := newBoundaryFixture(t, `import a from "../in.ts"; import b from "dep"; import c from "../linked.ts";`+"\n(globalThis as any).q = [a, b, c];")
	f.linkFile(t, "linked.ts", "in.ts")
	f.linkFile(t, "dist", "out")
	if err := os.Mkdir(filepath.Join(f.dir, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	buildPlugin(t, f.dir)
	code := string(readFileIn(t, f.dir, "out/"+bundleFileName))
	for _, want := range []string{`"inside"`, `"installed"`} {
		if !strings.Contains(code, want) {
			t.Errorf("the adapter lacks the text %s", want)
		}
	}
	linkDir := filepath.Join(filepath.Dir(f.dir), "through")
	if err := os.Symlink(f.dir, linkDir); err != nil {
		t.Fatal(err)
	}
	buildPlugin(t, linkDir)
}

func TestNoOutputOutsidePlugin(t *testing.T) {
	for _, target := range []string{"OUT", "../outside"} {
		f := newBoundaryFixture(t, "")
		f.linkFile(t, outputDir, target)
		f.checkRefused(t, "dist: the path is a link to OUT, outside of the plugin's directory; replace the link")
		if _, err := os.Stat(filepath.Join(f.outsideDir, bundleFileName)); err == nil {
			t.Error("the build wrote the adapter outside of the plugin, want no such file")
		}
	}
	f := newBoundaryFixture(t, "")
	f.linkFile(t, outputDir, "OUT/nowhere")
	f.checkRefused(t, "dist: the path is a link without a target; replace the link")
	// If a file in dist is a symbolic link, the build replaces the link instead of
	// writing to the link's target.
	f = newBoundaryFixture(t, "")
	if err := os.Mkdir(filepath.Join(f.dir, outputDir), 0o700); err != nil {
		t.Fatal(err)
	}
	f.linkFile(t, "dist/"+toolsName, "OUT/s.txt")
	buildPlugin(t, f.dir)
	if fileContent, err := os.ReadFile(filepath.Join(f.outsideDir, "s.txt")); string(fileContent) != secretText {
		t.Errorf("a file outside of the plugin became %q, error %v; want it unchanged", fileContent, err)
	}
}
