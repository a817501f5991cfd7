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
		Short: "Show all of one call: its way, its progress, what its tool shows",
		Long: `Show one call: what it is, its way so far, the question it waits with, its
progress and its activities. What its tool does not mean for people is left out;
--verbose shows it.

With --follow, go on until the call ends: on a terminal the picture is drawn anew
in its place, in a pipe each change is a line, and of an activity the lines that
changed.`,
		Example: `  opentabs calls show call_abc
  opentabs calls show call_abc --follow
  opentabs calls show call_abc --json | jq .activities`,
		Args: exactly(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsShow(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "go on until the call ends")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --follow the call, then one event a line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "show what is not meant for people too")
	return cmd
}

func runCallsShow(ctx context.Context, opts callsShowOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.follow {
		err := callview.Watch(ctx, client, opts.id, out, callview.Options{Verbose: opts.verbose, JSON: opts.json})
		return serverStopped(err)
	}
	v, err := client.Call(ctx, opts.id)
	if err != nil {
		return err
	}
	if opts.json {
		return out.PrintValue(v)
	}
	callview.Print(out, v, opts.verbose)
	return nil
}
