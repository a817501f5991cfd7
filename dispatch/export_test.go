package dispatch

// ErrFollowerClosed lets the tests of package dispatch_test compare the error.
var ErrFollowerClosed = errFollowerClosed
