package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/wire"
)

type callsDecideOptions struct {
	program *program
	id      string
	allow   bool
	// always, session and duration are how far it goes; none of them means once.
	always   bool
	session  bool
	duration time.Duration
	timed    bool
}

func newCallsApproveCmd(p *program) *cobra.Command {
	opts := callsDecideOptions{program: p, allow: true}
	cmd := &cobra.Command{
		Use:   "approve CALL",
		Short: "Allow a call that waits for you, or tell it that you are done",
		Long: `Allow a call that waits for your permission; ` + "`opentabs calls show CALL`" + ` shows what
it wants to do. Without a flag this call only is allowed. A call that waits for
something else, as a log-in, goes on.`,
		Example: `  opentabs calls approve call_abc
  opentabs calls approve call_abc --this-session
  opentabs calls approve call_abc --for 10m
  opentabs calls approve call_abc --always`,
		Args: exactly(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id, opts.timed = args[0], cmd.Flags().Changed("for")
			return runCallsDecide(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.always, "always", false, "allow this tool from now on")
	cmd.Flags().BoolVar(&opts.session, "this-session", false, "allow this tool to this client until its session ends")
	cmd.Flags().DurationVar(&opts.duration, "for", 0, "allow this tool for some `TIME`, such as 10m")
	return cmd
}

func newCallsDenyCmd(p *program) *cobra.Command {
	opts := callsDecideOptions{program: p}
	return &cobra.Command{
		Use:     "deny CALL",
		Short:   "Refuse a call that waits for you",
		Example: "  opentabs calls deny call_abc",
		Args:    exactly(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsDecide(cmd.Context(), opts)
		},
	}
}

// scope is how far the decision goes.
func (opts callsDecideOptions) scope() (wire.Scope, error) {
	chosen := []wire.Scope{}
	for scope, given := range map[wire.Scope]bool{
		wire.ScopeAlways: opts.always, wire.ScopeSession: opts.session, wire.ScopeTime: opts.timed,
	} {
		if given {
			chosen = append(chosen, scope)
		}
	}
	switch {
	case len(chosen) > 1:
		return "", usage("--always, --this-session and --for exclude each other: use one of them")
	case opts.timed && (opts.duration < time.Second || opts.duration > dispatch.MaxScopeTime):
		return "", usage("--for is %s: give it a time from 1s to 24h", opts.duration)
	case len(chosen) == 1:
		return chosen[0], nil
	}
	return wire.ScopeOnce, nil
}

func runCallsDecide(ctx context.Context, opts callsDecideOptions) error {
	scope, err := opts.scope()
	if err != nil {
		return err
	}
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	v, err := client.Call(ctx, opts.id)
	if err != nil {
		return err
	}
	if v.Waiting == nil {
		return nothingToDecide(v)
	}
	if opts.allow && !slices.Contains(v.Waiting.Scopes, scope) {
		return usage("%s can be allowed %s: use one of these", v.CallID, callview.Offers(v.Waiting.Scopes))
	}
	done, err := client.Decide(ctx, v.CallID, opts.decision(*v.Waiting, scope))
	switch {
	case err != nil:
		return err
	case done.Outcome == wire.DecideAlready:
		return decidedBefore(v.CallID, done.Allowed, done.By)
	case done.Outcome != wire.DecideTaken:
		return tooLate("%s no longer waits: it has ended, or was withdrawn", v.CallID)
	}
	opts.program.out.Notef("%s", decisionSentence(v, opts.allow, scope, opts.duration))
	return nil
}

// decision is about the question that was just looked at, and no later one.
func (opts callsDecideOptions) decision(w dispatch.Waiting, scope wire.Scope) httpapi.Decision {
	d := httpapi.Decision{Allow: &opts.allow, TicketID: w.TicketID}
	if opts.allow {
		d.Scope, d.ForMs = scope, opts.duration.Milliseconds()
	}
	return d
}

func decisionSentence(v dispatch.View, allowed bool, scope wire.Scope, d time.Duration) string {
	tool := terminal.SafeLine(v.ToolName)
	switch {
	case !allowed:
		return "denied " + tool
	case v.Waiting.Kind == wire.TicketUser:
		return tool + " goes on"
	}
	return "allowed " + tool + " " + callview.ScopeText(scope, d)
}

// nothingToDecide says why a call does not wait.
func nothingToDecide(v dispatch.View) error {
	if v.Ended != nil {
		return tooLate("%s has ended (%s): there is nothing to decide", v.CallID, callview.Status(v))
	}
	for _, m := range slices.Backward(v.Timeline) {
		if m.Kind == dispatch.EventResumed && m.Resolution != nil {
			return decidedBefore(v.CallID, m.Resolution.Allow, m.Resolution.By)
		}
	}
	return tooLate("%s waits for nobody: there is nothing to decide", v.CallID)
}

func decidedBefore(id string, allowed bool, by string) error {
	what := "denied"
	if allowed {
		what = "allowed"
	}
	return tooLate("%s was %s already, by %s", id, what, terminal.SafeLine(by))
}

func tooLate(format string, args ...any) error {
	return &failure{code: exitTooLate, err: fmt.Errorf(format, args...)}
}
