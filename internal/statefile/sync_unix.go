//go:build unix

package statefile

import "os"

// syncFolder flushes the folder dir to the disk, so that a rename in the folder survives a
// power failure.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
