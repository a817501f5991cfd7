package main

import (
	"runtime"

	"opentabs/internal/daemon"
)

// linkDaemon makes the linker add the daemon of opentabs to the program bench, and does nothing else. The
// baseline server ("floor") then initializes the same packages as the daemon before its first statement, so
// that the row "start" measures only the work that opentabs does itself.
func linkDaemon() { runtime.KeepAlive(daemon.Start) }
