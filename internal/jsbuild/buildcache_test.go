package jsbuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCachedBuildsMatchFreshBuilds(t *testing.T) {
	dir, freshDir := buildFreshExample(t), t.TempDir()
	cache := &BuildCache{}
	defer cache.Close()
	editContent := func(file, oldText, newText string) {
		t.Helper()
		path := filepath.Join(dir, file)
		fileContent, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(fileContent), oldText) {
			t.Fatalf("the test cannot change %s: want the text %q in it", file, oldText)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(fileContent), oldText, newText, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := func(o Options) error {
		o.Extract = childArgs
		_, err := BuildPlugin(context.Background(), dir, o)
		return err
	}
	compareBuilds := func(stepName string) {
		t.Helper()
		if err := errors.Join(build(Options{Cache: cache}), build(Options{Out: freshDir})); err != nil {
			t.Fatalf("%s: build error %v, want none", stepName, err)
		}
		for _, name := range []string{bundleFileName, sourceMapName, toolsName} {
			cachedFile, err := os.ReadFile(filepath.Join(dir, outputDir, name))
			if err != nil {
				t.Fatal(err)
			}
			freshFile, err := os.ReadFile(filepath.Join(freshDir, name))
			if err != nil {
				t.Fatal(err)
			}
			if string(cachedFile) != string(freshFile) {
				t.Errorf("%s: the cached build and the fresh build differ in %s, want equal files", stepName, name)
			}
		}
	}
	compareBuilds("first build")
	compareBuilds("unchanged source")
	editContent("src/tools/echo.ts", "Returns its input value", "Returns the given value")
	compareBuilds("a module changed")
	editContent("src/tools/echo.ts", "export const echo", "export const = echo")
	if err := build(Options{Cache: cache}); !errors.As(err, new(*BuildError)) {
		t.Errorf("error of a build with a broken module = %v, want a *BuildError", err)
	}
	editContent("src/tools/echo.ts", "export const = echo", "export const echo")
	compareBuilds("the module is correct again")
	textBefore := "Messages"
	for i := range maxCachedContexts {
		newText := fmt.Sprintf("Messages %d", i)
		editContent(packageFile, textBefore, newText)
		textBefore = newText
		if err := build(Options{Cache: cache}); err != nil {
			t.Fatal(err)
		}
	}
	compareBuilds("after many changes of package.json")
	if n := len(cache.contexts); n > maxCachedContexts+1 { // the context of a running build is not dropped
		t.Errorf("the cache contains %d bundles, want at most maxCachedContexts+1", n)
	}
}
