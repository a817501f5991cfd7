package filemark

import (
	"os"
	"syscall"
)

func (m *Fingerprint) addSystemFields(info os.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		m.ChangedNs, m.Inode, m.Device = s.Ctimespec.Nano(), s.Ino, uint64(s.Dev)
	}
}
