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
	// always, session and duration are the scope of an approval. Without them the
	// approval is for this call only.
	always   bool
	session  bool
	duration time.Duration
	timed    bool
}

func newCallsApproveCmd(p *program) *cobra.Command {
	opts := callsDecideOptions{program: p, allow: true}
	cmd := &cobra.Command{
		Use:   "approve CALL",
		Short: "Allow a call that waits for you, or confirm that you are done",
		Long: `Allow a call that waits for your permission; ` + "`opentabs calls show CALL`" + ` shows
what it wants to do. Without a flag, only this call is allowed. If the call
waits for you to do something, such as a login, this confirms that you are done.`,
		Example: `  opentabs calls approve call_abc
  opentabs calls approve call_abc --this-session
  opentabs calls approve call_abc --for 10m
  opentabs calls approve call_abc --always`,
		Args: requireArgs(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id, opts.timed = args[0], cmd.Flags().Changed("for")
			return runCallsDecide(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.always, "always", false, "allow this tool from now on")
	cmd.Flags().BoolVar(&opts.session, "this-session", false, "allow this tool to this client until its session ends")
	cmd.Flags().DurationVar(&opts.duration, "for", 0, "allow this tool for this `TIME`, such as 10m")
	return cmd
}

func newCallsDenyCmd(p *program) *cobra.Command {
	opts := callsDecideOptions{program: p}
	return &cobra.Command{
		Use:     "deny CALL",
		Short:   "Deny a call that waits for you",
		Example: "  opentabs calls deny call_abc",
		Args:    requireArgs(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsDecide(cmd.Context(), opts)
		},
	}
}

// scope returns the scope of an approval, as the flags set it.
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
	client, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	v, err := client.Calls.Get(ctx, opts.id)
	if err != nil {
		return err
	}
	if v.Waiting == nil {
		return nothingToDecide(v)
	}
	if opts.allow && !slices.Contains(v.Waiting.Scopes, scope) {
		return usage("%s can be allowed %s: use one of these", v.CallID, callview.Offers(v.Waiting.Scopes))
	}
	done, err := client.Calls.Decide(ctx, v.CallID, opts.decision(*v.Waiting, scope))
	switch {
	case err != nil:
		return err
	case done.Outcome == wire.DecisionAlreadyMade:
		return decidedBefore(v.CallID, done.Allowed, done.By)
	case done.Outcome != wire.DecisionAccepted:
		return tooLate("%s is no longer waiting: it has ended, or the request was withdrawn", v.CallID)
	}
	opts.program.out.Notef("%s", decisionSentence(v, opts.allow, scope, opts.duration))
	return nil
}

// decision returns the request for the ticket that was just read, not for a later one.
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
		return tool + " continues"
	}
	return "allowed " + tool + " " + callview.ScopeText(scope, d)
}

// nothingToDecide returns the reason why a call is not waiting.
func nothingToDecide(v dispatch.View) error {
	if v.Ended != nil {
		return tooLate("%s has already ended (%s)", v.CallID, callview.Status(v))
	}
	for _, m := range slices.Backward(v.Timeline) {
		if m.Kind == dispatch.EventResumed && m.Resolution != nil {
			return decidedBefore(v.CallID, m.Resolution.Allow, m.Resolution.By)
		}
	}
	return tooLate("%s is not waiting for approval", v.CallID)
}

func decidedBefore(id string, allowed bool, by string) error {
	what := "denied"
	if allowed {
		what = "allowed"
	}
	return tooLate("%s was already %s, by %s", id, what, terminal.SafeLine(by))
}

func tooLate(format string, args ...any) error {
	return &failure{code: exitTooLate, err: fmt.Errorf(format, args...)}
}
