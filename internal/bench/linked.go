package main

import (
	"runtime"

	"opentabs/internal/daemon"
)

// linkDaemon keeps the code of the daemon in the program bench, and does nothing else. The baseline server
// ("floor") then has about the size and the package initialization of opentabs, so that the row "start"
// compares the work that both programs do themselves.
func linkDaemon() { runtime.KeepAlive(daemon.Start) }
