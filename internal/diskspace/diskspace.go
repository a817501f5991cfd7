// Package diskspace finds out how much space is free on a disk.
package diskspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/disk"
)

// FreeBytes returns the free space, in bytes, of the disk that contains a directory. If
// the directory does not exist, FreeBytes uses its nearest existing parent.
func FreeBytes(dir string) (uint64, error) {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	usage, err := disk.Usage(dir)
	if err != nil {
		return 0, err
	}
	return usage.Free, nil
}
