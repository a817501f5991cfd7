//go:build unix

package home

import "syscall"

// DetachedProcessAttributes starts a process in a new session, so that Ctrl-C in the client's
// terminal does not end the process.
func DetachedProcessAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
