package dispatch

import (
	"fmt"

	"opentabs/wire"
)

// maxAttempts is the maximum number of documents in which opentabs tries to run one call.
const maxAttempts = 8

// The type attempts records the documents in which a call was tried. liveCall.mu guards
// all fields of attempts.
type attempts struct {
	runTarget      Target
	runID          string // the ID of the call, with a suffix such as ".2" from the second attempt on
	count          int
	hasOtherTarget bool
}

func (a *attempts) begin(callID string, targets []Target) {
	a.runTarget, a.hasOtherTarget = targets[0], len(targets) > 1
	a.runID = callID
	if a.count++; a.count > 1 {
		a.runID = fmt.Sprintf("%s.%d", callID, a.count)
	}
}

// The dispatcher tries a call in another document only if the tool's handler has not run.
func (a *attempts) canRetry(err *wire.CallError) bool {
	if a.count >= maxAttempts {
		return false
	}
	switch err.Code {
	case wire.ErrNotReady:
		return a.hasOtherTarget
	case wire.ErrTabFrozen:
		return a.hasOtherTarget && err.NotStarted
	case wire.ErrNavigated, wire.ErrTabClosed, wire.ErrPageCrashed, wire.ErrPageUnresponsive, wire.ErrTabDiscarded, wire.ErrBrowserLost, wire.ErrLinkLost:
		return err.NotStarted
	default:
		return false
	}
}
