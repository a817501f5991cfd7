package config

import (
	"errors"
	"fmt"
	"os"

	"opentabs/internal/statefile"
)

// Mend makes the state directory fit for a server that starts: a damaged token
// and a damaged record of a server are put aside, and what processes that
// crashed while they wrote left behind is removed. It returns a sentence for
// each file that it put aside. Call it under [Dirs.LockStart].
func (d Dirs) Mend() (warnings []string, err error) {
	statefile.RemoveLeftovers(d.State)
	if _, err := readToken(d.TokenFile()); errors.Is(err, ErrDamaged) {
		kept, err := statefile.PutAside(d.TokenFile())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the token in %s was damaged and is kept as %s; there is a new one now: run `opentabs extension install`, then reload the extension", d.TokenFile(), kept))
	}
	if _, ok := d.ReadServer(); !ok && Exists(d.serverFile()) {
		kept, err := statefile.PutAside(d.serverFile())
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, fmt.Sprintf("the record of the running server in %s was damaged and is kept as %s", d.serverFile(), kept))
	}
	return warnings, nil
}

// Exists reports whether something is at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
