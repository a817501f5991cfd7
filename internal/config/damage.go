package config

import (
	"errors"
	"fmt"
	"os"

	"opentabs/internal/statefile"
)

// RepairStateDir repairs the state directory before a server starts. RepairStateDir makes
// an unreadable token file readable, renames an unusable token file and a damaged server
// record, and removes temporary files of crashed processes. RepairStateDir returns a
// warning for each change. The caller must have acquired the lock with [Dirs.LockStart].
func (d Dirs) RepairStateDir() (warnings []string, err error) {
	statefile.RemoveLeftovers(d.State)
	if warnings, err = d.repairToken(); err != nil {
		return nil, err
	}
	if _, ok := d.ReadServer(); !ok && PathExists(d.serverFile()) {
		backupPath, err := statefile.RenameDamagedFile(d.serverFile())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the record of the running server in %s was damaged and is kept as %s", d.serverFile(), backupPath))
	}
	return warnings, nil
}

// If the token file stays unusable, repairToken renames it, so that [Dirs.Token] creates a new token.
func (d Dirs) repairToken() (warnings []string, err error) {
	var tokenErr *TokenError
	if _, err := readToken(d.TokenFile()); !errors.As(err, &tokenErr) {
		return nil, nil
	}
	if tokenErr.IsForbidden && os.Chmod(d.TokenFile(), 0o600) == nil {
		if _, err := readToken(d.TokenFile()); err == nil {
			return []string{fmt.Sprintf("%s could not be read; its mode is now 0600, and the token is the earlier one", d.TokenFile())}, nil
		}
	}
	backupPath, err := statefile.RenameDamagedFile(d.TokenFile())
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%v; the file is kept as %s, and there is a new token: run `opentabs extension install`, then reload the extension", tokenErr, backupPath)}, nil
}

// PathExists reports whether something is at path.
func PathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
