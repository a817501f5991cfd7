package callview

import (
	"context"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

// Follow prints the events of all calls until ctx is cancelled, and then returns nil. If
// the server stops, Follow returns httpapi.ErrEnded.
func Follow(ctx context.Context, calls httpapi.CallsClient, out *terminal.Output, o Options) error {
	var filter dispatch.FollowOptions
	if !o.Verbose && !o.JSON {
		filter.Audience = dispatch.AudienceUser
	}
	err := calls.Follow(ctx, filter, httpapi.Listener{
		Following: func() error {
			out.Notef("following; stop with Ctrl-C")
			return nil
		},
		Event: func(e dispatch.Event, raw []byte) error {
			if o.JSON {
				return out.PrintJSONLine(raw)
			}
			out.PrintText(EventLine(e, o.Verbose))
			return nil
		},
		Missed: func(n int) error {
			out.Notef("%s were missed", terminal.Plural(n, "event"))
			return nil
		},
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
