package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalSize returns the columns and rows of the console f, and false if f is
// none.
func terminalSize(f *os.File) (columns, rows int, ok bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0, 0, false
	}
	w := info.Window
	return int(w.Right-w.Left) + 1, int(w.Bottom-w.Top) + 1, true
}

// obeysEscapes reports whether the console f can move its cursor up: old ones
// print the escape sequences for it.
func obeysEscapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
