package dispatch

import "opentabs/dispatch/events"

// ErrFollowerClosed exports the error of closed followers to the tests in package
// dispatch_test.
var ErrFollowerClosed = events.ErrFollowerClosed
