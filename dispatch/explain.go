package dispatch

import (
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch/errtext"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// failureNote is Options.FailureNote for one error.
type failureNote struct{ agentText, userText string }

// failureNoteFor returns the additional sentences for an error that the tool itself
// caused.
func (d *Dispatcher) failureNoteFor(t Tool, err *wire.CallError) (note failureNote) {
	if err == nil || d.opts.FailureNote == nil || err.Code != wire.ErrToolError && err.Code != wire.ErrNotReady {
		return note
	}
	note.agentText, note.userText = d.opts.FailureNote(t)
	return note
}

// failure contains the facts from which the error text of a failed call is built.
type failure struct {
	callID  string
	tool    Tool
	err     *wire.CallError
	refusal Verdict // the last Block of a gate
	note    failureNote

	hasBegun        bool
	runTime         time.Duration
	reportCount     int
	sinceLastReport time.Duration
	lastMessage     string
	stopSent        bool
	stopOutcome     StopOutcome
}

// describeFailure returns the facts of a failed call. The caller has locked mu.
func (c *liveCall) describeFailure() failure {
	f := failure{
		callID: c.id, tool: c.req.Tool, err: c.state.err, refusal: c.refusal, note: c.state.note,
		hasBegun: c.state.hasBegun(), runTime: c.state.finalRunTime, reportCount: c.reports.Count, lastMessage: c.reports.AnyAudience.Message,
		stopSent: c.state.stopSent, stopOutcome: c.state.stopOutcome,
	}
	if f.reportCount > 0 {
		f.sinceLastReport = c.state.endedAt.Sub(c.reports.lastReportAt)
	}
	return f
}

// explainFailure returns the error of a failed call with its text for the agent.
func explainFailure(f failure) *Error {
	nextStep, retryable := errtext.NextStep(f.err.Code)
	e := &Error{
		Code: f.err.Code, Cause: f.cause(), UserText: f.textForUser(), CallID: f.callID, ToolError: f.err.Tool, Retryable: retryable,
		RunTime: f.runTime, ReportCount: f.reportCount, SinceLastReport: f.sinceLastReport, StopOutcome: f.stopOutcome,
	}
	if t := f.err.Tool; t != nil {
		e.Retryable = t.Retryable
		requestStep, isRequestCode := errtext.NextStepAfterRequest(t.Code)
		switch {
		case isRequestCode:
			nextStep = requestStep
		case t.Retryable && t.RetryAfterMs != nil:
			nextStep = fmt.Sprintf("Retry it after %s.", humanize.Duration(time.Duration(*t.RetryAfterMs*float64(time.Millisecond))))
		case t.Retryable:
			nextStep = "Retry it."
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: %s (%s).", f.tool.FullName(), e.Cause, errtext.DescribeCode(f.err))
	if f.hasBegun {
		f.describeRun(&b)
	}
	if f.stopSent {
		b.WriteString(" " + errtext.DescribeStop(f.stopOutcome))
	}
	b.WriteString(" " + nextStep)
	if f.note.agentText != "" {
		b.WriteString(" " + f.note.agentText)
	}
	e.Message = b.String()
	return e
}

// cause returns what happened, without a period at the end.
func (f failure) cause() string { return strings.TrimRight(f.err.Message, ". \n") }

// textForUser returns the error's text for the user; empty if the agent's text also
// suits users.
func (f failure) textForUser() string {
	switch {
	case f.err == f.refusal.Block:
		return f.refusal.UserText
	case f.note.userText != "":
		return f.cause() + ". " + f.note.userText
	}
	return ""
}

// describeRun writes how long the call ran and when it last reported.
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
