package portowner

import "golang.org/x/sys/windows"

// ErrPortTaken is the operating system's error for listening on a TCP port that is
// already in use.
const ErrPortTaken = windows.WSAEADDRINUSE
