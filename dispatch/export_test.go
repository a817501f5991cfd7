package dispatch

import "opentabs/dispatch/events"

var ErrSubscriberClosed = events.ErrSubscriberClosed

const PermissionChange = permissionChange
