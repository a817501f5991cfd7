package wsbridge

import (
	"time"

	"opentabs/wire"
)

// pendingStop is a cancelled call whose page has not yet answered tool.cancel. The mutex
// runTable.mu guards all fields of a pendingStop.
type pendingStop struct {
	closeReason string
	onOutcome   func(wire.CancelOutcome) // nil once the outcome is reported
	timer       *time.Timer
	// isSent is false if the page may not have received the tool.cancel frame.
	isSent bool
}

// Cancel implements dispatch.Bridge by sending tool.cancel to the page of a call. Cancel does
// not wait for the network. If the hub does not have the call, Cancel calls onOutcome with
// "finished" before it returns. If the call was never sent to a browser, Cancel calls
// onOutcome with "aborted" before it returns.
func (h *Hub) Cancel(id, cancelReason string, onOutcome func(wire.CancelOutcome)) {
	for _, b := range h.registry.listBrowsers() {
		isFound, isSent := b.runTable.cancel(id, cancelReason, onOutcome)
		if isFound && !isSent {
			onOutcome(wire.CancelAborted)
		}
		if isFound {
			return
		}
	}
	onOutcome(wire.CancelFinished)
}

func (rt *runTable) cancel(id, cancelReason string, onOutcome func(wire.CancelOutcome)) (isFound, isSent bool) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[id]
	if r == nil {
		return false, false
	}
	delete(rt.runs, id)
	if r.isUnsent {
		return true, false
	}
	s := &pendingStop{closeReason: cancelReason, onOutcome: onOutcome}
	s.timer = time.AfterFunc(wire.CancelTimeoutMs*time.Millisecond, func() { rt.finishUnansweredStop(id, s) })
	rt.pendingStops[id] = s
	if rt.link != nil {
		rt.link.postFrame(cancelFrame(id, cancelReason))
		s.isSent = true
	}
	rt.hub.opts.Log.Debug().Str("call", id).Str("browser", rt.browserID).Bool("sent", s.isSent).Msg("tool.cancel requested")
	return true, true
}

func cancelFrame(id, cancelReason string) []byte {
	return wire.AppendRequest(nil, cancelIDPrefix+id, wire.MethodToolCancel,
		wire.EncodeBody(wire.ToolCancelParams{DispatchID: id, Reason: cancelReason}))
}

// The caller holds runTable.mu, and must release runTable.mu before it calls the returned function.
func (s *pendingStop) takeOutcomeCallback(cancelOutcome wire.CancelOutcome) func() {
	s.timer.Stop()
	onOutcome := s.onOutcome
	s.onOutcome = nil
	if onOutcome == nil {
		return func() {}
	}
	return func() { onOutcome(cancelOutcome) }
}

// A tool.cancel that was never sent is kept until the reconnect.
func (rt *runTable) finishUnansweredStop(id string, s *pendingStop) {
	rt.mu.Lock()
	if rt.pendingStops[id] != s {
		rt.mu.Unlock()
		return
	}
	if s.isSent {
		delete(rt.pendingStops, id)
	}
	reportCancelOutcome := s.takeOutcomeCallback(wire.CancelIgnored)
	rt.mu.Unlock()
	reportCancelOutcome()
}

func (rt *runTable) handleStopReply(l *link, id string, e wire.Envelope) {
	cancelOutcome := wire.CancelIgnored
	var r wire.ToolCancelResult
	if e.Error == nil && wire.DecodeBody(e.Result, &r) == nil {
		switch r.Outcome {
		case wire.CancelAborted, wire.CancelFinished:
			cancelOutcome = r.Outcome
		}
	}
	rt.mu.Lock()
	s := rt.pendingStops[id]
	if s == nil {
		rt.mu.Unlock()
		l.log.Debug().Str("call", id).Msg("late answer to tool.cancel")
		return
	}
	delete(rt.pendingStops, id)
	reportCancelOutcome := s.takeOutcomeCallback(cancelOutcome)
	rt.mu.Unlock()
	reportCancelOutcome()
}

// resendStops resends every unanswered tool.cancel, because the frames may have been lost with
// the link. The caller of resendStops holds runTable.mu.
func (rt *runTable) resendStops() {
	for id, s := range rt.pendingStops {
		rt.link.postFrame(cancelFrame(id, s.closeReason))
		s.isSent = true
		if s.onOutcome == nil {
			delete(rt.pendingStops, id)
		}
	}
}
