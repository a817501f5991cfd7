//go:build unix

package portowner

import "syscall"

// ErrPortTaken is the operating system's error for listening on a TCP port that is
// already in use.
const ErrPortTaken = syscall.EADDRINUSE
