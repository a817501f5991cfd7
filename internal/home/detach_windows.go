package home

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// DetachedProcessAttributes starts a process without a console, so that Ctrl-C in the client's
// console does not end the process.
func DetachedProcessAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true}
}
