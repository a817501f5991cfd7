//go:build unix

package main

import "syscall"

// errPortTaken is the system's error for a port that somebody listens on.
const errPortTaken = syscall.EADDRINUSE
