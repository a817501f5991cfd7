//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalColumns returns the width of the terminal f, and false if f is none.
func terminalColumns(f *os.File) (int, bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
