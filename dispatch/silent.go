package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"opentabs/wire"
)

// stoppedPage returns the error of a call that was silent for its idle limit
// because its page is suspended or does not answer; nil if the page runs. silence
// says how long the call was silent.
func (c *liveCall) stoppedPage(silence string) *wire.CallError {
	c.mu.Lock()
	at := c.target
	c.mu.Unlock()
	now, cancel := context.WithCancel(context.Background())
	cancel() // of what is there at this moment
	there := c.d.bridge.Targets(now, Want{Plugin: c.req.Tool.Plugin, Browser: at.Browser, TabID: at.TabID})
	here := func(t Target) bool { return t.Browser == at.Browser && t.TabID == at.TabID }
	isFrozen := func(t Target) bool { return here(t) && t.Frozen }
	switch {
	case at.Browser == "":
		return nil
	case slices.ContainsFunc(slices.Concat(there.Live, there.Silent), isFrozen):
		return &wire.CallError{Code: wire.ErrTabFrozen, Message: fmt.Sprintf(
			"%s: the browser has suspended tab %d to save resources, so nothing runs in it; the call may have taken effect", silence, at.TabID)}
	case !slices.ContainsFunc(there.Silent, here):
		return nil
	}
	message := fmt.Sprintf("the page of tab %d does not answer: a script occupies it", at.TabID)
	if calls := c.d.callsIn(at); len(calls) > 0 {
		message += "; running there when it stopped answering: " + strings.Join(calls, ", ")
	}
	return &wire.CallError{Code: wire.ErrPageUnresponsive, Message: message}
}

// maxCallsNamed is how many calls an error names.
const maxCallsNamed = 8

// callsIn names the calls that run in the tabs of one site of a browser, which
// may share a thread, and those that ended there because the page did not answer.
func (d *Dispatcher) callsIn(at Target) []string {
	d.mu.Lock()
	all := slices.Clone(d.order)
	for _, c := range d.live {
		all = append(all, c)
	}
	d.mu.Unlock()
	slices.SortFunc(all, func(a, b *liveCall) int { return a.created.Compare(b.created) })
	var names []string
	for _, c := range all {
		c.mu.Lock()
		stuck := c.status == StatusRunning || c.err != nil && c.err.Code == wire.ErrPageUnresponsive
		in, begun := c.target, !c.begun.IsZero()
		c.mu.Unlock()
		if there := in.Browser == at.Browser && (in.TabID == at.TabID || sameHost(in.URL, at.URL)); stuck && there && begun {
			names = append(names, fmt.Sprintf("%s (%s) in tab %d", c.req.Tool.FullName(), c.id, in.TabID))
		}
	}
	return names[:min(len(names), maxCallsNamed)]
}
