package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

type callsOptions struct {
	program *program
	follow  bool
	json    bool
	verbose bool
}

func newCallsCmd(p *program) *cobra.Command {
	opts := callsOptions{program: p}
	cmd := groupCommands(&cobra.Command{
		Use:   "calls",
		Short: "List and follow calls, and approve or deny them",
		Long: `List the calls that are queued, running or waiting for approval, oldest first.
The calls that ended most recently are below them. A nested call is listed below
the call that made it.

With --follow, print events until Ctrl-C: calls that are waiting for approval,
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
	client, err := opts.program.newClient(ctx)
	if err != nil {
		return err
	}
	if opts.follow {
		return callview.Follow(ctx, client.Calls, opts.program.out, callview.Options{Verbose: opts.verbose, JSON: opts.json})
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
		out.Notef("%s waiting for you: see `opentabs calls show CALL`, then run `opentabs calls approve CALL` or `opentabs calls deny CALL`", terminal.CountWithVerb(n, "call is", "calls are"))
	}
	return nil
}

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
		RunE: actionWithArg(&opts.id, func(ctx context.Context) error { return runCallsShow(ctx, opts) }),
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "show changes until the call ends")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --follow the call, then one event per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "also show what the tool does not mark for the user")
	return cmd
}

func runCallsShow(ctx context.Context, opts callsShowOptions) error {
	client, err := opts.program.newClient(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.follow {
		return callview.Watch(ctx, client, opts.id, out, callview.Options{Verbose: opts.verbose, JSON: opts.json})
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

type callsDecideOptions struct {
	program *program
	id      string
	allow   bool
	// always, session and duration are the flags that set the scope of an approval. By
	// default, an approval is for one call.
	always      bool
	session     bool
	duration    time.Duration
	hasDuration bool
}

func newCallsApproveCmd(p *program) *cobra.Command {
	opts := callsDecideOptions{program: p, allow: true}
	cmd := &cobra.Command{
		Use:   "approve CALL",
		Short: "Approve a call, or confirm that you are done",
		Long: `Approve a call that is waiting for approval; opentabs calls show CALL shows what
it wants to do. Without a flag, only this call is approved. A flag also approves
later calls of the same client, or of the same plugin. If the call waits for you
to do something, such as a login, the command confirms that you are done.`,
		Example: `  opentabs calls approve call_abc
  opentabs calls approve call_abc --this-session
  opentabs calls approve call_abc --for 10m
  opentabs calls approve call_abc --always`,
		Args: requireArgs(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id, opts.hasDuration = args[0], cmd.Flags().Changed("for")
			return runCallsDecide(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.always, "always", false, "also approve all later calls of this tool by the same caller")
	cmd.Flags().BoolVar(&opts.session, "this-session", false, "also approve calls of this tool until the session of the client ends")
	cmd.Flags().DurationVar(&opts.duration, "for", 0, "also approve calls of this tool for this `TIME`, such as 10m")
	return cmd
}

func newCallsDenyCmd(p *program) *cobra.Command {
	opts := callsDecideOptions{program: p}
	return &cobra.Command{
		Use:     "deny CALL",
		Short:   "Deny a call that is waiting for approval",
		Example: "  opentabs calls deny call_abc",
		Args:    requireArgs(1, "the id of the call"),
		RunE:    actionWithArg(&opts.id, func(ctx context.Context) error { return runCallsDecide(ctx, opts) }),
	}
}

// chosenScope returns the scope that the flags of an approval select.
func (opts callsDecideOptions) chosenScope() (wire.Scope, error) {
	chosenScopes := []wire.Scope{}
	for scope, isGiven := range map[wire.Scope]bool{
		wire.ScopeAlways: opts.always, wire.ScopeSession: opts.session, wire.ScopeTime: opts.hasDuration,
	} {
		if isGiven {
			chosenScopes = append(chosenScopes, scope)
		}
	}
	switch {
	case len(chosenScopes) > 1:
		return "", newUsageError("--always, --this-session and --for exclude each other: use one of them")
	case opts.hasDuration && (opts.duration < time.Second || opts.duration > dispatch.MaxScopeTime):
		return "", newUsageError("--for is %s: give it a time from 1s to 24h", opts.duration)
	case len(chosenScopes) == 1:
		return chosenScopes[0], nil
	}
	return wire.ScopeOnce, nil
}

func runCallsDecide(ctx context.Context, opts callsDecideOptions) error {
	scope, err := opts.chosenScope()
	if err != nil {
		return err
	}
	client, err := opts.program.newClient(ctx)
	if err != nil {
		return err
	}
	sentence, err := callview.Decide(ctx, client.Calls, opts.id, callview.Choice{Allow: opts.allow, Scope: scope, For: opts.duration})
	if err == nil {
		opts.program.out.Notef("%s", sentence)
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
		RunE: actionWithArg(&opts.id, func(ctx context.Context) error { return runCallsCancel(ctx, opts) }),
	}
	cmd.Flags().StringVar(&opts.reason, "reason", "", "the reason, a `TEXT` for the tool and the audit log")
	return cmd
}

func runCallsCancel(ctx context.Context, opts callsCancelOptions) error {
	client, err := opts.program.newClient(ctx)
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
