//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner sets the user and the group of f to those of an older file. A process without
// root rights usually cannot set the user; keepOwner then sets only the group, if
// possible.
func keepOwner(f *os.File, old fs.FileInfo) {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		_ = f.Chown(-1, int(stat.Gid))
	}
}
