// Package errtext contains the sentences in the errors of calls. The sentences describe
// the next step, the answer of the page to a stop, or the reason why a page can't be
// loaded.
package errtext

import (
	"fmt"

	"opentabs/wire"
)

// advice contains the next step after each error code, and whether the same call may
// succeed later.
var advice = map[wire.ErrorCode]struct {
	retryable bool
	nextStep  string
}{
	wire.ErrIdleTimeout:      {true, "Retry it, ask for less in one call, or make the tool report progress more often than that."},
	wire.ErrDeadlineExceeded: {false, "Split the work into smaller calls; do not repeat the same call."},
	wire.ErrCancelled:        {false, "Do not call again unless the user asks you to."},
	wire.ErrTabClosed:        {true, "Open the page again, then retry."},
	wire.ErrNavigated:        {true, "Wait until the page has loaded, then retry; check first whether the call had taken effect."},
	wire.ErrPageCrashed:      {true, "Retry: opentabs reloads the tab for the next call; check first whether this one had taken effect."},
	wire.ErrPageUnresponsive: {true, "Ask the user to reload the tab, in the opentabs side panel or with `opentabs browser reload-tab`, then retry; check first whether the call had taken effect."},
	wire.ErrTabDiscarded:     {true, "Retry: opentabs reloads the tab for the next call; check first whether this one had taken effect."},
	wire.ErrTabFrozen:        {true, "Ask the user to show the tab or to reload it, then retry; or open the page in another tab."},
	wire.ErrBrowserLost:      {true, "Start the browser again, then retry; check first whether the call had taken effect."},
	wire.ErrLinkLost:         {true, "Check that the browser is running, then retry; check first whether the call had taken effect."},
	wire.ErrDenied:           {false, "Only the user can allow it, in the opentabs side panel or a terminal. Do not call again until the user confirms that."},
	wire.ErrNotReviewed:      {false, "Only the user can review the plugin, in the opentabs side panel or a terminal. Do not call again until the user confirms that."},
	wire.ErrNeedsSettings:    {false, "Only the user can set it, in the opentabs side panel or a terminal. Do not call again until the user confirms that."},
	wire.ErrPluginBroken:     {false, "Do not call its tools again; report this to the user, who has to repair, update or remove the plugin (`opentabs doctor`)."},
	wire.ErrApprovalTimeout:  {true, "Ask the user to answer in the opentabs side panel or a terminal, then call again."},
	wire.ErrRateLimited:      {true, "Wait, then retry; make fewer calls."},
	wire.ErrInvalidArguments: {false, "Correct the arguments, then call again."},
	wire.ErrResultTooLarge:   {false, "Ask for less: use a filter, a limit or a page argument of the tool."},
	wire.ErrInvalidResult:    {false, "Report this to the author of the plugin: a tool must return plain JSON data."},
	wire.ErrToolError:        {false, "Read the tool's message, correct what it names, then call again."},
	wire.ErrUnknownTool:      {true, "Reload the tab, then retry: its page has an older version of the plugin."},
	wire.ErrUnknownPrompt:    {true, "Reload the tab, then retry: its page has an older version of the plugin."},
	wire.ErrNestedTooDeep:    {false, "Report this to the author of the plugin: its tools call each other without end."},
	wire.ErrNoBrowser:        {true, "Ask the user to start Chrome and to check the opentabs side panel, then retry."},
	wire.ErrNoTab:            {true, "Open the page in the browser, then retry."},
	wire.ErrAmbiguousTarget:  {false, `Name one: pass its ID as "tabId", the browser as "browser", or both.`},
	wire.ErrTabInUse:         {true, "Work in another tab, or retry when the other client has finished."},
	wire.ErrNotReady:         {true, "Ask the user to check the tab and to log in if the page requires it, then retry."},
	wire.ErrUnsafePage:       {false, "Do not retry it in this page; report this to the user: only a plugin that declares \"world\": \"isolated\" can run there."},
	wire.ErrPluginUpdated:    {true, "Retry: the page has the new version of the plugin now; check first whether the call had taken effect."},
	wire.ErrShutdown:         {true, "Start opentabs again, then retry."},
	wire.ErrInternal:         {true, "Search the log of opentabs for this call ID, then report it."},
}

// Advice returns the next step after an error with this code, in one sentence for
// the agent.
func Advice(code wire.ErrorCode) string {
	nextStep, _ := NextStep(code)
	return nextStep
}

// NextStep returns the next step after an error with this code, and whether the same call
// may succeed later.
func NextStep(code wire.ErrorCode) (nextStep string, retryable bool) {
	a, isKnown := advice[code]
	if !isKnown {
		a = advice[wire.ErrInternal]
	}
	return a.nextStep, a.retryable
}

// NextStepAfterRequest returns the next step after a failed request of a tool, by the
// code of the error. For an unknown code, ok is false.
func NextStepAfterRequest(code string) (nextStep string, ok bool) {
	nextStep, ok = requestAdvice[code]
	return nextStep, ok
}

// requestAdvice has the next step for each error code of a failed request of a tool. A
// tool that does not handle the failure of a request can fail with the error of the
// request.
var requestAdvice = map[string]string{
	string(wire.ErrCancelled):       advice[wire.ErrCancelled].nextStep,
	string(wire.ErrDenied):          advice[wire.ErrDenied].nextStep,
	string(wire.ErrNotReviewed):     advice[wire.ErrNotReviewed].nextStep,
	string(wire.ErrNeedsSettings):   advice[wire.ErrNeedsSettings].nextStep,
	string(wire.ErrApprovalTimeout): advice[wire.ErrApprovalTimeout].nextStep,
	string(wire.ErrNestedTooDeep):   advice[wire.ErrNestedTooDeep].nextStep,
	"user_denied":                   "The user denied the tool's request. Do not call again unless the user asks you to.",
	"user_timeout":                  "Ask the user to be ready for the tool's request, then call again.",
}

// DescribeCode returns the code of an error as text. For errors of a tool, the text has
// the details in the format of the original OpenTabs, because users search for that
// format.
func DescribeCode(err *wire.CallError) string {
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

// DescribeStop describes how the page answered the stop.
func DescribeStop(s wire.CancelOutcome) string {
	switch s {
	case wire.CancelAborted:
		return "The page stopped the tool."
	case wire.CancelFinished:
		return "The tool had finished before the page received the stop."
	case wire.CancelIgnored:
		return "The tool ignores the stop and still runs in the page."
	default:
		return "The page has not answered the stop yet, so the tool may still run."
	}
}
