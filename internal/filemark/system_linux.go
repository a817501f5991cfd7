package filemark

import (
	"os"
	"syscall"
)

// addSystemFields adds the change time, the inode and the device of a file, which Linux
// reports.
func (m *Mark) addSystemFields(info os.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		m.ChangedNs, m.Inode, m.Device = s.Ctim.Nano(), s.Ino, uint64(s.Dev)
	}
}
