package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/recorder"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

type callsOptions struct {
	program *cli.Program
	follow  bool
	json    bool
	verbose bool
	history historyOptions
}

func newCallsCmd(p *cli.Program) *cobra.Command {
	opts := callsOptions{program: p}
	cmd := cli.GroupCommands(&cobra.Command{
		Use:   "calls",
		Short: "List and follow calls, approve, deny and undo them",
		Long: `List the calls that are queued, running or waiting for approval, oldest first.
The calls that ended most recently are below them. A nested call is listed below
the call that made it.

With --since, --tool, --client or --failed, list the recorded calls, newest
first. No server is needed for that.

With --follow, print events until Ctrl-C: calls that are waiting for approval,
calls that end, and the progress and results that tools mark for the user.
--verbose prints all events and all progress.`,
		Example: `  opentabs calls
  opentabs calls show call_abc --timing
  opentabs calls show call_abc --follow
  opentabs calls approve call_abc --this-session
  opentabs calls --follow --json | jq .call.status
  opentabs calls --since 2h --failed
  opentabs calls --since 2026-11-20 --tool messages --json
  opentabs calls cancel call_abc
  opentabs calls undo call_abc`,
	}, newCallsShowCmd(p), newCallsApproveCmd(p), newCallsDenyCmd(p), newCallsCancelCmd(p), newCallsUndoCmd(p))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opts.history.isSet() {
			return runHistory(opts)
		}
		return runCalls(cmd.Context(), opts)
	}
	opts.history.addFlags(cmd)
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "print each change until Ctrl-C")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON with all fields; with --follow one event per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "also show what the tool does not mark for the user")
	return cmd
}

func runCalls(ctx context.Context, opts callsOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	if opts.follow {
		return callview.Follow(ctx, client.Calls, opts.program.Out, callview.Options{Verbose: opts.verbose, JSON: opts.json})
	}
	calls, err := client.Calls.List(ctx)
	if err != nil {
		return err
	}
	terminalOut := opts.program.Out
	if opts.json {
		if calls == nil {
			calls = []dispatch.View{}
		}
		return terminalOut.PrintValue(calls)
	}
	if len(calls) == 0 {
		terminalOut.Notef("there are no calls yet; make one with `opentabs call`")
		return nil
	}
	printCalls(terminalOut, callview.Rows(calls, opts.verbose, time.Now()), "CLIENT", "RAN", "PROGRESS")
	if waitingSummary := callview.WaitingSummary(calls); waitingSummary != "" {
		terminalOut.Notef("%s: see `opentabs calls show CALL`, then run `opentabs calls approve CALL` or `opentabs calls deny CALL`", waitingSummary)
	}
	return nil
}

func printCalls(terminalOut *terminal.Output, tableRows [][]string, optionalColumns ...string) {
	if columns, _ := terminalOut.Size(); terminalOut.IsTerminal() {
		callview.ShortenCells(tableRows, columns, time.Now())
	}
	terminalOut.PrintTable("", tableRows, optionalColumns...)
}

type callsShowOptions struct {
	program *cli.Program
	id      string
	follow  bool
	timing  bool
	json    bool
	verbose bool
}

func newCallsShowCmd(p *cli.Program) *cobra.Command {
	opts := callsShowOptions{program: p}
	cmd := &cobra.Command{
		Use:   "show CALL",
		Short: "Show one call with its history, progress and activities",
		Long: `Show one call, by its id or the beginning of the id: its tool and caller, its
history, the approval it waits for, its progress and its activities. A call that
has ended is also shown with its arguments and its approval, from the record of
the call, if calls are recorded. Without --verbose, only what the tool marks for
the user is shown.

With --timing, show where the time went: one line for each phase between the
client and the page. A call has all phases if no other call was traced in the
100 ms before it. For other calls, the waits and the run are shown.

With --follow, show changes until the call ends. On a terminal the view is
updated in place. In a pipe each change is one line, and a change of an activity
prints the lines that changed.`,
		Example: `  opentabs calls show call_abc
  opentabs calls show call_abc --follow
  opentabs calls show call_abc --json | jq .activities`,
		Args: cli.RequireArgs(1, "the id of the call"),
		RunE: cli.ActionWithArg(&opts.id, func(ctx context.Context) error { return runCallsShow(ctx, opts) }),
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "show changes until the call ends")
	cmd.Flags().BoolVar(&opts.timing, "timing", false, "show where the time went")
	cmd.MarkFlagsMutuallyExclusive("follow", "timing")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --follow the call, then one event per line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "also show what the tool does not mark for the user")
	return cmd
}

func runCallsShow(ctx context.Context, opts callsShowOptions) error {
	terminalOut := opts.program.Out
	client, err := opts.program.NewClient(ctx)
	if errors.Is(err, httpapi.ErrNoServer) && !opts.follow {
		return showRecord(opts)
	}
	if err != nil {
		return err
	}
	if opts.id, err = findRecordedCallID(ctx, opts.program, client, opts.id); err != nil {
		return err
	}
	if opts.follow {
		return callview.Watch(ctx, client, opts.id, terminalOut, callview.Options{Verbose: opts.verbose, JSON: opts.json})
	}
	callRecord, err := client.Calls.Get(ctx, opts.id)
	if errors.Is(err, httpapi.ErrUnknown) {
		return callview.NewUnknownCallError(opts.id)
	}
	if err != nil {
		return err
	}
	return printRecord(opts, callRecord)
}

func printRecord(opts callsShowOptions, callRecord recorder.Record) error {
	terminalOut := opts.program.Out
	switch {
	case opts.json && opts.timing:
		return terminalOut.PrintValue(callview.NewCallTiming(callRecord.View, time.Now()))
	case opts.json:
		return terminalOut.PrintValue(callRecord)
	case opts.timing:
		callview.PrintTiming(terminalOut, callRecord.View, time.Now())
	default:
		callview.PrintRecord(terminalOut, callRecord, opts.verbose)
	}
	return nil
}

type callsDecideOptions struct {
	program     *cli.Program
	id          string
	allow       bool
	always      bool
	session     bool
	duration    time.Duration
	hasDuration bool
	json        bool
}

func newCallsApproveCmd(p *cli.Program) *cobra.Command {
	opts := callsDecideOptions{program: p, allow: true}
	cmd := &cobra.Command{
		Use:   "approve [CALL]",
		Short: "Approve a call, or confirm that you are done",
		Long: `Approve a call that is waiting for approval; opentabs calls show CALL shows what
it wants to do. CALL is the id of the call or the beginning of the id; without
CALL, the only call that waits.

Without a flag, only this call is approved. A flag also approves later calls of
the same client, or of the same plugin. If the call waits for you to do
something, such as a login, the command confirms that you are done.`,
		Example: `  opentabs calls approve
  opentabs calls approve call_abc
  opentabs calls approve call_abc --this-session
  opentabs calls approve call_abc --for 10m
  opentabs calls approve call_abc --always`,
		Args: cli.LimitArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.id = args[0]
			}
			opts.hasDuration = cmd.Flags().Changed("for")
			return runCallsDecide(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.always, "always", false, "also approve all later calls of this tool by the same caller")
	cmd.Flags().BoolVar(&opts.session, "this-session", false, "also approve calls of this tool until the session of the client ends")
	cmd.Flags().DurationVar(&opts.duration, "for", 0, "also approve calls of this tool for this `TIME`, such as 10m")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func newCallsDenyCmd(p *cli.Program) *cobra.Command {
	opts := callsDecideOptions{program: p}
	cmd := &cobra.Command{
		Use:     "deny [CALL]",
		Short:   "Deny a call that is waiting for approval",
		Long:    "Deny a call that is waiting for approval, by its id or the beginning of the id;\nwithout CALL, the only call that waits.",
		Example: "  opentabs calls deny\n  opentabs calls deny call_abc",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.id, func(ctx context.Context) error { return runCallsDecide(ctx, opts) }),
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

// decidedCall is the output of `opentabs calls approve --json` and `opentabs calls deny
// --json`.
type decidedCall struct {
	CallID  string     `json:"call_id"`
	Allowed bool       `json:"allowed"`
	Scope   wire.Scope `json:"scope,omitempty"`
}

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
		return "", cli.NewUsageError("--always, --this-session and --for exclude each other: use one of them")
	case opts.hasDuration && (opts.duration < time.Second || opts.duration > dispatch.MaxTimedApproval):
		return "", cli.NewUsageError("--for is %s: give it a time from 1s to 24h", opts.duration)
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
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	if opts.id, err = callview.FindID(ctx, client.Calls, opts.id, callview.Waiting); err != nil {
		return err
	}
	decisionText, err := callview.Decide(ctx, client.Calls, opts.id, callview.Choice{Allow: opts.allow, Scope: scope, For: opts.duration})
	if err != nil {
		return err
	}
	decisionOutput := decidedCall{CallID: opts.id, Allowed: opts.allow}
	if opts.allow {
		decisionOutput.Scope = scope
	}
	return opts.program.Report(opts.json, decisionOutput, "%s", decisionText)
}

type callsCancelOptions struct {
	program *cli.Program
	id      string
	reason  string
	json    bool
}

// cancelledCall is the output of `opentabs calls cancel --json`. Cancelled is false if
// the call had already ended before the command ran.
type cancelledCall struct {
	CallID    string `json:"call_id"`
	Cancelled bool   `json:"cancelled"`
}

func newCallsCancelCmd(p *cli.Program) *cobra.Command {
	opts := callsCancelOptions{program: p}
	cmd := &cobra.Command{
		Use:   "cancel [CALL]",
		Short: "Stop a call",
		Long:  "Stop a call, by its id or the beginning of the id; without CALL, the only call\nthat runs or waits.",
		Example: `  opentabs calls cancel
  opentabs calls cancel call_abc
  opentabs calls cancel call_abc --reason "the wrong channel"`,
		Args: cli.LimitArgs(1),
		RunE: cli.ActionWithArg(&opts.id, func(ctx context.Context) error { return runCallsCancel(ctx, opts) }),
	}
	cmd.Flags().StringVar(&opts.reason, "reason", "", "the reason, a `TEXT` for the tool and the audit log")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runCallsCancel(ctx context.Context, opts callsCancelOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	if opts.id, err = callview.FindID(ctx, client.Calls, opts.id, callview.Open); err != nil {
		return err
	}
	cancelled, err := client.Calls.Cancel(ctx, opts.id, opts.reason)
	if err != nil {
		return err
	}
	result := cancelledCall{CallID: opts.id, Cancelled: cancelled}
	if !cancelled {
		return opts.program.Report(opts.json, result, "%s has already ended", opts.id)
	}
	return opts.program.Report(opts.json, result, "cancelled %s", opts.id)
}
