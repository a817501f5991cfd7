package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
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
	cmd := group(&cobra.Command{
		Use:   "calls",
		Short: "List the calls, follow them, decide about those that wait for you",
		Long: `List the calls that run or wait, oldest first, then the last ones that ended. A
call that another call made stands below it.

With --follow, print what concerns you until Ctrl-C: what waits for you, every
end, and the progress and results that tools mean for people. --verbose shows
all progress, and prints all changes.`,
		Example: `  opentabs calls
  opentabs calls show call_abc --follow
  opentabs calls approve call_abc --this-session
  opentabs calls --follow --json | jq .call.status
  opentabs calls cancel call_abc`,
	}, newCallsShowCmd(p), newCallsApproveCmd(p), newCallsDenyCmd(p), newCallsCancelCmd(p))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runCalls(cmd.Context(), opts) }
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "print each change until Ctrl-C")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON, all of it; with --follow one event a line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "show what is not meant for people too")
	return cmd
}

func runCalls(ctx context.Context, opts callsOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	if opts.follow {
		return followCalls(ctx, client, opts)
	}
	list, err := client.Calls(ctx)
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
		out.Notef("there were no calls yet; make one with `opentabs call`")
		return nil
	}
	out.PrintTable("", callRows(list, opts.verbose, time.Now()), "CLIENT", "RAN", "PROGRESS")
	if n := waitingCalls(list); n > 0 {
		out.Notef("%s for you: look with `opentabs calls show CALL`, then `opentabs calls approve CALL` or `opentabs calls deny CALL`", terminal.Agree(n, "call waits", "calls wait"))
	}
	return nil
}

func waitingCalls(list []dispatch.View) int {
	n := 0
	for _, v := range list {
		if v.Waiting != nil {
			n++
		}
	}
	return n
}

// callRows are the rows of the list, its head first. The column for what waits
// for a person is there only if something does.
func callRows(list []dispatch.View, verbose bool, now time.Time) [][]string {
	const waits = 6
	rows := [][]string{{"CALL", "TOOL", "STATUS", "PROGRESS", "RAN", "CLIENT", "WAITS FOR", "LAST WORD"}}
	for _, one := range inTrees(list) {
		rows = append(rows, callRow(one.View, one.below, verbose, now))
	}
	if waitingCalls(list) == 0 {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], waits, waits+1)
		}
	}
	return rows
}

// treeCall is a call and how many of the list's calls are above it.
type treeCall struct {
	dispatch.View
	below int
}

// inTrees puts each call that another one of the list made below that, in the
// order they came in.
func inTrees(list []dispatch.View) []treeCall {
	known, made := map[string]bool{}, map[string][]dispatch.View{}
	for _, v := range list {
		known[v.CallID] = true
	}
	for _, v := range list {
		if known[v.ParentCallID] {
			made[v.ParentCallID] = append(made[v.ParentCallID], v)
		}
	}
	var rows []treeCall
	var add func(v dispatch.View, below int)
	add = func(v dispatch.View, below int) {
		rows = append(rows, treeCall{v, below})
		children := made[v.CallID]
		slices.SortStableFunc(children, func(a, b dispatch.View) int { return a.Created.Compare(b.Created) })
		for _, child := range children {
			add(child, below+1)
		}
	}
	for _, v := range list {
		if !known[v.ParentCallID] {
			add(v, 0)
		}
	}
	return rows
}

func callRow(v dispatch.View, below int, verbose bool, now time.Time) []string {
	part, word := v.Progress, messageWithStatus(v.UserStatusWord, v.UserMessage)
	if verbose {
		word = messageWithStatus(v.StatusWord, v.Message)
	}
	if result := v.ShownResult(false); result != "" {
		word = result
	}
	waits := ""
	switch {
	case v.Error != "":
		word = v.Error
	case v.Waiting != nil:
		waits, word = waitsFor(*v.Waiting, now), v.Waiting.Reason
	}
	progress := ""
	if part != nil {
		progress = terminal.Percent(*part)
	}
	return []string{
		v.CallID, strings.Repeat("  ", below) + v.ToolName, callStatus(v), progress, terminal.Elapsed(ran(v)), v.Who().String(), waits, terminal.SafeLine(word),
	}
}

// waitsFor says what of a person a call waits for, and how long it will.
func waitsFor(w dispatch.Waiting, now time.Time) string {
	what := "your permission"
	if w.Kind == wire.TicketUser {
		what = "you"
	}
	return fmt.Sprintf("%s, %s left", what, terminal.Elapsed(max(0, w.Until.Sub(now))))
}

// callStatus is the status, and for a call that failed the reason.
func callStatus(v dispatch.View) string {
	switch {
	case v.Waiting != nil:
		return "suspended"
	case v.ErrorCode == "" || string(v.ErrorCode) == string(v.Status):
		return string(v.Status)
	}
	return fmt.Sprintf("%s (%s)", v.Status, v.ErrorCode)
}

func ran(v dispatch.View) time.Duration {
	return time.Duration(v.RunMs * float64(time.Millisecond))
}

// followCalls prints changes until ctx ends, which is no failure.
func followCalls(ctx context.Context, client *httpapi.Client, opts callsOptions) error {
	out := opts.program.out
	var filter dispatch.FollowOptions
	if !opts.verbose && !opts.json {
		filter.Audience = dispatch.AudienceUser
	}
	err := client.Follow(ctx, filter, httpapi.Listener{
		Following: func() error {
			out.Notef("following; stop with Ctrl-C")
			return nil
		},
		Event: func(e dispatch.Event, raw []byte) error {
			if opts.json {
				return out.PrintJSONLine(raw)
			}
			out.PrintText(eventLine(e, opts.verbose))
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

// serverStopped says what the end of a stream means.
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
		Args: exactly(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsCancel(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.reason, "reason", "", "why, as a `TEXT` for the tool and the record")
	return cmd
}

func runCallsCancel(ctx context.Context, opts callsCancelOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	cancelled, err := client.Cancel(ctx, opts.id, opts.reason)
	if err != nil {
		return err
	}
	if !cancelled {
		opts.program.out.Notef("%s had ended already", opts.id)
		return nil
	}
	opts.program.out.Notef("cancelled %s", opts.id)
	return nil
}
