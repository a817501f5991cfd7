//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize returns the columns and rows of the terminal f, and false if f is
// none.
func terminalSize(f *os.File) (columns, rows int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// obeysEscapes reports whether the terminal f can move its cursor up.
func obeysEscapes(*os.File) bool { return true }
