// Package errtext contains sentences for the error texts of failed calls. The sentences of
// errtext contain advice about the next step, explain why a page can't be loaded, or report
// whether the tool was stopped.
package errtext

import (
	"fmt"
	"strings"

	"opentabs/wire"
)

// Step contains advice about what to do after an error: one text for the agent, and one for
// the user. ForAgent describes what the agent can do or ask the user to do. ForUser may
// refer to commands of opentabs and to controls of the side panel.
type Step struct{ ForAgent, ForUser string }

var advice = map[wire.ErrorCode]struct {
	retryable bool
	nextStep  Step
}{
	wire.ErrIdleTimeout: {true, Step{
		"Retry the call, ask for less in one call, or make the tool report progress more often.",
		"Retry the call, or ask for less in one call. A tool that needs more time must report progress."}},
	wire.ErrDeadlineExceeded: {false, Step{
		"Split the work into smaller calls; do not repeat the same call.",
		"Split the work into smaller calls."}},
	wire.ErrCancelled: {false, Step{
		"Do not call again unless the user asks you to.",
		"Retry the call if you still need the result."}},
	wire.ErrTabClosed: {true, Step{
		"Open the page again, then retry.",
		"Open the page again, then retry."}},
	wire.ErrNavigated: {true, Step{
		"Wait until the page has loaded, then retry; check first whether the call had taken effect.",
		"Wait until the page has loaded, then retry; check first whether the call had taken effect."}},
	wire.ErrPageCrashed: {true, Step{
		"Retry: opentabs reloads the tab for the next call of a plugin; before another browser tool, reload it with browser_navigate (go: reload); check first whether the call had taken effect.",
		"Reload the tab, then retry; check first whether the call had taken effect."}},
	wire.ErrPageUnresponsive: {true, Step{
		"Ask the user to reload the tab, in the opentabs side panel or with `opentabs browser reload-tab`, then retry; check first whether the call had taken effect.",
		"Reload the tab, then retry; check first whether the call had taken effect."}},
	wire.ErrTabDiscarded: {true, Step{
		"Retry: opentabs reloads the tab for the next call of a plugin; before another browser tool, reload it with browser_navigate (go: reload); check first whether the call had taken effect.",
		"Open the tab, which reloads it, then retry; check first whether the call had taken effect."}},
	wire.ErrTabFrozen: {true, Step{
		"Ask the user to show the tab or to reload it, then retry; or open the page in another tab.",
		"Open the tab or reload it, then retry."}},
	wire.ErrBrowserLost: {true, Step{
		"Start the browser again, then retry; check first whether the call had taken effect.",
		"Start Chrome again, then retry; check first whether the call had taken effect."}},
	wire.ErrLinkLost: {true, Step{
		"Check that the browser is running, then retry; check first whether the call had taken effect.",
		"Check that Chrome is running, then retry; check first whether the call had taken effect."}},
	wire.ErrDenied: {false, Step{
		"Only the user can allow the call, in the opentabs side panel or a terminal. Do not call again until the user confirms the permission.",
		"Allow the next call, or change the permission in the side panel."}},
	wire.ErrNotReviewed: {false, Step{
		"Only the user can review the plugin, in the opentabs side panel or a terminal. Do not call again until the user confirms the review.",
		"Review the plugin in the side panel or with `opentabs plugin review`, then retry."}},
	wire.ErrNeedsSettings: {false, Step{
		"Only the user can change the setting, in the opentabs side panel or a terminal. Do not call again until the user confirms the change.",
		"Change the setting in the side panel or with `opentabs plugin configure`, then retry."}},
	wire.ErrPluginBroken: {false, Step{
		"Do not call tools of the plugin again; ask the user to repair, update or remove the plugin (`opentabs doctor`).",
		"Run `opentabs doctor`, then repair, update or remove the plugin."}},
	wire.ErrApprovalTimeout: {true, Step{
		"Ask the user to answer in the opentabs side panel or a terminal, then call again.",
		"Retry the call, then answer in the side panel or with `opentabs calls approve`."}},
	wire.ErrRateLimited: {true, Step{
		"Wait, then retry; make fewer calls.",
		"Wait until other calls have ended, then retry."}},
	wire.ErrInvalidArguments: {false, Step{
		"Correct the arguments, then call again.",
		"Correct the arguments, then retry; `opentabs tools show` lists the arguments of a tool."}},
	wire.ErrResultTooLarge: {false, Step{
		"Ask for less: use a filter, a limit or a page argument of the tool.",
		"Ask for less: use a filter, a limit or a page argument of the tool."}},
	wire.ErrInvalidResult: {false, Step{
		"Do not call the tool again to mend this. Report it to the author of the plugin.",
		"Report this to the author of the plugin."}},
	wire.ErrToolError: {false, Step{
		"Read the tool's message, correct what it names, then call again.",
		"Correct what the message names, then retry."}},
	wire.ErrUnknownTool: {true, Step{
		"Reload the tab, then retry: its page has an older version of the plugin.",
		"Reload the tab, then retry: its page has an older version of the plugin."}},
	wire.ErrUnknownPrompt: {true, Step{
		"Reload the tab, then retry: its page has an older version of the plugin.",
		"Reload the tab, then retry: its page has an older version of the plugin."}},
	wire.ErrNestedTooDeep: {false, Step{
		"Report this to the author of the plugin: tools of the plugin call each other in an endless loop.",
		"Report this to the author of the plugin: tools of the plugin call each other in an endless loop."}},
	wire.ErrNoBrowser: {true, Step{
		"Ask the user to start Chrome and to check the opentabs side panel, then retry.",
		"Start Chrome and check the opentabs side panel, then retry; `opentabs doctor` finds what is wrong."}},
	wire.ErrNoTab: {true, Step{
		"Open the page in the browser, then retry.",
		"Open the page in the browser, then retry."}},
	wire.ErrAmbiguousTarget: {false, Step{
		`Pass the ID of one tab as "tabId", one browser as "browser", or both.`,
		"Choose a tab with --tab, a browser with --browser, or both."}},
	wire.ErrTabInUse: {true, Step{
		"Work in another tab, or retry when the other client has finished.",
		"Retry when the other client has finished, or stop that client in the side panel."}},
	wire.ErrTabTaken: {true, Step{
		"Read the page again, for example with browser_snapshot, and check what the user changed; then act if the task still needs it.",
		"The agent has to read the page again before it acts there."}},
	wire.ErrNotReady: {true, Step{
		"Ask the user to check the tab and to log in if the page requires it, then retry.",
		"Check the tab, log in if the page requires it, then retry."}},
	wire.ErrUnsafePage: {false, Step{
		"Do not retry the call in this page; report to the user that only a plugin that declares \"world\": \"isolated\" can run there.",
		"Report this to the author of the plugin: only a plugin that declares \"world\": \"isolated\" can run in this page."}},
	wire.ErrPluginUpdated: {true, Step{
		"Retry: the page has the new version of the plugin now; check first whether the call had taken effect.",
		"Retry: the page has the new version of the plugin now; check first whether the call had taken effect."}},
	wire.ErrShutdown: {true, Step{
		"Start opentabs again, then retry.",
		"Start opentabs again, then retry."}},
	wire.ErrInternal: {true, Step{
		"Search the log of opentabs for this call ID, then report it.",
		"Search `opentabs logs` for the ID of the call, then report the error."}},
}

// NextStep returns the advice for an error code, and whether a retry of the call can
// succeed.
func NextStep(code wire.ErrorCode) (nextStep Step, retryable bool) {
	a, isKnown := advice[code]
	if !isKnown {
		a = advice[wire.ErrInternal]
	}
	return a.nextStep, a.retryable
}

// AppendNextUserStep appends the next step for the user, which depends on the error code, to a
// sentence of fact.
func AppendNextUserStep(code wire.ErrorCode, errorSentence string) string {
	nextStep, _ := NextStep(code)
	return errorSentence + " " + nextStep.ForUser
}

// LinkLostStepForWrites is the next step after the error link_lost if the tool can change
// something.
var LinkLostStepForWrites = Step{
	"Check that the browser is running, then retry; check first whether the call had taken effect: a retry is safe only with the same idempotency key, if this call had one.",
	"Check that Chrome is running, then retry; check first whether the call had taken effect: a retry is safe only with the same --idempotency-key, if this call had one."}

// UnhandledErrorStep is the next step after an error without a code that a plugin's tool
// threw, such as a TypeError.
var UnhandledErrorStep = Step{
	"The tool did not handle this error, which may be a defect of the plugin. Do not retry with the same arguments; if the message names no wrong argument, report it to the user.",
	"The tool did not handle this error, which may be a defect of the plugin. Report it to the author of the plugin; `opentabs logs` shows where the error occurred."}

// EndsBeforeHandler reports whether an error with the given code occurs in the page before
// the tool's handler runs.
func EndsBeforeHandler(code wire.ErrorCode) bool {
	switch code {
	case wire.ErrNotReady, wire.ErrUnknownTool, wire.ErrUnknownPrompt, wire.ErrUnsafePage, wire.ErrInvalidArguments:
		return true
	}
	return false
}

// OpenTabStep is the advice if a call of a browser tool has no usable tab.
var OpenTabStep = Step{"Open or select another tab with browser_tabs, then retry.", "Open the page in a tab, then retry."}

// WithoutCheckAdvice returns the advice without the part that asks the user to check the
// effects of the call. A call that has not started has had no effects, so the user has
// nothing to check.
func (s Step) WithoutCheckAdvice() Step {
	return Step{removeCheckAdvice(s.ForAgent), removeCheckAdvice(s.ForUser)}
}

func removeCheckAdvice(errorMessage string) string {
	adviceText, _, hasCheck := strings.Cut(errorMessage, "; check first whether")
	if !hasCheck {
		return errorMessage
	}
	return adviceText + "."
}

// NextStepAfterFailedRequest returns advice for a tool call that failed because the tool's request
// failed, such as a nested call. If no advice exists for the error code of the request, ok
// is false.
func NextStepAfterFailedRequest(code string) (nextStep Step, ok bool) {
	nextStep, ok = failedRequestAdvice[code]
	return nextStep, ok
}

var failedRequestAdvice = map[string]Step{
	string(wire.ErrCancelled):       advice[wire.ErrCancelled].nextStep,
	string(wire.ErrDenied):          advice[wire.ErrDenied].nextStep,
	string(wire.ErrNotReviewed):     advice[wire.ErrNotReviewed].nextStep,
	string(wire.ErrNeedsSettings):   advice[wire.ErrNeedsSettings].nextStep,
	string(wire.ErrApprovalTimeout): advice[wire.ErrApprovalTimeout].nextStep,
	string(wire.ErrNestedTooDeep):   advice[wire.ErrNestedTooDeep].nextStep,
	string(wire.ErrTabInUse):        advice[wire.ErrTabInUse].nextStep,
	string(wire.ErrTabTaken):        advice[wire.ErrTabTaken].nextStep,
	"user_denied": {"The user denied the tool's request. Do not call again unless the user asks you to.",
		"You denied the tool's request. Retry the call if you still need the result."},
	"user_timeout": {"Ask the user to be ready for the tool's request, then call again.",
		"Retry the call, and answer the tool's request in time."},
}

// DescribeCode returns the code of an error as text. The details of an error that a tool threw have the format of the
// original OpenTabs, which users search logs for.
func DescribeCode(err *wire.CallError) string {
	t := err.Tool
	if t == nil || t.Code == "" {
		return string(err.Code)
	}
	description := "code=" + t.Code
	if t.Category != "" {
		description += " category=" + t.Category
	}
	description += fmt.Sprintf(" retryable=%t", t.Retryable)
	if t.RetryAfterMs != nil {
		description += fmt.Sprintf(" retryAfterMs=%v", *t.RetryAfterMs)
	}
	return description
}

// DescribeStop returns a sentence about whether the tool stopped after opentabs asked the
// page to stop it.
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
