//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

const groupBits fs.FileMode = 0o070

// If the process is not allowed to change the user, for example because it does not run as root, copyOwner sets only
// the group. If copyOwner cannot set the group, the returned mode gives the group of the new file no access.
func copyOwner(f *os.File, oldFields fs.FileInfo) fs.FileMode {
	mode := oldFields.Mode().Perm()
	stat, ok := oldFields.Sys().(*syscall.Stat_t)
	if !ok {
		return mode
	}
	if f.Chown(int(stat.Uid), int(stat.Gid)) == nil || f.Chown(-1, int(stat.Gid)) == nil {
		return mode
	}
	return mode &^ groupBits
}
