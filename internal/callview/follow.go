package callview

import (
	"context"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

// Follow prints the events of all calls until ctx is cancelled, and then returns nil. If
// the server stops, Follow returns httpapi.ErrStreamEnded.
func Follow(ctx context.Context, calls httpapi.CallsClient, terminalOut *terminal.Output, o Options) error {
	var filter dispatch.SubscribeOptions
	if !o.Verbose && !o.JSON {
		filter.Audience = dispatch.AudienceUser
	}
	err := calls.Follow(ctx, filter, httpapi.Listener{
		StreamStarted: func() error {
			terminalOut.Notef("following; stop with Ctrl-C")
			return nil
		},
		Event: func(e dispatch.Event, rawJSON []byte) error {
			if o.JSON {
				return terminalOut.PrintJSONLine(rawJSON)
			}
			terminalOut.PrintText(EventLine(e, o.Verbose))
			return nil
		},
		Missed: func(n int) error {
			terminalOut.Notef("%s were missed", terminal.CountNoun(n, "event"))
			return nil
		},
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
