package dispatch

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// openCallHookInterval is the time between two runs of the dispatcher's OpenCallHook.
const openCallHookInterval = 500 * time.Millisecond

// OpenCallHook is a hook for calls that are still in progress when the hook runs, at most 500 ms
// after they arrive. An OpenCallHook does not delay the calls that it receives. An OpenCallHook can
// run concurrently with another OpenCallHook or an [AfterHook], and must not block.
type OpenCallHook interface {
	// Open receives a call that is still in progress, so the EndedCall contains neither a
	// result nor an error.
	Open(CallInfo, EndedCall)
}

// openCallHookTimer schedules runs of the OpenCallHook while new calls arrive. All fields
// of openCallHookTimer are guarded by Dispatcher.mu.
type openCallHookTimer struct {
	timer              *time.Timer // the field timer is nil until the first call arrives
	isSet              bool
	callCountAtLastRun uint64
}

// The caller holds Dispatcher.mu.
func (t *openCallHookTimer) startTimer(d *Dispatcher) {
	switch {
	case d.opts.OpenCallHook == nil || t.isSet:
		return
	case t.timer == nil:
		t.timer = time.AfterFunc(openCallHookInterval, func() { t.run(d) })
	default:
		t.timer.Reset(openCallHookInterval)
	}
	t.isSet = true
}

func (t *openCallHookTimer) run(d *Dispatcher) {
	d.mu.Lock()
	t.isSet = false
	var calls []*liveCall
	for _, c := range d.liveCalls {
		if c.arrivalNumber > t.callCountAtLastRun {
			calls = append(calls, c)
		}
	}
	t.callCountAtLastRun = d.acceptedCallCount
	d.mu.Unlock()
	slices.SortFunc(calls, func(a, b *liveCall) int { return cmp.Compare(a.arrivalNumber, b.arrivalNumber) })
	for _, c := range calls {
		if callInfo, call := describeOpenCall(c); call.View.Ended == nil {
			d.opts.OpenCallHook.Open(callInfo, call)
		}
	}
}

func describeOpenCall(c *liveCall) (CallInfo, EndedCall) {
	callInfo, args, callView := c.gateInfo(nil), maskArgs(c), c.fullView()
	callInfo.Args = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	lastMessages := c.reports.lastMessages
	if callView.Ended == nil { // a call that has not ended may still change the array of lastMessages
		lastMessages = slices.Clone(lastMessages)
	}
	return callInfo, EndedCall{
		View: callView, Target: c.attempts.runTarget, Output: c.state.output,
		Args: args, IsArgsMasked: !bytes.Equal(args, c.req.Args),
		Resolutions: c.suspension.resolutions, LastMessages: lastMessages, DroppedMessages: c.reports.droppedCount,
	}
}
