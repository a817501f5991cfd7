//go:build unix

package main

import "syscall"

// detached makes a process the head of a session of its own, so that Ctrl-C in
// the client's terminal does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
