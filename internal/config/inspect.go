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
	// ProblemText describes the problem, and Remedy describes what the user should do.
	ProblemText, Remedy string
	// Path is the file or directory that other users can open, and Mode is the file mode
	// that Path should have. The field Path is empty if the problem is not about access
	// by other users.
	Path string
	Mode fs.FileMode
	// PreventsStart is true if the problem prevents opentabs from starting.
	PreventsStart bool
}

// Inspect checks the owners and the modes of the directories and their files, and whether
// the directories are writable. Inspect changes nothing. Inspect reports no problem for a
// missing directory.
func (d Dirs) Inspect() []PermissionProblem {
	permissionProblems := inspectDir(d.State)
	if d.Config != d.State {
		permissionProblems = append(permissionProblems, inspectDir(d.Config)...)
	}
	return permissionProblems
}

func inspectDir(dir string) []PermissionProblem {
	fileInfo, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []PermissionProblem{{ProblemText: err.Error(), Remedy: "check that you can open " + filepath.Dir(dir), PreventsStart: true}}
	case !fileInfo.IsDir():
		return []PermissionProblem{{ProblemText: dir + " is not a directory", Remedy: "move that file away, or set " + HomeVariable + " to another directory", PreventsStart: true}}
	}
	if linkInfo, err := os.Lstat(dir); err != nil || !isOwnedByUser(linkInfo) || !isOwnedByUser(fileInfo) {
		return []PermissionProblem{{ProblemText: dir + " belongs to another user, who could read and replace what is in it", Remedy: "choose another directory with " + HomeVariable + ", or make it yours with chown", PreventsStart: true}}
	}
	permissionProblems := findAccessProblems(dir, fileInfo)
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		return append(permissionProblems, PermissionProblem{ProblemText: err.Error(), Remedy: "check that you can read " + dir, PreventsStart: true})
	}
	for _, e := range dirEntries {
		path := filepath.Join(dir, e.Name())
		fileInfo, err := e.Info()
		switch {
		case err != nil: // the file was just removed
		case !isOwnedByUser(fileInfo) && !isOwnedByRoot(fileInfo):
			permissionProblems = append(permissionProblems, PermissionProblem{ProblemText: path + " belongs to another user", Remedy: "read it, then remove it", PreventsStart: true})
		case fileInfo.Mode().IsRegular():
			permissionProblems = append(permissionProblems, findAccessProblems(path, fileInfo)...)
		}
	}
	if err := statefile.CheckWritable(dir); err != nil {
		permissionProblems = append(permissionProblems, PermissionProblem{ProblemText: err.Error(), Remedy: "make it writable, free some space on its disk, or set " + HomeVariable + " to another directory", PreventsStart: true})
	}
	return permissionProblems
}

func findAccessProblems(path string, fileInfo fs.FileInfo) []PermissionProblem {
	if runtime.GOOS == "windows" || fileInfo.Mode().Perm()&0o077 == 0 {
		return nil
	}
	privateMode := fs.FileMode(0o600)
	if fileInfo.IsDir() {
		privateMode = 0o700
	}
	return []PermissionProblem{{
		ProblemText: fmt.Sprintf("other users can open %s (mode %04o)", path, fileInfo.Mode().Perm()),
		Remedy:      fmt.Sprintf("run chmod %o %s", privateMode, path),
		Path:        path, Mode: privateMode,
	}}
}
