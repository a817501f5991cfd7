package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// MakePrivate creates dir if it is missing, and removes the access of other users to dir.
// MakePrivate returns a warning for each file mode that it corrected. A directory of
// another user is rejected, because its owner could read and replace the files. A
// directory with files of another user is also rejected, because that user must have had
// write access.
func MakePrivate(dir string) (warnings []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w", dir, err)
	}
	// If dir is a symbolic link, both the link and its target are checked.
	for _, statFunc := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		fileInfo, err := statFunc(dir)
		if err != nil {
			return nil, fmt.Errorf("create %s: %w", dir, err)
		}
		if !isOwnedByUser(fileInfo) {
			return nil, fmt.Errorf("%s belongs to another user, who could read and replace what is in it: choose another directory, or make it yours with chown", dir)
		}
	}
	warnings = restrictAccess(dir, 0o700)
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		return warnings, fmt.Errorf("list %s: %w", dir, err)
	}
	for _, e := range dirEntries {
		fileInfo, err := e.Info()
		if err == nil && !isOwnedByUser(fileInfo) && !isOwnedByRoot(fileInfo) {
			return warnings, fmt.Errorf("%s belongs to another user, who put it there while the directory was open: read it, then remove it", filepath.Join(dir, e.Name()))
		}
	}
	return warnings, nil
}

// On Windows, restrictAccess does nothing, because other users cannot open the user's profile.
func restrictAccess(path string, mode fs.FileMode) (warnings []string) {
	fileInfo, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || fileInfo.Mode().Perm()&0o077 == 0 {
		return nil
	}
	oldMode := fileInfo.Mode().Perm()
	if err := os.Chmod(path, mode); err != nil {
		return []string{fmt.Sprintf("other users can open %s (mode %04o): run chmod %o %s", path, oldMode, mode, path)}
	}
	return []string{fmt.Sprintf("other users could open %s (mode %04o); its mode is now %04o", path, oldMode, mode)}
}
