package sdkts

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// A source file that embed.go does not list is missing from the built program, and no other test would fail.
func TestEveryFileIsEmbedded(t *testing.T) {
	matchCount := 0
	err := fs.WalkDir(os.DirFS("."), "src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		_, err = fs.Stat(Source, name)
		switch isEmbedded := err == nil; {
		case strings.HasSuffix(name, ".test.ts"):
			if isEmbedded {
				t.Errorf("embed.go embeds the test file %s, want no tests; remove the file from embed.go", name)
			}
		case !isEmbedded:
			t.Errorf("embed.go does not embed %s, want all source files; add the file to embed.go", name)
		default:
			matchCount++
		}
		return nil
	})
	if err != nil || matchCount == 0 {
		t.Errorf("the test found %d embedded source files, error %v; want at least one file and no error", matchCount, err)
	}
}

func TestVersion(t *testing.T) {
	if v := Version(); strings.Count(v, ".") != 2 {
		t.Errorf("Version() = %q, want three numbers separated by periods", v)
	}
}
