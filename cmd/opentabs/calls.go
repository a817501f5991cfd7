package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

type callsOptions struct {
	program *program
	follow  bool
	json    bool
	verbose bool
}

func newCallsCmd(p *program) *cobra.Command {
	opts := callsOptions{program: p}
	cmd := group(&cobra.Command{
		Use:   "calls",
		Short: "List and follow calls, and approve or deny them",
		Long: `List the calls that run or wait, oldest first, then the calls that ended last. A
nested call is listed below the call that made it.

With --follow, print events until Ctrl-C: calls that wait for your approval,
calls that end, and the progress and results that tools mark for the user.
--verbose prints all events and all progress.`,
		Example: `  opentabs calls
  opentabs calls show call_abc --follow
  opentabs calls approve call_abc --this-session
  opentabs calls --follow --json | jq .call.status
  opentabs calls cancel call_abc`,
	}, newCallsShowCmd(p), newCallsApproveCmd(p), newCallsDenyCmd(p), newCallsCancelCmd(p))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runCalls(cmd.Context(), opts) }
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "print each change until Ctrl-C")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON with all fields; with --follow one event per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "also show what the tool does not mark for the user")
	return cmd
}

func runCalls(ctx context.Context, opts callsOptions) error {
	client, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	if opts.follow {
		return followCalls(ctx, client, opts)
	}
	list, err := client.Calls.List(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.json {
		if list == nil {
			list = []dispatch.View{}
		}
		return out.PrintValue(list)
	}
	if len(list) == 0 {
		out.Notef("there are no calls yet; make one with `opentabs call`")
		return nil
	}
	out.PrintTable("", callview.Rows(list, opts.verbose, time.Now()), "CLIENT", "RAN", "PROGRESS")
	if n := callview.CountWaiting(list); n > 0 {
		out.Notef("%s for your approval: see `opentabs calls show CALL`, then run `opentabs calls approve CALL` or `opentabs calls deny CALL`", terminal.Agree(n, "call waits", "calls wait"))
	}
	return nil
}

// followCalls prints events until ctx ends, and then returns nil.
func followCalls(ctx context.Context, client *httpapi.Client, opts callsOptions) error {
	out := opts.program.out
	var filter dispatch.FollowOptions
	if !opts.verbose && !opts.json {
		filter.Audience = dispatch.AudienceUser
	}
	err := client.Calls.Follow(ctx, filter, httpapi.Listener{
		Following: func() error {
			out.Notef("following; stop with Ctrl-C")
			return nil
		},
		Event: func(e dispatch.Event, raw []byte) error {
			if opts.json {
				return out.PrintJSONLine(raw)
			}
			out.PrintText(callview.EventLine(e, opts.verbose))
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
	return serverStopped(err)
}

// serverStopped converts the end of an event stream to an error with a remedy.
func serverStopped(err error) error {
	if errors.Is(err, httpapi.ErrEnded) {
		return &failure{code: exitNoServer, err: errors.New("the server has stopped; start it with `opentabs serve`")}
	}
	return err
}

type callsCancelOptions struct {
	program *program
	id      string
	reason  string
}

func newCallsCancelCmd(p *program) *cobra.Command {
	opts := callsCancelOptions{program: p}
	cmd := &cobra.Command{
		Use:   "cancel CALL",
		Short: "Stop a call",
		Example: `  opentabs calls cancel call_abc
  opentabs calls cancel call_abc --reason "the wrong channel"`,
		Args: requireArgs(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsCancel(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.reason, "reason", "", "the reason, a `TEXT` for the tool and the audit log")
	return cmd
}

func runCallsCancel(ctx context.Context, opts callsCancelOptions) error {
	client, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	cancelled, err := client.Calls.Cancel(ctx, opts.id, opts.reason)
	if err != nil {
		return err
	}
	if !cancelled {
		opts.program.out.Notef("%s has already ended", opts.id)
		return nil
	}
	opts.program.out.Notef("cancelled %s", opts.id)
	return nil
}
