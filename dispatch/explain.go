package dispatch

import (
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch/errtext"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// failureNote contains the sentences that Options.FailureNote returned for one error.
type failureNote struct{ agentText, userText string }

func (d *Dispatcher) buildFailureNote(t Tool, err *wire.CallError) (note failureNote) {
	if err == nil || d.opts.FailureNote == nil || err.Code != wire.ErrToolError && err.Code != wire.ErrNotReady {
		return note
	}
	note.agentText, note.userText = d.opts.FailureNote(t)
	return note
}

// The type failure contains the facts from which explainFailure builds the error text of a
// failed call.
type failure struct {
	callID   string
	tool     Tool
	err      *wire.CallError
	note     failureNote
	requests *toolRequests
	// If nextStep is not empty, it replaces the usual advice for the error code.
	nextStep        errtext.Step
	hasStarted      bool
	runTime         time.Duration
	reportCount     int
	sinceLastReport time.Duration
	lastMessage     string
	isStopSent      bool
	stopOutcome     StopOutcome
}

// The caller of describeFailure holds liveCall.mu.
func (c *liveCall) describeFailure() failure {
	f := failure{
		callID: c.id, tool: c.req.Tool, err: c.state.err, note: c.state.note, requests: &c.requests, nextStep: c.nextStep,
		hasStarted: c.state.hasStarted(), runTime: c.state.finalRunTime, reportCount: c.reports.Count, lastMessage: c.reports.AnyAudience.Message,
		isStopSent: c.state.isStopSent, stopOutcome: c.state.stopOutcome,
	}
	if f.reportCount > 0 {
		f.sinceLastReport = c.state.endedAt.Sub(c.reports.lastReportAt)
	}
	return f
}

func explainFailure(f failure) *Error {
	nextStep, retryable := f.step()
	e := &Error{
		Code: f.err.Code, Cause: f.cause(), PageText: f.err.PageText, UntrustedPages: f.err.UntrustedPages, CallID: f.callID, ToolError: f.err.Tool, Retryable: retryable, MayHaveActed: f.hasStarted && !f.err.NotStarted && (f.tool.TargetKind.isChosenBeforeGates() || !errtext.EndsBeforeHandler(f.err.Code)),
		RunTime: f.runTime, ReportCount: f.reportCount, SinceLastReport: f.sinceLastReport, StopOutcome: f.stopOutcome,
	}
	e.Message = f.text(f.cause(), nextStep.ForAgent)
	e.UserText = f.text(trimFinalPeriod(f.userMessage()), nextStep.ForUser)
	if f.err.UserText != "" {
		e.UserText = f.withPageText(f.err.UserText)
	}
	return e
}

func (f failure) step() (adviceStep errtext.Step, retryable bool) {
	adviceStep, retryable = errtext.NextStep(f.err.Code)
	switch code, isBrowserTool := f.err.Code, f.tool.TargetKind.isChosenBeforeGates(); {
	case code == wire.ErrLinkLost && !f.tool.Summary.IsReadOnly:
		adviceStep = errtext.LinkLostStepForWrites
	case code == wire.ErrToolError && f.err.Tool == nil && !isBrowserTool:
		adviceStep = errtext.UnhandledErrorStep
	case code == wire.ErrNoTab && f.nextStep != (errtext.Step{}):
		adviceStep = f.nextStep
	case code == wire.ErrNoTab && isBrowserTool:
		adviceStep = errtext.OpenTabStep
	}
	if f.err.NotStarted || !f.hasStarted {
		adviceStep = adviceStep.WithoutCheckAdvice()
	}
	if t := f.err.Tool; t != nil {
		retryable = t.Retryable
		failedRequestStep, hasRequestStep := errtext.NextStepAfterFailedRequest(t.Code)
		switch {
		case hasRequestStep:
			adviceStep = failedRequestStep
		case t.Retryable && t.RetryAfterMs != nil:
			nextStep := fmt.Sprintf("Retry the call after %s.", humanize.Duration(time.Duration(*t.RetryAfterMs*float64(time.Millisecond))))
			adviceStep = errtext.Step{ForAgent: nextStep, ForUser: nextStep}
		case t.Retryable:
			adviceStep = errtext.Step{ForAgent: "Retry the call.", ForUser: "Retry the call."}
		}
	}
	if f.note.agentText != "" {
		adviceStep.ForAgent += " " + f.note.agentText
		adviceStep.ForUser = f.note.userText
	}
	return adviceStep, retryable
}

func (f failure) text(cause, nextStep string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: %s (%s).", f.tool.FullName(), cause, errtext.DescribeCode(f.err))
	if f.hasStarted {
		f.describeRun(&b)
	}
	if f.isStopSent {
		b.WriteString(" " + errtext.DescribeStop(f.stopOutcome))
	}
	b.WriteString(" " + nextStep)
	return f.withPageText(b.String())
}

func (f failure) withPageText(pageText string) string {
	if f.err.PageText == "" {
		return pageText
	}
	return pageText + "\n" + f.err.PageText
}

func (f failure) cause() string { return trimFinalPeriod(f.err.Message) }

func trimFinalPeriod(errorMessage string) string { return strings.TrimRight(errorMessage, ". \n") }

func (f failure) userMessage() string {
	if f.requests == nil {
		return f.err.Message
	}
	return f.requests.replaceTexts(f.err.Message)
}

func userTextIfDifferent(c *liveCall) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.describeFailure()
	switch {
	case f.err.UserText != "":
		return f.err.UserText
	case f.userMessage() != f.err.Message:
		return trimFinalPeriod(f.userMessage()) + "."
	}
	return ""
}

// The returned texts omit the error code and the run time, because lists show them in separate columns.
func (f failure) explainForUser() (cause, nextStep string) {
	if f.err.UserText != "" {
		return f.err.UserText, ""
	}
	if f.err.Code == wire.ErrCancelled {
		return f.userMessage(), ""
	}
	adviceStep, _ := f.step()
	return f.userMessage(), adviceStep.ForUser
}

func (f failure) describeRun(b *strings.Builder) {
	fmt.Fprintf(b, " It ran %s", humanize.Duration(f.runTime))
	switch {
	case f.reportCount == 0:
		b.WriteString(" and reported no progress.")
	case f.lastMessage != "":
		fmt.Fprintf(b, "; the last progress, report %d, came %s before the end: %q.", f.reportCount, humanize.Duration(f.sinceLastReport), f.lastMessage)
	default:
		fmt.Fprintf(b, "; the last progress, report %d, came %s before the end.", f.reportCount, humanize.Duration(f.sinceLastReport))
	}
}
