//go:build unix

package statefile

import "os"

// syncFolder makes a rename in dir survive a power cut.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
