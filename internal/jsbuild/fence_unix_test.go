//go:build unix

package jsbuild

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A build that read a pipe would block forever, and a build that read a huge file would run out of memory.
func TestPipesAndHugeFilesAreRejected(t *testing.T) {
	const imports = "import words from './words.json';\nvoid words;\n"
	for _, name := range []string{packageFile, "tsconfig.json", "src/index.ts", "src/words.json", "icon.svg", "src/early.ts"} {
		for kind, createFile := range map[string]func(string) error{
			"is not a regular file": func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"MB; keep it below": func(path string) error {
				file, err := os.Create(path)
				if err != nil {
					return err
				}
				return errors.Join(file.Truncate(8<<30), file.Close()) // the huge file is sparse and uses no disk space
			},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				dir := writeFiles(t, map[string]string{
					packageFile: packageWithFields(`"preScript":"src/early.ts"`), "tsconfig.json": "{}", "src/index.ts": imports + pluginWithTools(`{...ok, name: 'a'}`), "src/words.json": "{}",
					"icon.svg": "<svg/>", "src/early.ts": "",
				})
				path := filepath.Join(dir, name)
				if err := errors.Join(os.Remove(path), createFile(path)); err != nil {
					t.Fatal(err)
				}
				_, err := BuildPlugin(t.Context(), dir, Options{Extract: childArgs, ExtractTimeout: longTimeout})
				if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), kind) {
					t.Errorf("build error = %v, want an error that contains %q and %q", err, name, kind)
				}
			})
		}
	}
}
