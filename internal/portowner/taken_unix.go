//go:build unix

package portowner

import "syscall"

// ErrPortTaken is the system's error for a port on which another socket listens.
const ErrPortTaken = syscall.EADDRINUSE
