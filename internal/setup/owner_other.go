//go:build !unix

package setup

import (
	"io/fs"
	"os"
)

// copyOwner returns the mode of an older file. copyOwner sets no owner, because Windows sets
// the owner of a new file.
func copyOwner(_ *os.File, old fs.FileInfo) fs.FileMode { return old.Mode().Perm() }
