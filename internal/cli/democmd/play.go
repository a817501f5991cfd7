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
	demoStopDelay        = 4 * time.Second
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
	questions *terminal.QuestionReader
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
	return toolcall.Call(ctx, d.client, daemon.CallCommandClient, request, d.program.In, d.program.Out)
}

func (d *demo) showLongCall(ctx context.Context) error {
	terminalOut := d.program.Out
	terminalOut.PrintText(`
1. A long call
   The page reads the 1,000 messages of a channel and reports its progress. As
   long as a call reports, it keeps running, for up to 5 min.`)
	startTime := time.Now()
	result, err := d.call(ctx, exportTool)
	if err != nil {
		return err
	}
	d.record(demoCall{Tool: exportTool, Status: demoDone, Messages: countMessages(result.StructuredContent)}, startTime)
	terminalOut.PrintLine("   Done: %d messages in %s.", countMessages(result.StructuredContent), terminal.Elapsed(time.Since(startTime)))
	return nil
}

func (d *demo) showCancelledCall(ctx context.Context) error {
	terminalOut := d.program.Out
	terminalOut.PrintText(`
2. A stop
   The same call again. After 4 s the demo stops it, as you can with Ctrl-C, in
   the side panel, or from your agent.`)
	startedAt := time.Now()
	callCtx, stop := context.WithCancel(ctx)
	defer stop()
	go d.stopDuringRequest(callCtx, stop)
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
		call.AbortedPage = d.site.lastAbortedPage()
		d.result.Calls = append(d.result.Calls, call)
	}()
	deadline := time.After(abortTimeout)
	for d.site.lastAbortedPage() == 0 {
		select {
		case <-time.After(approvalPollInterval):
			continue
		case <-deadline:
		}
		terminalOut.PrintLine("   Stopped.")
		return nil
	}
	terminalOut.PrintText(stoppedText(d.site.lastAbortedPage()))
	return nil
}

// stopDuringRequest calls stop after demoStopDelay, as soon as the page has sent its next request. If
// the call stopped between two requests, the page would have no request to abort.
func (d *demo) stopDuringRequest(ctx context.Context, stop func()) {
	select {
	case <-time.After(demoStopDelay):
	case <-ctx.Done():
		return
	}
	select {
	case <-d.site.nextRequestArrived():
		stop()
	case <-ctx.Done():
	}
}

func stoppedText(abortedPage int) string {
	return fmt.Sprintf("   Stopped: the code in the page ended, and the page dropped its request for\n   part %d of %d.", abortedPage, pageCount)
}

const deniedText = "   Denied: the tool did not run. An agent would ask you before another try."

// callOutcome is the result or the error of a call.
type callOutcome struct {
	result mcpclient.Result
	err    error
}

func (d *demo) showApproval(ctx context.Context) error {
	terminalOut := d.program.Out
	terminalOut.PrintText(`
3. An approval
   The plugin may not count the authors of the channel without asking you.`)
	startedAt := time.Now()
	callCtx, stop := context.WithTimeout(ctx, approvalTimeout)
	defer stop()
	callOutcomes := make(chan callOutcome, 1)
	go func() {
		result, err := d.call(callCtx, countTool)
		callOutcomes <- callOutcome{result, err}
	}()
	id, endedCallOutcome := d.waitForApprovalRequest(callCtx, callOutcomes)
	if endedCallOutcome == nil {
		endedCallOutcome = d.waitForDecision(callCtx, id, callOutcomes)
	}
	return d.reportApproval(ctx, callCtx, *endedCallOutcome, startedAt)
}

func (d *demo) waitForApprovalRequest(ctx context.Context, callOutcomes <-chan callOutcome) (string, *callOutcome) {
	for {
		calls, err := d.client.Calls.List(ctx)
		for _, c := range calls {
			if err == nil && c.Plugin == pluginName && c.Waiting != nil {
				return c.CallID, nil
			}
		}
		select {
		case callOutcome := <-callOutcomes:
			return "", &callOutcome
		case <-time.After(approvalPollInterval):
		}
	}
}

func (d *demo) waitForDecision(ctx context.Context, id string, callOutcomes <-chan callOutcome) *callOutcome {
	terminalOut := d.program.Out
	var confirmations <-chan bool // the channel confirmations is nil if stdin is not a terminal
	if d.questions == nil {
		terminalOut.PrintLine("   Approve it in the side panel, or run `opentabs calls approve`.")
	} else {
		terminalOut.PrintLine("   Approve it in the side panel: press the opentabs button in the toolbar. Or")
		confirmations = askYesNo(ctx, d.questions, "approve it here? [Y/n] ")
	}
	for {
		select {
		case callOutcome := <-callOutcomes:
			return &callOutcome
		case isAllowed := <-confirmations:
			choice := callview.Choice{Allow: isAllowed, Scope: wire.ScopeOnce}
			if _, err := callview.Decide(ctx, d.client.Calls, id, choice); err != nil && ctx.Err() == nil {
				var decidedErr *callview.AlreadyDecidedError
				if !errors.As(err, &decidedErr) { // the user decided in the side panel first
					return &callOutcome{err: err}
				}
			}
			confirmations = nil
		}
	}
}

func (d *demo) reportApproval(ctx, callCtx context.Context, endedCallOutcome callOutcome, startedAt time.Time) error {
	terminalOut := d.program.Out
	call := demoCall{Tool: countTool}
	var failure *toolcall.Failure
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case endedCallOutcome.err == nil:
		call.Status, call.Result = demoDone, endedCallOutcome.result.StructuredContent
		d.record(call, startedAt)
		terminalOut.PrintLine("   Approved. The result: %s", terminal.SafeLine(string(endedCallOutcome.result.StructuredContent)))
		return nil
	case errors.As(endedCallOutcome.err, &failure) && failure.Code == wire.ErrDenied:
		call.Status = demoDenied
		d.record(call, startedAt)
		terminalOut.PrintText(deniedText)
		return nil
	case callCtx.Err() != nil:
		call.Status = demoCancelled
		d.record(call, startedAt)
		terminalOut.PrintLine("   No answer within 45 s, so the demo cancelled the call: it did not run.")
		return nil
	}
	return endedCallOutcome.err
}

func (d *demo) waitUntilCancelled(ctx context.Context) {
	d.program.Out.PrintText(`
The example chat stays open. Ask your agent, for example:
  "Export the channel general with opentabs."
Ctrl-C ends the demo and removes the example plugin.`)
	<-ctx.Done()
}
