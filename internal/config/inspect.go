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

// PermissionProblem is a problem with the directories or files of opentabs that the user
// should fix.
type PermissionProblem struct {
	// Fact describes the problem, and Remedy describes what the user should do.
	Fact, Remedy string
	// Path is the file or directory that other users can open, and Mode is the file mode
	// that Path should have. The field Path is empty if the problem is not about access
	// by other users.
	Path string
	Mode fs.FileMode
	// IsSerious is true if the problem prevents opentabs from starting.
	IsSerious bool
}

// Inspect checks the owners and the modes of the directories and their files, and whether
// the directories are writable. Inspect changes nothing. Inspect reports no problem for a
// missing directory.
func (d Dirs) Inspect() []PermissionProblem {
	flaws := inspectDir(d.State)
	if d.Config != d.State {
		flaws = append(flaws, inspectDir(d.Config)...)
	}
	return flaws
}

func inspectDir(dir string) []PermissionProblem {
	fileInfo, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []PermissionProblem{{Fact: err.Error(), Remedy: "check that you can open " + filepath.Dir(dir), IsSerious: true}}
	case !fileInfo.IsDir():
		return []PermissionProblem{{Fact: dir + " is not a directory", Remedy: "move that file away, or set " + HomeVariable + " to another directory", IsSerious: true}}
	}
	if linkInfo, err := os.Lstat(dir); err != nil || !isOwnedByUser(linkInfo) || !isOwnedByUser(fileInfo) {
		return []PermissionProblem{{Fact: dir + " belongs to another user, who could read and replace what is in it", Remedy: "choose another directory with " + HomeVariable + ", or make it yours with chown", IsSerious: true}}
	}
	flaws := findExcessiveAccess(dir, fileInfo)
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		return append(flaws, PermissionProblem{Fact: err.Error(), Remedy: "check that you can read " + dir, IsSerious: true})
	}
	for _, e := range dirEntries {
		path := filepath.Join(dir, e.Name())
		fileInfo, err := e.Info()
		switch {
		case err != nil: // the file was just removed
		case !isOwnedByUser(fileInfo) && !isOwnedByRoot(fileInfo):
			flaws = append(flaws, PermissionProblem{Fact: path + " belongs to another user", Remedy: "read it, then remove it", IsSerious: true})
		case fileInfo.Mode().IsRegular():
			flaws = append(flaws, findExcessiveAccess(path, fileInfo)...)
		}
	}
	if err := statefile.CheckWritable(dir); err != nil {
		flaws = append(flaws, PermissionProblem{Fact: err.Error(), Remedy: "make it writable, free some space on its disk, or set " + HomeVariable + " to another directory", IsSerious: true})
	}
	return flaws
}

func findExcessiveAccess(path string, fileInfo fs.FileInfo) []PermissionProblem {
	if runtime.GOOS == "windows" || fileInfo.Mode().Perm()&0o077 == 0 {
		return nil
	}
	privateMode := fs.FileMode(0o600)
	if fileInfo.IsDir() {
		privateMode = 0o700
	}
	return []PermissionProblem{{
		Fact:   fmt.Sprintf("other users can open %s (mode %04o)", path, fileInfo.Mode().Perm()),
		Remedy: fmt.Sprintf("run chmod %o %s", privateMode, path),
		Path:   path, Mode: privateMode,
	}}
}
