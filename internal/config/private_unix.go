//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to the user that this process acts as.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}

// isRoots reports whether a file belongs to root, who needs no trick.
func isRoots(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0
}
