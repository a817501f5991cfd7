package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"opentabs/internal/config"
)

// counted is a check that counts, and refuses what begins with "bad".
func counted(dirs config.Dirs) (*checkedScripts, *int) {
	c, n := newCheckedScripts(dirs, zerolog.Nop()), new(int)
	c.check = func(code []byte) error {
		*n++
		if strings.HasPrefix(string(code), "bad") {
			return errors.New("it is bad")
		}
		return nil
	}
	return c, n
}

func wantCheck(t *testing.T, c *checkedScripts, n *int, code string, good bool, count int) {
	t.Helper()
	if err := c.Check([]byte(code)); (err == nil) != good {
		t.Errorf("%q: %v", code, err)
	}
	if *n != count {
		t.Errorf("%q: %d checks so far, want %d", code, *n, count)
	}
}

// TestChecked: code that passed is not checked again, in this process or in
// another; code that failed is checked again in another process only.
func TestChecked(t *testing.T) {
	dirs := config.Dirs{State: filepath.Join(t.TempDir(), "not there yet")}
	c, n := counted(dirs)
	wantCheck(t, c, n, "a", true, 1)
	wantCheck(t, c, n, "a", true, 1)
	wantCheck(t, c, n, "bad", false, 2)
	wantCheck(t, c, n, "bad", false, 2)

	other, m := counted(dirs)
	wantCheck(t, other, m, "a", true, 0)
	wantCheck(t, other, m, "b", true, 1)
	wantCheck(t, other, m, "bad", false, 2)

	wantCheck(t, c, n, "c", true, 3) // writes, and keeps the other's
	wantCheck(t, c, n, "b", true, 3)
	third, k := counted(dirs)
	for _, code := range []string{"a", "b", "c"} {
		wantCheck(t, third, k, code, true, 0)
	}
}

// TestCheckedDamaged: what is not sure to come from this check does not count.
func TestCheckedDamaged(t *testing.T) {
	dirs := config.Dirs{State: t.TempDir()}
	c, n := counted(dirs)
	wantCheck(t, c, n, "a", true, 1)
	path := filepath.Join(dirs.State, checkedFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":            "",
		"cut off":          string(text[:len(text)-1]),
		"an older check's": "check 0\n" + strings.TrimPrefix(string(text), checkedHead()),
		"garbage":          checkedHead() + "\n\x00\n" + strings.Repeat("x", 200),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, n := counted(dirs)
		wantCheck(t, c, n, "a", true, 1)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestCheckedUnwritable: a disk that is full costs time only.
func TestCheckedUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, n := counted(config.Dirs{State: file})
	wantCheck(t, c, n, "a", true, 1)
	wantCheck(t, c, n, "a", true, 1)
	wantCheck(t, c, n, "bad", false, 2)
}
