//go:build unix

package home

import "syscall"

// detached starts a process in a new session, so that Ctrl-C in the client's
// terminal does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
