package dispatch

import (
	"fmt"
	"strings"
	"time"

	"opentabs/wire"
)

// advice says what to do after each code, and whether the same call may work
// when it is made again.
var advice = map[wire.ErrorCode]struct {
	retryable bool
	next      string
}{
	wire.ErrIdleTimeout:      {true, "Retry it, ask for less in one call, or make the tool report progress more often than that."},
	wire.ErrDeadlineExceeded: {false, "Split the work into smaller calls; do not make the same call again."},
	wire.ErrCancelled:        {false, "Do not make it again unless you are asked to."},
	wire.ErrTabClosed:        {true, "Open the page again, then retry."},
	wire.ErrNavigated:        {true, "Wait until the page has loaded, then retry; check first whether the call had taken effect."},
	wire.ErrPageCrashed:      {true, "Retry it, the tab is loaded anew for that; check first whether the call had taken effect."},
	wire.ErrPageUnresponsive: {true, "Ask the user to reload the tab, in the opentabs side panel or with `opentabs browser reload-tab`, then retry; check first whether the call had taken effect."},
	wire.ErrTabDiscarded:     {true, "Retry it, the tab is loaded anew for that; check first whether the call had taken effect."},
	wire.ErrTabFrozen:        {true, "Ask the user to show the tab or to reload it, then retry; or open the page in another tab."},
	wire.ErrBrowserLost:      {true, "Start the browser again, then retry; check first whether the call had taken effect."},
	wire.ErrLinkLost:         {true, "Check that the browser is running, then retry; check first whether the call had taken effect."},
	wire.ErrDenied:           {false, "Only the person can allow it, in the opentabs side panel or a terminal; do not call again until they say that they have."},
	wire.ErrNotReviewed:      {false, "Only the person can review the plugin, in the opentabs side panel or a terminal; do not call again until they say that they have."},
	wire.ErrNeedsSettings:    {false, "Only the person can set it, in the opentabs side panel or a terminal; do not call again until they say that they have."},
	wire.ErrPluginBroken:     {false, "Do not call its tools again; report this to the user, who has to repair, update or remove the plugin (`opentabs doctor`)."},
	wire.ErrApprovalTimeout:  {true, "Tell the person that the call waits for their answer in the opentabs side panel or a terminal, then call again."},
	wire.ErrRateLimited:      {true, "Wait, then retry; make fewer calls."},
	wire.ErrInvalidArguments: {false, "Correct the arguments, then call again."},
	wire.ErrResultTooLarge:   {false, "Ask for less: use a filter, a limit or a page argument of the tool."},
	wire.ErrInvalidResult:    {false, "Report this to the author of the plugin: a tool must return plain JSON data."},
	wire.ErrToolError:        {false, "Read the tool's message, correct what it names, then call again."},
	wire.ErrUnknownTool:      {true, "Reload the tab, then retry: its page has an older version of the plugin."},
	wire.ErrUnknownPrompt:    {true, "Reload the tab, then retry: its page has an older version of the plugin."},
	wire.ErrNestedTooDeep:    {false, "Report this to the author of the plugin: its tools call each other without end."},
	wire.ErrNoBrowser:        {true, "Start Chrome and look at the opentabs side panel, then retry."},
	wire.ErrNoTab:            {true, "Open the page in the browser, then retry."},
	wire.ErrAmbiguousTarget:  {false, `Name one: pass its id as "tabId", the browser as "browser", or both.`},
	wire.ErrNotReady:         {true, "Look at the tab and log in if it asks for it, then retry."},
	wire.ErrUnsafePage:       {false, "Do not retry it in this page; report this to the user: only a plugin that declares \"world\": \"isolated\" can run there."},
	wire.ErrPluginUpdated:    {true, "Retry it, the new version of the plugin is in the page; check first whether the call had taken effect."},
	wire.ErrShutdown:         {true, "Start opentabs again, then retry."},
	wire.ErrInternal:         {true, "Look at the log of opentabs for this call id, then report it."},
}

// Advice says what to do after an error with this code, in one sentence for the
// agent.
func Advice(code wire.ErrorCode) string {
	if a, known := advice[code]; known {
		return a.next
	}
	return advice[wire.ErrInternal].next
}

// askAdvice is what to do after the codes of what a tool asked for and did not
// get, if it ended with them: the person's answer is no fault to correct.
var askAdvice = map[string]string{
	string(wire.ErrCancelled):       advice[wire.ErrCancelled].next,
	string(wire.ErrDenied):          advice[wire.ErrDenied].next,
	string(wire.ErrNotReviewed):     advice[wire.ErrNotReviewed].next,
	string(wire.ErrNeedsSettings):   advice[wire.ErrNeedsSettings].next,
	string(wire.ErrApprovalTimeout): advice[wire.ErrApprovalTimeout].next,
	"user_denied":                   "The person has refused what the tool asked for; do not call again unless they ask you to.",
	"user_timeout":                  "Tell the person what the tool waits for, then call again when they are there.",
}

// explain returns the error of a call that has failed, with the text for the
// person or agent. The caller holds mu.
func (c *liveCall) explain() *Error {
	a, known := advice[c.err.Code]
	if !known {
		a = advice[wire.ErrInternal]
	}
	e := &Error{
		Code: c.err.Code, ForUser: c.textForUser(), CallID: c.id, Tool: c.err.Tool, Retryable: a.retryable,
		Ran: c.ran(), Reports: c.reports, Stopped: c.stopped,
	}
	next := a.next
	if t := c.err.Tool; t != nil {
		e.Retryable = t.Retryable
		of, asked := askAdvice[t.Code]
		switch {
		case asked:
			next = of
		case t.Retryable && t.RetryAfterMs != nil:
			next = fmt.Sprintf("Retry it after %s.", spell(time.Duration(*t.RetryAfterMs*float64(time.Millisecond))))
		case t.Retryable:
			next = "Retry it."
		}
	}
	if c.reports > 0 {
		e.SinceReport = c.ended.Sub(c.lastReport)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: %s (%s).", c.req.Tool.FullName(), strings.TrimRight(c.err.Message, ". \n"), codeText(c.err))
	if !c.begun.IsZero() {
		c.describeRun(&b, e)
	}
	if c.told {
		b.WriteString(" " + stoppedText(c.stopped))
	}
	b.WriteString(" " + next)
	if c.errNote[0] != "" {
		b.WriteString(" " + c.errNote[0])
	}
	e.Message = b.String()
	return e
}

// textForUser is what a user reads in place of the error's message; empty if that
// is fit for both. The caller holds mu.
func (c *liveCall) textForUser() string {
	switch {
	case c.err == nil:
		return ""
	case c.err == c.refusal.Block:
		return c.refusal.ForUser
	case c.errNote[1] != "":
		return strings.TrimRight(c.err.Message, ". \n") + ". " + c.errNote[1]
	}
	return ""
}

// failureNote is what else to say about an error of the tool itself: for the agent
// and for the user.
func (c *liveCall) failureNote(err *wire.CallError) (note [2]string) {
	if err == nil || c.d.opts.FailureNote == nil || err.Code != wire.ErrToolError && err.Code != wire.ErrNotReady {
		return note
	}
	note[0], note[1] = c.d.opts.FailureNote(c.req.Tool)
	return note
}

// describeRun writes how long the call ran and when it last reported.
func (c *liveCall) describeRun(b *strings.Builder, e *Error) {
	fmt.Fprintf(b, " It ran %s", spell(e.Ran))
	switch {
	case e.Reports == 0:
		b.WriteString(" and reported no progress.")
	case c.message != "":
		fmt.Fprintf(b, "; the last progress, report %d, came %s before the end: %q.", e.Reports, spell(e.SinceReport), c.message)
	default:
		fmt.Fprintf(b, "; the last progress, report %d, came %s before the end.", e.Reports, spell(e.SinceReport))
	}
}

// codeText names the code. What a tool's own error says of itself is written as
// users of existing plugins look for it.
func codeText(err *wire.CallError) string {
	t := err.Tool
	if t == nil || t.Code == "" {
		return string(err.Code)
	}
	text := "code=" + t.Code
	if t.Category != "" {
		text += " category=" + t.Category
	}
	text += fmt.Sprintf(" retryable=%t", t.Retryable)
	if t.RetryAfterMs != nil {
		text += fmt.Sprintf(" retryAfterMs=%v", *t.RetryAfterMs)
	}
	return text
}

// stoppedText says how the page answered the stop.
func stoppedText(s Stopped) string {
	switch s {
	case wire.CancelAborted:
		return "The page was told to stop and did."
	case wire.CancelFinished:
		return "The page was told to stop but had finished by then."
	case wire.CancelIgnored:
		return "The page was told to stop but goes on."
	default:
		return "The page was told to stop and has not answered yet, so it may still be at work."
	}
}

// spell writes a duration for a person: "30.0 s", "5 min 0.0 s".
func spell(d time.Duration) string {
	d = d.Round(100 * time.Millisecond)
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %.1f s", d/time.Minute, (d % time.Minute).Seconds())
}
