package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"opentabs/wire"
)

// pageProblem returns the error of a silent call whose page is suspended or does not
// answer; nil if the page runs. silence describes how long the call was silent.
func (d *Dispatcher) pageProblem(c *liveCall, silence string) *wire.CallError {
	c.mu.Lock()
	at := c.attempts.target
	c.mu.Unlock()
	if at.Browser == "" {
		return nil
	}
	now, cancel := context.WithCancel(context.Background())
	cancel() // Targets returns the current state without waiting
	all := d.bridge.Targets(now, Want{Plugin: c.req.Tool.Plugin, Browser: at.Browser, TabID: at.TabID})
	isFrozen := func(t Target) bool { return t.isSameTab(at) && t.Frozen }
	switch {
	case slices.ContainsFunc(slices.Concat(all.Live, all.Silent), isFrozen):
		return &wire.CallError{Code: wire.ErrTabFrozen, Message: fmt.Sprintf(
			"%s: the browser has suspended tab %d to save resources, so nothing runs in it; the call may have taken effect", silence, at.TabID)}
	case !slices.ContainsFunc(all.Silent, at.isSameTab):
		return nil
	}
	message := fmt.Sprintf("the page of tab %d does not answer: a script occupies it", at.TabID)
	if calls := d.callsIn(at); len(calls) > 0 {
		message += "; running there when it stopped answering: " + strings.Join(calls, ", ")
	}
	return &wire.CallError{Code: wire.ErrPageUnresponsive, Message: message}
}

// maxCallsNamed limits the calls that an error names.
const maxCallsNamed = 8

// callsIn names the calls that run in the tabs of one site of a browser, because these
// tabs may share a thread. callsIn includes calls that ended there because the page did
// not answer.
func (d *Dispatcher) callsIn(at Target) []string {
	live, ended := d.snapshotCalls()
	all := append(live, ended...)
	slices.SortFunc(all, func(a, b *liveCall) int { return a.created.Compare(b.created) })
	var names []string
	for _, c := range all {
		c.mu.Lock()
		isStuck := c.state.status == statusRunning || c.state.err != nil && c.state.err.Code == wire.ErrPageUnresponsive
		in, hasBegun := c.attempts.target, c.state.hasBegun()
		c.mu.Unlock()
		isThere := in.Browser == at.Browser && (in.TabID == at.TabID || sameHost(in.URL, at.URL))
		if isStuck && isThere && hasBegun {
			names = append(names, fmt.Sprintf("%s (%s) in tab %d", c.req.Tool.FullName(), c.id, in.TabID))
		}
	}
	return names[:min(len(names), maxCallsNamed)]
}
