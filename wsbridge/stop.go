package wsbridge

import (
	"time"

	"opentabs/wire"
)

// pendingStop is a cancelled call whose page has not yet answered tool.cancel. The mutex
// runTable.mu guards all fields of a pendingStop.
type pendingStop struct {
	reason    string
	onOutcome func(wire.CancelOutcome) // onOutcome is nil after the outcome was reported
	timer     *time.Timer
	// isSent is false if the page may not have received the tool.cancel frame.
	isSent bool
}

// The method Cancel implements dispatch.Bridge by sending tool.cancel to the page of a call.
// Cancel does not wait for the network. If the hub does not have the call, Cancel calls
// onOutcome with "finished" before it returns. If the call was never sent to a browser,
// Cancel calls onOutcome with "aborted" before it returns.
func (h *Hub) Cancel(id, reason string, onOutcome func(wire.CancelOutcome)) {
	for _, b := range h.registry.listBrowsers() {
		isFound, isSent := b.runs.cancel(id, reason, onOutcome)
		if isFound && !isSent {
			onOutcome(wire.CancelAborted)
		}
		if isFound {
			return
		}
	}
	onOutcome(wire.CancelFinished)
}

func (rt *runTable) cancel(id, reason string, onOutcome func(wire.CancelOutcome)) (isFound, isSent bool) {
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
	s := &pendingStop{reason: reason, onOutcome: onOutcome}
	s.timer = time.AfterFunc(wire.CancelTimeoutMs*time.Millisecond, func() { rt.expireStop(id, s) })
	rt.stops[id] = s
	if rt.link != nil {
		rt.link.postFrame(cancelFrame(id, reason))
		s.isSent = true
	}
	rt.hub.opts.Log.Debug().Str("call", id).Str("browser", rt.browserID).Bool("sent", s.isSent).Msg("tool.cancel requested")
	return true, true
}

func cancelFrame(id, reason string) []byte {
	return wire.AppendRequest(nil, cancelIDPrefix+id, wire.MethodToolCancel,
		wire.EncodeBody(wire.ToolCancelParams{DispatchID: id, Reason: reason}))
}

// The caller must release runTable.mu before it calls the returned function. The caller of takeOutcomeFunc
// holds runTable.mu.
func (s *pendingStop) takeOutcomeFunc(outcome wire.CancelOutcome) func() {
	s.timer.Stop()
	answered := s.onOutcome
	s.onOutcome = nil
	if answered == nil {
		return func() {}
	}
	return func() { answered(outcome) }
}

// A tool.cancel that was never sent is kept until the reconnect.
func (rt *runTable) expireStop(id string, s *pendingStop) {
	rt.mu.Lock()
	if rt.stops[id] != s {
		rt.mu.Unlock()
		return
	}
	if s.isSent {
		delete(rt.stops, id)
	}
	reportOutcome := s.takeOutcomeFunc(wire.CancelIgnored)
	rt.mu.Unlock()
	reportOutcome()
}

func (rt *runTable) stopAnswered(l *link, id string, e wire.Envelope) {
	outcome := wire.CancelIgnored
	var r wire.ToolCancelResult
	if e.Error == nil && wire.DecodeBody(e.Result, &r) == nil {
		switch r.Outcome {
		case wire.CancelAborted, wire.CancelFinished:
			outcome = r.Outcome
		}
	}
	rt.mu.Lock()
	s := rt.stops[id]
	if s == nil {
		rt.mu.Unlock()
		l.log.Debug().Str("call", id).Msg("late answer to tool.cancel")
		return
	}
	delete(rt.stops, id)
	reportOutcome := s.takeOutcomeFunc(outcome)
	rt.mu.Unlock()
	reportOutcome()
}

// resendStops resends every unanswered tool.cancel, because the frames may have been lost with
// the link. The caller of resendStops holds runTable.mu.
func (rt *runTable) resendStops() {
	for id, s := range rt.stops {
		rt.link.postFrame(cancelFrame(id, s.reason))
		s.isSent = true
		if s.onOutcome == nil {
			delete(rt.stops, id)
		}
	}
}
