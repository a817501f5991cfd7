package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"opentabs/wire"
)

func (d *Dispatcher) pageProblem(c *liveCall, unresponsiveText string) *wire.CallError {
	c.mu.Lock()
	target := c.attempts.runTarget
	c.mu.Unlock()
	if target.Browser == "" {
		return nil
	}
	cancelledCtx, cancel := context.WithCancel(context.Background())
	cancel()
	targets := d.bridge.Targets(cancelledCtx, TargetChoice{Plugin: c.req.Tool.Plugin, Browser: target.Browser, TabID: target.TabID})
	isFrozen := func(t Target) bool { return t.isSameTab(target) && t.IsFrozen }
	switch {
	case slices.ContainsFunc(slices.Concat(targets.LiveTargets, targets.UnresponsiveTargets), isFrozen):
		return &wire.CallError{Code: wire.ErrTabFrozen, Message: fmt.Sprintf(
			"%s: the browser has suspended tab %d to save resources, so nothing runs in it; the call may have taken effect", unresponsiveText, target.TabID)}
	case !slices.ContainsFunc(targets.UnresponsiveTargets, target.isSameTab):
		return nil
	}
	errorMessage := fmt.Sprintf("the page of tab %d does not respond because a script blocks it", target.TabID)
	if callNames := d.runningCallNames(target); len(callNames) > 0 {
		errorMessage += "; running there when it stopped answering: " + strings.Join(callNames, ", ")
	}
	return &wire.CallError{Code: wire.ErrPageUnresponsive, Message: errorMessage}
}

const maxNamedCalls = 8

// Tabs of one site may share a thread, so runningCallNames returns the calls in all tabs of the site.
func (d *Dispatcher) runningCallNames(target Target) []string {
	liveCalls, endedCalls := d.snapshotCalls()
	calls := append(liveCalls, endedCalls...)
	slices.SortFunc(calls, func(a, b *liveCall) int { return a.createdAt.Compare(b.createdAt) })
	var names []string
	for _, c := range calls {
		c.mu.Lock()
		isRunningOrStuck := c.state.status == statusRunning || c.state.err != nil && c.state.err.Code == wire.ErrPageUnresponsive
		callTarget, hasStarted := c.attempts.runTarget, c.state.hasStarted()
		c.mu.Unlock()
		isSameSite := callTarget.Browser == target.Browser && (callTarget.TabID == target.TabID || haveSameHost(callTarget.URL, target.URL))
		if isRunningOrStuck && isSameSite && hasStarted {
			names = append(names, fmt.Sprintf("%s (%s) in tab %d", c.req.Tool.FullName(), c.id, callTarget.TabID))
		}
	}
	return names[:min(len(names), maxNamedCalls)]
}
