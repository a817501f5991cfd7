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

// TestKeptBuildsAreTheSame checks that builds with and without the cache give the same
// files.
func TestKeptBuildsAreTheSame(t *testing.T) {
	dir, fresh := freshExample(t), t.TempDir()
	cache := &BuildCache{}
	defer cache.Close()
	edit := func(file, old, now string) {
		t.Helper()
		path := filepath.Join(dir, file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s does not contain %q", file, old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := func(o Options) error {
		o.Extract = childArgs
		_, err := BuildPlugin(context.Background(), dir, o)
		return err
	}
	same := func(what string) {
		t.Helper()
		if err := errors.Join(build(Options{Cache: cache}), build(Options{Out: fresh})); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, name := range []string{bundleName, mapName, toolsName} {
			one, err := os.ReadFile(filepath.Join(dir, outputDir, name))
			if err != nil {
				t.Fatal(err)
			}
			other, err := os.ReadFile(filepath.Join(fresh, name))
			if err != nil {
				t.Fatal(err)
			}
			if string(one) != string(other) {
				t.Errorf("%s: %s differs", what, name)
			}
		}
	}
	same("first build")
	same("unchanged source")
	edit("src/tools/echo.ts", "Returns its input value", "Returns the given value")
	same("a module changed")
	edit("src/tools/echo.ts", "export const echo", "export const = echo")
	if err := build(Options{Cache: cache}); !errors.As(err, new(*BuildError)) {
		t.Errorf("a module is broken: got %v", err)
	}
	edit("src/tools/echo.ts", "export const = echo", "export const echo")
	same("the module is correct again")
	before := "Messages"
	for i := range maxCachedContexts {
		now := fmt.Sprintf("Messages %d", i)
		edit(packageFile, before, now)
		before = now
		if err := build(Options{Cache: cache}); err != nil {
			t.Fatal(err)
		}
	}
	same("after many changes of package.json")
	if n := len(cache.contexts); n > maxCachedContexts+1 { // a context in use is not dropped
		t.Errorf("%d bundles are cached", n)
	}
}
