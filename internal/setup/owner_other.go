//go:build !unix

package setup

import (
	"io/fs"
	"os"
)

// keepOwner returns the mode of an older file. keepOwner sets no owner, because Windows sets
// the owner of a new file.
func keepOwner(_ *os.File, old fs.FileInfo) fs.FileMode { return old.Mode().Perm() }
