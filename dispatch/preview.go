package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"opentabs/wire"
)

// previewTarget reports whether a call could run after the user's approval. A call that can't run fails at once, so
// that the user need not decide about the call. If the call needs to reload a tab, previewTarget adds the reload to the
// request for approval.
func previewTarget(ctx context.Context, c *liveCall, request *Ticket) bool {
	if c.req.Tool.TargetKind.isChosenBeforeGates() {
		return c.chosenTarget.checkPage(c)
	}
	if !c.targetSearchCtx.Begin(ctx) {
		return false
	}
	targetChoice, err := c.req.targetChoice(c.d.opts.MayOpenTab)
	if err != nil {
		c.fail(err)
		return false
	}
	targetChoice.IsPreview = true
	targets := c.d.bridge.Targets(&c.targetSearchCtx, targetChoice)
	if ctx.Err() != nil {
		c.cancel(CancellationFrom(ctx))
		return false
	}
	target, targetProblem := chooseTargetAfterApproval(targets, targetChoice, &c.req)
	request.runTarget = target
	switch {
	case targetProblem == nil:
		return true
	case targetProblem.reloadTab == nil:
		failWithProblem(c, targetProblem)
		return false
	}
	request.reloadsTab, request.runTarget = true, *targetProblem.reloadTab
	request.Reason = strings.TrimRight(request.Reason, ".") + ". " + reloadReason(*targetProblem.reloadTab)
	return true
}

func chooseTargetAfterApproval(targets Targets, targetChoice TargetChoice, req *Call) (Target, *targetProblem) {
	liveTargets, targetProblemFound := chooseTargets(targets, targetChoice, req)
	usableTargetIndex := slices.IndexFunc(liveTargets, func(t Target) bool { return !t.IsFrozen && t.Readiness != ReadinessNotReady })
	switch {
	case targetProblemFound == nil && usableTargetIndex >= 0:
		return liveTargets[usableTargetIndex], nil
	case targetProblemFound == nil && !slices.ContainsFunc(liveTargets, func(t Target) bool { return !t.IsFrozen }):
		return Target{}, &targetProblem{err: &wire.CallError{Code: wire.ErrTabFrozen, NotStarted: true, Message: fmt.Sprintf(
			"the browser has suspended tab %d to save resources, so nothing runs in it", liveTargets[0].TabID)}}
	case targetProblemFound == nil:
		return Target{}, &targetProblem{err: &wire.CallError{Code: wire.ErrNotReady, NotStarted: true, Message: fmt.Sprintf(
			"%s is open, but the plugin was not ready in its page within the last 30 s, most often because the page requires a login (%s)",
			req.Tool.displayName(), describeTargets(liveTargets))}}
	case canOpenTab(targets, targetChoice):
		return targets.BrowsersToOpen[0], nil
	}
	return Target{}, targetProblemFound
}

func canOpenTab(targets Targets, targetChoice TargetChoice) bool {
	hasMatch := func(groups ...[]Target) bool {
		return slices.ContainsFunc(groups, func(group []Target) bool { return len(matchingTargets(group, targetChoice)) > 0 })
	}
	return len(targets.BrowsersToOpen) == 1 && targets.OpenedTab == nil &&
		!hasMatch(targets.LiveTargets, targets.UnresponsiveTargets, targets.TabsToReload, targets.BrokenTabs, targets.LoadingTabs, targets.ErrorPages, targets.TabsWithoutPluginCode)
}

func reloadReason(tab Target) string {
	title := tab.Title
	if title == "" {
		title = tab.URL
	}
	return fmt.Sprintf("First, tab %d (%s) is reloaded, because its page was loaded before the plugin was added or changed. Unsaved input in the tab is lost", tab.TabID, title)
}

// reloadGate is the gate that asks the user to approve the reload of a tab that may contain
// unsaved input.
type reloadGate struct{}

// The method Name implements Gate.
func (reloadGate) Name() string { return "reload" }

// The method Decide implements Gate. Decide suspends every call, so a call waits until the
// user allows or denies the reload.
func (reloadGate) Decide(CallInfo) Verdict { return Verdict{Suspend: &Ticket{}} }

func requestReload(ctx context.Context, c *liveCall, tab Target) bool {
	c.mu.Lock()
	isApproved := c.isReloadApproved
	c.mu.Unlock()
	if isApproved {
		return false
	}
	request := Ticket{
		Kind: wire.TicketPermission, Title: c.req.Tool.displayName(), Scopes: []wire.Scope{wire.ScopeOnce}, reloadsTab: true, runTarget: tab,
		Reason: c.req.Tool.FullName() + " needs a reload of its page. " + reloadReason(tab),
	}
	return c.requestApproval(ctx, request, reloadGate{}) && c.passGates(ctx)
}
