package config

import (
	"errors"
	"fmt"
	"os"

	"opentabs/internal/statefile"
)

// RepairStateDir repairs the state directory before a server starts. RepairStateDir renames a damaged token
// and a damaged server record, and removes temporary files of crashed processes. RepairStateDir
// returns a warning for each renamed file. The caller must have the lock of
// [Dirs.LockStart].
func (d Dirs) RepairStateDir() (warnings []string, err error) {
	statefile.RemoveLeftovers(d.State)
	if _, err := readToken(d.TokenFile()); errors.Is(err, ErrDamaged) {
		keptAs, err := statefile.PutAside(d.TokenFile())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the token in %s was damaged and is kept as %s; there is a new one now: run `opentabs extension install`, then reload the extension", d.TokenFile(), keptAs))
	}
	if _, ok := d.ReadServer(); !ok && Exists(d.serverFile()) {
		keptAs, err := statefile.PutAside(d.serverFile())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the record of the running server in %s was damaged and is kept as %s", d.serverFile(), keptAs))
	}
	return warnings, nil
}

// Exists reports whether something is at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
