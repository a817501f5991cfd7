package dispatch

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// openHookInterval is the time between two runs of the open hook. The open hook receives
// all calls that have arrived since its last run and have not ended.
const openHookInterval = 500 * time.Millisecond

// OpenHook is a hook that runs for each accepted call that has not ended after up to 500
// ms. Calls do not wait for an OpenHook. An OpenHook may run concurrently with another
// OpenHook or an [AfterHook], and must not block.
type OpenHook interface {
	// Open receives a call that has not ended, so the result and the error in the EndedCall
	// are empty.
	Open(CallInfo, EndedCall)
}

// openHookTimer runs the open hook while calls arrive. Dispatcher.mu guards all fields of
// openHookTimer.
type openHookTimer struct {
	timer *time.Timer // nil until the first call arrives
	isSet bool
	// hookedCount is the value of Dispatcher.acceptedCount when the hook last ran.
	hookedCount uint64
}

// set schedules the open hook to run within openHookInterval. The caller holds
// Dispatcher.mu.
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

// run passes all new calls that have not ended to the open hook, oldest first.
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

// hookFacts returns the facts about a call that after hooks and open hooks receive.
func hookFacts(c *liveCall) (CallInfo, EndedCall) {
	info, args, view := c.gateInfo(nil), shownArgs(c), c.fullView()
	info.Args = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	lastMessages := c.reports.lastMessages
	if view.Ended == nil { // later reports of the call would change the array of lastMessages
		lastMessages = slices.Clone(lastMessages)
	}
	return info, EndedCall{
		View: view, Target: c.attempts.target, Output: c.state.output,
		Args: args, IsArgsMasked: !bytes.Equal(args, c.req.Args),
		Resolutions: c.suspension.resolutions, LastMessages: lastMessages, DroppedMessages: c.reports.droppedCount,
	}
}
