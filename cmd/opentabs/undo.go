package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/cli"
	"opentabs/internal/httpapi"
	"opentabs/internal/toolcall"
	"opentabs/wire"
)

type callsUndoOptions struct {
	program *cli.Program
	id      string
	json    bool
}

// undoneCall is the JSON object that `opentabs calls undo --json` prints.
type undoneCall struct {
	CallID string `json:"call_id"`
	// UndoneBy is the ID of the new call that undid the call. Tool is the full name of
	// the tool that undid the call.
	UndoneBy string `json:"undone_by"`
	Tool     string `json:"tool"`
}

func newCallsUndoCmd(p *cli.Program) *cobra.Command {
	opts := callsUndoOptions{program: p}
	cmd := &cobra.Command{
		Use:   "undo CALL",
		Short: "Undo a call that is done",
		Long: `Undo a call that is done, by its id or the beginning of the id. opentabs calls
the tool that the author of the plugin declared for this; opentabs tools show
TOOL shows it. The call needs the same permission and approval as any other call
of that tool, and the command waits for its end. Ctrl-C cancels it.

A call is undone at most once. The result of a call is known for an hour, and
longer only if the setting recordResults is on.`,
		Example: "  opentabs calls undo call_abc\n  opentabs calls undo call_abc --json",
		Args:    cli.RequireArgs(1, "the id of the call"),
		RunE:    cli.ActionWithArg(&opts.id, func(ctx context.Context) error { return runCallsUndo(ctx, opts) }),
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runCallsUndo(ctx context.Context, opts callsUndoOptions) error {
	client, err := opts.program.NewClient(ctx)
	if err != nil {
		return err
	}
	if opts.id, err = findRecordedCallID(ctx, opts.program, client, opts.id); err != nil {
		return err
	}
	undoCallInfo, err := client.Calls.Undo(ctx, opts.id)
	if err != nil {
		return err
	}
	lastView, err := callview.WaitForEnd(ctx, client.Calls, undoCallInfo.CallID, func(v dispatch.View) {
		opts.program.Out.Notef("%s is waiting for approval: run `opentabs calls approve %s`, or decide in the side panel", v.ToolName, v.CallID)
	})
	switch {
	case ctx.Err() != nil:
		cancelUndo(ctx, client, undoCallInfo.CallID)
		return toolcall.ErrInterrupted
	case err != nil:
		return err
	case lastView.Status != wire.StatusDone:
		failureText := "the call was not undone: " + lastView.Error
		if lastView.NextStep != "" {
			failureText += ". " + lastView.NextStep
		}
		return toolcall.NewFailure(lastView.ErrorCode, failureText)
	}
	undoOutput := undoneCall{CallID: opts.id, UndoneBy: undoCallInfo.CallID, Tool: undoCallInfo.ToolName}
	return opts.program.Report(opts.json, undoOutput, "undid %s with %s (%s)", opts.id, undoCallInfo.ToolName, undoCallInfo.CallID)
}

const cancelTimeout = 2 * time.Second

func cancelUndo(ctx context.Context, client *httpapi.Client, callID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_, _ = client.Calls.Cancel(ctx, callID, "") // the undo may have ended already
}
