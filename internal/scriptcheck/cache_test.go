package scriptcheck

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
)

func newCountedCache(dirs config.Dirs) (*Cache, *int) {
	c, n := New(dirs, zerolog.Nop()), new(int)
	c.checkScript = func(code []byte) error {
		*n++
		if strings.HasPrefix(string(code), "bad") {
			return errors.New("it is bad")
		}
		return nil
	}
	return c, n
}

func expectCheckCount(t *testing.T, c *Cache, n *int, code string, isValid bool, count int) {
	t.Helper()
	if err := c.Check([]byte(code)); (err == nil) != isValid {
		t.Errorf("Check(%q) = %v, want an error only for an invalid script", code, err)
	}
	if *n != count {
		t.Errorf("after Check(%q): %d scripts were checked in total, want %d", code, *n, count)
	}
}

func TestCacheSkipsCheckedScripts(t *testing.T) {
	dirs := config.Dirs{State: filepath.Join(t.TempDir(), "not there yet")}
	c, n := newCountedCache(dirs)
	expectCheckCount(t, c, n, "a", true, 1)
	expectCheckCount(t, c, n, "a", true, 1)
	expectCheckCount(t, c, n, "bad", false, 2)
	expectCheckCount(t, c, n, "bad", false, 2)

	secondCache, m := newCountedCache(dirs)
	expectCheckCount(t, secondCache, m, "a", true, 0)
	expectCheckCount(t, secondCache, m, "b", true, 1)
	expectCheckCount(t, secondCache, m, "bad", false, 2)

	expectCheckCount(t, c, n, "c", true, 3)
	expectCheckCount(t, c, n, "b", true, 3)
	thirdCache, k := newCountedCache(dirs)
	for _, code := range []string{"a", "b", "c"} {
		expectCheckCount(t, thirdCache, k, code, true, 0)
	}
}

func TestDamagedCacheIsIgnored(t *testing.T) {
	dirs := config.Dirs{State: t.TempDir()}
	c, n := newCountedCache(dirs)
	expectCheckCount(t, c, n, "a", true, 1)
	path := filepath.Join(dirs.State, cacheFile)
	fileContent, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, fileContent := range map[string]string{
		"empty":            "",
		"truncated":        string(fileContent[:len(fileContent)-1]),
		"an older check's": "check 0\n" + strings.TrimPrefix(string(fileContent), fileHeader()),
		"garbage":          fileHeader() + "\n\x00\n" + strings.Repeat("x", 200),
	} {
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
		c, n := newCountedCache(dirs)
		expectCheckCount(t, c, n, "a", true, 1)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestCacheWorksWithUnwritableFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, n := newCountedCache(config.Dirs{State: file})
	expectCheckCount(t, c, n, "a", true, 1)
	expectCheckCount(t, c, n, "a", true, 1)
	expectCheckCount(t, c, n, "bad", false, 2)
}
