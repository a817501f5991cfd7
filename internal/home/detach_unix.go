//go:build unix

package home

import "syscall"

// detachedProcess starts a process in a new session, so that Ctrl-C in the client's
// terminal does not end the process.
func detachedProcess() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
