package callview

import (
	"context"
	"errors"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
)

var errCallEnded = errors.New("the call has ended")

// WaitForEnd blocks until a call has ended and returns its final state. WaitForEnd calls
// onWaiting each time the call begins to wait for the user. If ctx is cancelled first,
// WaitForEnd returns the error of ctx.
func WaitForEnd(ctx context.Context, calls httpapi.CallsClient, id string, onWaiting func(dispatch.View)) (dispatch.View, error) {
	var lastView dispatch.View
	ticketID := ""
	update := func() error {
		callRecord, err := calls.Get(ctx, id)
		if err != nil {
			return err
		}
		lastView = callRecord.View
		if lastView.Ended != nil {
			return errCallEnded
		}
		if lastView.Waiting != nil && lastView.Waiting.TicketID != ticketID {
			ticketID = lastView.Waiting.TicketID
			onWaiting(lastView)
		}
		return nil
	}
	err := calls.Follow(ctx, dispatch.SubscribeOptions{CallID: id}, httpapi.Listener{
		StreamStarted: update,
		Event: func(e dispatch.Event, _ []byte) error {
			switch e.Kind {
			case dispatch.EventSuspended, dispatch.EventEnded:
				return update()
			}
			return nil
		},
		Missed: func(int) error { return update() },
	})
	if errors.Is(err, errCallEnded) {
		return lastView, nil
	}
	return lastView, err
}
