package dispatch

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// openHookInterval is the time between two runs of the open hooks. At each run, the hooks
// receive the calls that have arrived since the last run and have not ended.
const openHookInterval = 500 * time.Millisecond

// OpenHook is a hook that runs at most once for each accepted call, up to 500 ms after its
// arrival and not on its path. OpenHook does not run for a call that has ended by then.
// OpenHook may run at the same time as another OpenHook or an [AfterHook], and does not
// block.
type OpenHook interface {
	// Open receives a call that has not ended. The ending in EndedCall is empty.
	Open(CallInfo, EndedCall)
}

// openHookTimer makes the open hook run while calls arrive. Dispatcher.mu guards all fields.
type openHookTimer struct {
	timer *time.Timer // nil before the first call
	isSet bool
	// hookedCount is Dispatcher.acceptedCount at the last run.
	hookedCount uint64
}

// set makes the open hook run within openHookInterval. The caller has locked d.mu.
func (t *openHookTimer) set(d *Dispatcher) {
	switch {
	case d.opts.OpenHook == nil || t.isSet:
		return
	case t.timer == nil:
		t.timer = time.AfterFunc(openHookInterval, func() { t.run(d) })
	default:
		t.timer.Reset(openHookInterval)
	}
	t.isSet = true
}

// run passes the new calls that have not ended to the open hook, oldest first.
func (t *openHookTimer) run(d *Dispatcher) {
	d.mu.Lock()
	t.isSet = false
	var calls []*liveCall
	for _, c := range d.liveCalls {
		if c.arrivalNumber > t.hookedCount {
			calls = append(calls, c)
		}
	}
	t.hookedCount = d.acceptedCount
	d.mu.Unlock()
	slices.SortFunc(calls, func(a, b *liveCall) int { return cmp.Compare(a.arrivalNumber, b.arrivalNumber) })
	for _, c := range calls {
		if info, call := hookFacts(c); call.View.Ended == nil {
			d.opts.OpenHook.Open(info, call)
		}
	}
}

// hookFacts returns what hooks receive about a call.
func hookFacts(c *liveCall) (CallInfo, EndedCall) {
	info, args, view := c.gateInfo(nil), shownArgs(c), c.fullView()
	info.Args = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	lastMessages := c.reports.lastMessages
	if view.Ended == nil { // the call may report more, which changes the array of lastMessages
		lastMessages = slices.Clone(lastMessages)
	}
	return info, EndedCall{
		View: view, Target: c.attempts.target, Output: c.state.output,
		Args: args, IsArgsMasked: !bytes.Equal(args, c.req.Args),
		Resolutions: c.suspension.resolutions, LastMessages: lastMessages,
	}
}
