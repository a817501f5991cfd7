//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

func isOwnedByUser(fileInfo fs.FileInfo) bool {
	stat, ok := fileInfo.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}

// Files of root are accepted, because root can read all files anyway.
func isOwnedByRoot(fileInfo fs.FileInfo) bool {
	stat, ok := fileInfo.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}
