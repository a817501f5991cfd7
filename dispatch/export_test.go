package dispatch

import "opentabs/dispatch/events"

// ErrFollowerClosed lets the tests of package dispatch_test compare the error.
var ErrFollowerClosed = events.ErrFollowerClosed
