//go:build unix

package terminal

import "os"

// supportsEscapes returns true, because every terminal on Unix interprets escape
// sequences.
func supportsEscapes(*os.File) bool { return true }
