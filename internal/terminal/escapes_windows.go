package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// supportsEscapes reports whether the console f interprets escape sequences, and turns
// them on. Old Windows consoles print escape sequences as text.
func supportsEscapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
