package plugin

import (
	"os"
	"syscall"
)

// addSystem adds what only the system knows of a file.
func (m *fileMark) addSystem(info os.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		m.ChangedNs, m.Inode, m.Device = s.Ctimespec.Nano(), s.Ino, uint64(s.Dev)
	}
}
