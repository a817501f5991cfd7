package config

import (
	"os"

	"golang.org/x/sys/windows"
)

func lock(f *os.File) error {
	const all = ^uint32(0)
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, all, all, new(windows.Overlapped))
}
