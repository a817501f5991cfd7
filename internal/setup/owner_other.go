//go:build !unix

package setup

import (
	"io/fs"
	"os"
)

// keepOwner does nothing, because Windows sets the owner of a new file.
func keepOwner(*os.File, fs.FileInfo) {}
