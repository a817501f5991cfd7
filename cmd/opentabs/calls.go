package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
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
		Short: "List the calls, or follow them",
		Long: `List the calls that run or wait, oldest first, then the last ones that ended.
With --follow, print each change until Ctrl-C: every begin and end, and the
progress that tools report for people; --verbose prints all progress.`,
		Example: `  opentabs calls
  opentabs calls --follow
  opentabs calls --follow --json | jq .call.status
  opentabs calls cancel call_abc`,
	}, newCallsCancelCmd(p))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runCalls(cmd.Context(), opts) }
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "print each change until Ctrl-C")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --follow one event a line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "print progress that is not meant for people too")
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
		return out.value(list)
	}
	if len(list) == 0 {
		out.say("there were no calls yet; make one with `opentabs call`")
		return nil
	}
	rows := [][]string{{"CALL", "TOOL", "STATUS", "PROGRESS", "RAN", "CLIENT", "LAST WORD"}}
	for _, v := range list {
		rows = append(rows, callRow(v))
	}
	out.table("", rows)
	return nil
}

func callRow(v dispatch.View) []string {
	progress := ""
	if v.Progress != nil {
		progress = percent(*v.Progress)
	}
	word := v.Message
	if v.Error != "" {
		word = v.Error
	}
	return []string{v.CallID, v.ToolName, callStatus(v), progress, spell(ran(v)), v.Client, word}
}

// callStatus is the status, and for a call that failed the reason.
func callStatus(v dispatch.View) string {
	if v.ErrorCode == "" || string(v.ErrorCode) == string(v.Status) {
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
	err := client.Follow(ctx, dispatch.FollowOptions{}, httpapi.Listener{
		Following: func() error {
			out.say("following; stop with Ctrl-C")
			return nil
		},
		Event: func(e dispatch.Event, raw []byte) error {
			if opts.json {
				return out.jsonLine(raw)
			}
			if opts.verbose || isForPeople(e) {
				out.text(eventLine(e))
			}
			return nil
		},
		Missed: func(n int) error {
			out.say("%s were missed", plural(n, "event"))
			return nil
		},
	})
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, httpapi.ErrEnded) {
		err = &failure{code: exitNoServer, err: errors.New("the server has stopped; start it with `opentabs serve`")}
	}
	return err
}

// isForPeople reports whether an event is shown without --verbose. A tool says
// for whom a report is; begin and end are for everybody.
func isForPeople(e dispatch.Event) bool {
	return e.Kind != dispatch.EventProgress || e.Report != nil && e.Report.Audience == "user"
}

func eventLine(e dispatch.Event) string {
	v := e.Call
	line := fmt.Sprintf("%s  %s  %s", e.Time.Local().Format("15:04:05.000"), v.CallID, oneLine(v.ToolName))
	switch e.Kind {
	case dispatch.EventCreated:
		line += "  waiting"
		if v.Client != "" {
			line += ", asked for by " + oneLine(v.Client)
		}
	case dispatch.EventRunning:
		line += "  running"
		if v.TabID != 0 {
			line += fmt.Sprintf(" in tab %d of %s", v.TabID, oneLine(v.Browser))
		}
	case dispatch.EventProgress:
		line += "  progress"
		if v.Progress != nil {
			line += " " + percent(*v.Progress)
		}
		if e.Report != nil && e.Report.Message != "" {
			line += "  " + oneLine(e.Report.Message)
		}
	case dispatch.EventEnded:
		line += fmt.Sprintf("  %s after %s", callStatus(v), spell(ran(v)))
		if v.Status == wire.StatusFailed && v.Error != "" {
			line += ": " + oneLine(v.Error)
		}
	case dispatch.EventStopped:
		line += fmt.Sprintf("  the page answered the stop: %s", v.Stopped)
	default:
		line += "  " + string(e.Kind)
	}
	return line
}

type callsCancelOptions struct {
	program *program
	id      string
}

func newCallsCancelCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "cancel CALL",
		Short:   "Stop a call",
		Example: "  opentabs calls cancel call_abc",
		Args:    exactly(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCallsCancel(cmd.Context(), callsCancelOptions{program: p, id: args[0]})
		},
	}
}

func runCallsCancel(ctx context.Context, opts callsCancelOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	cancelled, err := client.Cancel(ctx, opts.id)
	if err != nil {
		return err
	}
	if !cancelled {
		opts.program.out.say("%s had ended already", opts.id)
		return nil
	}
	opts.program.out.say("cancelled %s", opts.id)
	return nil
}
