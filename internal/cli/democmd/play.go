package democmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/cli"
	"opentabs/internal/daemon"
	"opentabs/internal/httpapi"
	"opentabs/internal/mcpclient"
	"opentabs/internal/terminal"
	"opentabs/internal/toolcall"
	"opentabs/wire"
)

const (
	stopAfter            = 4 * time.Second
	abortTimeout         = 2 * time.Second
	approvalTimeout      = 45 * time.Second
	approvalPollInterval = 100 * time.Millisecond
)

// The type demo makes the three calls of `opentabs demo`: a long call, a cancelled call,
// and a call that needs approval.
type demo struct {
	program *cli.Program
	client  *httpapi.Client
	browser string
	site    *site
	// The field questions is nil if stdin is not a terminal; the user then approves in the side panel or with
	// `opentabs calls approve`.
	questions *terminal.Questions
	result    demoResult
}

func (d *demo) record(c demoCall, startedAt time.Time) {
	c.DurationMs = time.Since(startedAt).Milliseconds()
	d.result.Calls = append(d.result.Calls, c)
}

func (d *demo) showCalls(ctx context.Context) error {
	for _, step := range []func(context.Context) error{d.showLongCall, d.showCancelledCall, d.showApproval} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) call(ctx context.Context, tool string) (mcpclient.Result, error) {
	request := toolcall.Request{Tool: dispatch.Tool{Plugin: pluginName, Name: tool}.FullName(), Args: []string{"channelId=general"}, Browser: d.browser}
	return toolcall.Call(ctx, d.client, daemon.CommandClient, request, d.program.In, d.program.Out)
}

func (d *demo) showLongCall(ctx context.Context) error {
	out := d.program.Out
	out.PrintText(`
1. A long call
   The page reads the 1,000 messages of a channel and reports its progress. As
   long as a call reports, it keeps running, for up to 5 min.`)
	startTime := time.Now()
	result, err := d.call(ctx, exportTool)
	if err != nil {
		return err
	}
	d.record(demoCall{Tool: exportTool, Status: demoDone, Messages: countMessages(result.StructuredContent)}, startTime)
	out.PrintLine("   Done: %d messages in %s.", countMessages(result.StructuredContent), terminal.Elapsed(time.Since(startTime)))
	return nil
}

func (d *demo) showCancelledCall(ctx context.Context) error {
	out := d.program.Out
	out.PrintText(`
2. A stop
   The same call again. After 4 s the demo stops it, as you can with Ctrl-C, in
   the side panel, or from your agent.`)
	startedAt := time.Now()
	callCtx, stop := context.WithTimeout(ctx, stopAfter)
	defer stop()
	_, err := d.call(callCtx, exportTool)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return errors.New("the call ended before the demo stopped it: run `opentabs demo` again")
	case callCtx.Err() == nil:
		return err
	}
	call := demoCall{Tool: exportTool, Status: demoCancelled, DurationMs: time.Since(startedAt).Milliseconds()}
	defer func() {
		call.DroppedPart = d.site.lastAborted()
		d.result.Calls = append(d.result.Calls, call)
	}()
	deadline := time.After(abortTimeout)
	for d.site.lastAborted() == 0 {
		select {
		case <-time.After(approvalPollInterval):
			continue
		case <-deadline:
		}
		out.PrintLine("   Stopped.")
		return nil
	}
	out.PrintText(stoppedText(d.site.lastAborted()))
	return nil
}

func stoppedText(part int) string {
	return fmt.Sprintf("   Stopped: the code in the page ended, and the page dropped its request for\n   part %d of %d.", part, pageCount)
}

const deniedText = "   Denied: the tool did not run. An agent would ask you before another try."

// callOutcome is the result or the error of a call.
type callOutcome struct {
	result mcpclient.Result
	err    error
}

func (d *demo) showApproval(ctx context.Context) error {
	out := d.program.Out
	out.PrintText(`
3. An approval
   The plugin may not count the authors of the channel without asking you.`)
	startedAt := time.Now()
	callCtx, stop := context.WithTimeout(ctx, approvalTimeout)
	defer stop()
	outcome := make(chan callOutcome, 1)
	go func() {
		result, err := d.call(callCtx, countTool)
		outcome <- callOutcome{result, err}
	}()
	id, ended := d.waitForApprovalRequest(callCtx, outcome)
	if ended == nil {
		ended = d.waitForDecision(callCtx, id, outcome)
	}
	return d.reportApproval(ctx, callCtx, *ended, startedAt)
}

func (d *demo) waitForApprovalRequest(ctx context.Context, outcome <-chan callOutcome) (string, *callOutcome) {
	for {
		calls, err := d.client.Calls.List(ctx)
		for _, c := range calls {
			if err == nil && c.Plugin == pluginName && c.Waiting != nil {
				return c.CallID, nil
			}
		}
		select {
		case ended := <-outcome:
			return "", &ended
		case <-time.After(approvalPollInterval):
		}
	}
}

func (d *demo) waitForDecision(ctx context.Context, id string, outcome <-chan callOutcome) *callOutcome {
	out := d.program.Out
	var answers <-chan bool // the channel answers stays nil without a terminal
	if d.questions == nil {
		out.PrintLine("   Approve it in the side panel, or run `opentabs calls approve`.")
	} else {
		out.PrintLine("   Approve it in the side panel: press the opentabs button in the toolbar. Or")
		answers = askYesNo(ctx, d.questions, "approve it here? [Y/n] ")
	}
	for {
		select {
		case ended := <-outcome:
			return &ended
		case isAllowed := <-answers:
			choice := callview.Choice{Allow: isAllowed, Scope: wire.ScopeOnce}
			if _, err := callview.Decide(ctx, d.client.Calls, id, choice); err != nil && ctx.Err() == nil {
				var late *callview.AlreadyDecidedError
				if !errors.As(err, &late) { // the user decided in the side panel first
					return &callOutcome{err: err}
				}
			}
			answers = nil
		}
	}
}

func (d *demo) reportApproval(ctx, callCtx context.Context, ended callOutcome, startedAt time.Time) error {
	out := d.program.Out
	call := demoCall{Tool: countTool}
	var failure *toolcall.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ended.err == nil:
		call.Status, call.Result = demoDone, ended.result.StructuredContent
		d.record(call, startedAt)
		out.PrintLine("   Approved. The result: %s", terminal.SafeLine(string(ended.result.StructuredContent)))
		return nil
	case errors.As(ended.err, &failure) && failure.Code == wire.ErrDenied:
		call.Status = demoDenied
		d.record(call, startedAt)
		out.PrintText(deniedText)
		return nil
	case callCtx.Err() != nil:
		call.Status = demoCancelled
		d.record(call, startedAt)
		out.PrintLine("   No answer within 45 s, so the demo cancelled the call: it did not run.")
		return nil
	}
	return ended.err
}

func (d *demo) waitUntilCancelled(ctx context.Context) {
	d.program.Out.PrintText(`
The example chat stays open. Ask your agent, for example:
  "Export the channel general with opentabs."
Ctrl-C ends the demo and removes the example plugin.`)
	<-ctx.Done()
}
