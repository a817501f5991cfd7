//go:build unix

package terminal

import "os"

// supportsEscapes reports whether the terminal f obeys escape sequences.
func supportsEscapes(*os.File) bool { return true }
