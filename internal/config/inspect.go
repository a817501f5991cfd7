package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"opentabs/internal/statefile"
)

// Flaw is something about opentabs' directories that a person should know.
type Flaw struct {
	// Says is what is wrong, Do what to do about it.
	Says, Do string
	// Serious is set if opentabs refuses to work so, or cannot.
	Serious bool
}

// Inspect looks at the directories, at who owns them and what is in them, and
// whether they can be written. It changes nothing, where [Dirs.Make] would
// correct. What is not there yet is no flaw.
func (d Dirs) Inspect() []Flaw {
	flaws := inspect(d.State)
	if d.Config != d.State {
		flaws = append(flaws, inspect(d.Config)...)
	}
	return flaws
}

func inspect(dir string) []Flaw {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []Flaw{{Says: err.Error(), Do: "see that you may open " + filepath.Dir(dir), Serious: true}}
	case !info.IsDir():
		return []Flaw{{Says: dir + " is no directory", Do: "move that file away, or set " + HomeVariable + " to another directory", Serious: true}}
	}
	if link, err := os.Lstat(dir); err != nil || !isOwn(link) || !isOwn(info) {
		return []Flaw{{Says: dir + " belongs to another user, who could read and replace what is in it", Do: "choose another directory with " + HomeVariable + ", or make it yours with chown", Serious: true}}
	}
	flaws := openToOthers(dir, info)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return append(flaws, Flaw{Says: err.Error(), Do: "see that you may read " + dir, Serious: true})
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil: // it was removed a moment ago
		case !isOwn(info) && !isRoots(info):
			flaws = append(flaws, Flaw{Says: path + " belongs to another user", Do: "look at it, then remove it", Serious: true})
		case info.Mode().IsRegular():
			flaws = append(flaws, openToOthers(path, info)...)
		}
	}
	if err := statefile.Try(dir); err != nil {
		flaws = append(flaws, Flaw{Says: err.Error(), Do: "make it writable, free some space on its disk, or set " + HomeVariable + " to another directory", Serious: true})
	}
	return flaws
}

// openToOthers tells a path that other users can open.
func openToOthers(path string, info fs.FileInfo) []Flaw {
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	closed := "600"
	if info.IsDir() {
		closed = "700"
	}
	return []Flaw{{
		Says: fmt.Sprintf("other users can open %s (mode %04o)", path, info.Mode().Perm()),
		Do:   fmt.Sprintf("run chmod %s %s", closed, path),
	}}
}
