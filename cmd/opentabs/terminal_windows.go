package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalColumns returns the width of the console f, and false if f is none.
func terminalColumns(f *os.File) (int, bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
