package main

import "golang.org/x/sys/windows"

// errPortTaken is the system's error for a port that somebody listens on.
const errPortTaken = windows.WSAEADDRINUSE
