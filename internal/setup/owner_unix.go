//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner sets the user and the group of f to those of an older file. Without the right
// to set both, for example without root, keepOwner sets only the group, or nothing.
func keepOwner(f *os.File, old fs.FileInfo) {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		_ = f.Chown(-1, int(stat.Gid))
	}
}
