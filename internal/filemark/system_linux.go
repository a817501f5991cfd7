package filemark

import (
	"os"
	"syscall"
)

func (m *Fingerprint) addSystemFields(fileInfo os.FileInfo) {
	if s, ok := fileInfo.Sys().(*syscall.Stat_t); ok {
		m.ChangedNs, m.Inode, m.Device = s.Ctim.Nano(), s.Ino, uint64(s.Dev)
	}
}
