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
type failureNote struct{ forAgent, forUser string }

// noteFor returns the note for an error of the tool itself.
func (d *Dispatcher) noteFor(t Tool, err *wire.CallError) (note failureNote) {
	if err == nil || d.opts.FailureNote == nil || err.Code != wire.ErrToolError && err.Code != wire.ErrNotReady {
		return note
	}
	note.forAgent, note.forUser = d.opts.FailureNote(t)
	return note
}

// failure is what the text of a failed call depends on.
type failure struct {
	callID  string
	tool    Tool
	err     *wire.CallError
	refusal Verdict // the last Block of a gate
	note    failureNote

	hasBegun    bool
	ran         time.Duration
	reports     int
	sinceReport time.Duration
	lastMessage string
	stopSent    bool
	stopped     Stopped
}

// describeFailure returns the facts of a failed call. The caller has locked mu.
func (c *liveCall) describeFailure() failure {
	f := failure{
		callID: c.id, tool: c.req.Tool, err: c.state.err, refusal: c.refusal, note: c.state.note,
		hasBegun: c.state.hasBegun(), ran: c.state.ran, reports: c.reports.count, lastMessage: c.reports.all.message,
		stopSent: c.state.stopSent, stopped: c.state.stopped,
	}
	if f.reports > 0 {
		f.sinceReport = c.state.ended.Sub(c.reports.lastAt)
	}
	return f
}

// explainFailure returns the error of a failed call with its text for the agent.
func explainFailure(f failure) *Error {
	next, retryable := errtext.Next(f.err.Code)
	e := &Error{
		Code: f.err.Code, ForUser: f.textForUser(), CallID: f.callID, Tool: f.err.Tool, Retryable: retryable,
		Ran: f.ran, Reports: f.reports, SinceReport: f.sinceReport, Stopped: f.stopped,
	}
	if t := f.err.Tool; t != nil {
		e.Retryable = t.Retryable
		ofRequest, isRequest := errtext.NextAfterRequest(t.Code)
		switch {
		case isRequest:
			next = ofRequest
		case t.Retryable && t.RetryAfterMs != nil:
			next = fmt.Sprintf("Retry it after %s.", humanize.Duration(time.Duration(*t.RetryAfterMs*float64(time.Millisecond))))
		case t.Retryable:
			next = "Retry it."
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: %s (%s).", f.tool.FullName(), strings.TrimRight(f.err.Message, ". \n"), errtext.Code(f.err))
	if f.hasBegun {
		f.describeRun(&b)
	}
	if f.stopSent {
		b.WriteString(" " + errtext.Stopped(f.stopped))
	}
	b.WriteString(" " + next)
	if f.note.forAgent != "" {
		b.WriteString(" " + f.note.forAgent)
	}
	e.Message = b.String()
	return e
}

// textForUser returns the error's text for the user; empty if the agent's text is fit
// for users too.
func (f failure) textForUser() string {
	switch {
	case f.err == f.refusal.Block:
		return f.refusal.ForUser
	case f.note.forUser != "":
		return strings.TrimRight(f.err.Message, ". \n") + ". " + f.note.forUser
	}
	return ""
}

// describeRun writes how long the call ran and when it last reported.
func (f failure) describeRun(b *strings.Builder) {
	fmt.Fprintf(b, " It ran %s", humanize.Duration(f.ran))
	switch {
	case f.reports == 0:
		b.WriteString(" and reported no progress.")
	case f.lastMessage != "":
		fmt.Fprintf(b, "; the last progress, report %d, came %s before the end: %q.", f.reports, humanize.Duration(f.sinceReport), f.lastMessage)
	default:
		fmt.Fprintf(b, "; the last progress, report %d, came %s before the end.", f.reports, humanize.Duration(f.sinceReport))
	}
}
