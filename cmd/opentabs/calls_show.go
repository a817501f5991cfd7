package main

import (
	"context"
	"opentabs/internal/callview"

	"github.com/spf13/cobra"
)

type callsShowOptions struct {
	program *program
	id      string
	follow  bool
	json    bool
	verbose bool
}

func newCallsShowCmd(p *program) *cobra.Command {
	opts := callsShowOptions{program: p}
	cmd := &cobra.Command{
		Use:   "show CALL",
		Short: "Show one call with its history, progress and activities",
		Long: `Show one call: its tool and caller, its history, the approval it waits for, its
progress and its activities. Without --verbose, only what the tool marks for the
user is shown.

With --follow, show changes until the call ends. On a terminal the view is
updated in place. In a pipe each change is one line, and a change of an activity
prints the lines that changed.`,
		Example: `  opentabs calls show call_abc
  opentabs calls show call_abc --follow
  opentabs calls show call_abc --json | jq .activities`,
		Args: requireArgs(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsShow(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "show changes until the call ends")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --follow the call, then one event per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "also show what the tool does not mark for the user")
	return cmd
}

func runCallsShow(ctx context.Context, opts callsShowOptions) error {
	client, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.follow {
		err := callview.Watch(ctx, client, opts.id, out, callview.Options{Verbose: opts.verbose, JSON: opts.json})
		return serverStopped(err)
	}
	v, err := client.Calls.Get(ctx, opts.id)
	if err != nil {
		return err
	}
	if opts.json {
		return out.PrintValue(v)
	}
	callview.Print(out, v, opts.verbose)
	return nil
}
