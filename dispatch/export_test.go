package dispatch

import "opentabs/dispatch/events"

var ErrFollowerClosed = events.ErrFollowerClosed
