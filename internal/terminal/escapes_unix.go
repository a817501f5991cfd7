//go:build unix

package terminal

import "os"

// obeysEscapes reports whether the terminal f obeys escape sequences.
func obeysEscapes(*os.File) bool { return true }
