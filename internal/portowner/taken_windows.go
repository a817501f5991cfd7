package portowner

import "golang.org/x/sys/windows"

// ErrPortTaken is the system's error for a port on which another socket listens.
const ErrPortTaken = windows.WSAEADDRINUSE
