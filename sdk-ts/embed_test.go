package sdkts

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// If embed.go does not list a source file, the file is missing only in a built binary.
func TestEveryFileIsEmbedded(t *testing.T) {
	seen := 0
	err := fs.WalkDir(os.DirFS("."), "src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		_, err = fs.Stat(Source, name)
		switch embedded := err == nil; {
		case strings.HasSuffix(name, ".test.ts"):
			if embedded {
				t.Errorf("%s is embedded; remove it from embed.go", name)
			}
		case !embedded:
			t.Errorf("%s is not embedded; add it to embed.go", name)
		default:
			seen++
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Errorf("saw %d files: %v", seen, err)
	}
}

func TestVersion(t *testing.T) {
	if v := Version(); strings.Count(v, ".") != 2 {
		t.Errorf("version %q", v)
	}
}
