package wsbridge

import (
	"encoding/json"
	"time"

	"opentabs/wire"
)

// stop is a run that its page was told to stop, or will be told when the link
// is back. Its fields are guarded by browser.mu.
type stop struct {
	reason   string
	answered func(wire.CancelOutcome) // nil once it has been called
	timer    *time.Timer
	// sent is false if the page may not have been told.
	sent bool
}

// Cancel implements dispatch.Bridge. It does not wait for the network, and it
// calls answered itself only if there is no page to tell: with "finished" for a
// run that is not known, with "aborted" for one that was not sent yet.
func (h *Hub) Cancel(id, reason string, answered func(wire.CancelOutcome)) {
	for _, b := range h.list() {
		found, sent := b.cancel(id, reason, answered)
		if found && !sent {
			answered(wire.CancelAborted)
		}
		if found {
			return
		}
	}
	answered(wire.CancelFinished)
}

// cancel takes a run out of the table. If it was sent, the page is told to
// stop, and answered is called when that is settled.
func (b *browser) cancel(id, reason string, answered func(wire.CancelOutcome)) (found, sent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[id]
	if r == nil {
		return false, false
	}
	delete(b.runs, id)
	if r.held {
		return true, false
	}
	s := &stop{reason: reason, answered: answered}
	s.timer = time.AfterFunc(wire.CancelAnswerMs*time.Millisecond, func() { b.expireStop(id, s) })
	b.stops[id] = s
	if b.link != nil {
		b.link.post(cancelFrame(id, reason))
		s.sent = true
	}
	b.hub.opts.Log.Debug().Str("call", id).Str("browser", b.id).Bool("sent", s.sent).Msg("page told to stop")
	return true, true
}

func cancelFrame(id, reason string) []byte {
	return wire.AppendRequest(nil, cancelID+id, wire.MethodToolCancel,
		marshal(wire.ToolCancelParams{DispatchID: id, Reason: reason}))
}

// settle stops the timer and returns the call that tells the outcome, to be
// made without a lock; that does nothing if it was told before. The caller
// holds browser.mu.
func (s *stop) settle(outcome wire.CancelOutcome) func() {
	s.timer.Stop()
	answered := s.answered
	s.answered = nil
	if answered == nil {
		return func() {}
	}
	return func() { answered(outcome) }
}

// expireStop settles a stop that was not answered in time. One that the page
// was not told of stays, for the return of the link.
func (b *browser) expireStop(id string, s *stop) {
	b.mu.Lock()
	if b.stops[id] != s {
		b.mu.Unlock()
		return
	}
	if s.sent {
		delete(b.stops, id)
	}
	tell := s.settle(wire.CancelIgnored)
	b.mu.Unlock()
	tell()
}

// stopAnswered takes a page's answer to tool.cancel.
func (b *browser) stopAnswered(l *link, id string, e wire.Envelope) {
	outcome := wire.CancelIgnored
	var r wire.ToolCancelResult
	if e.Error == nil && json.Unmarshal(e.Result, &r) == nil {
		switch r.Outcome {
		case wire.CancelAborted, wire.CancelFinished:
			outcome = r.Outcome
		}
	}
	b.mu.Lock()
	s := b.stops[id]
	if s == nil {
		b.mu.Unlock()
		l.log.Debug().Str("call", id).Msg("late answer to a stop")
		return
	}
	delete(b.stops, id)
	tell := s.settle(outcome)
	b.mu.Unlock()
	tell()
}

// resendStops tells the page again of every stop that it may not have heard,
// because the link was lost. The caller holds mu.
func (b *browser) resendStops() {
	for id, s := range b.stops {
		b.link.post(cancelFrame(id, s.reason))
		s.sent = true
		if s.answered == nil {
			delete(b.stops, id)
		}
	}
}

// marshal returns the JSON of a type of package wire whose fields are all
// strings, numbers, bools and lists of them, so that it can't fail.
func marshal(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic("wsbridge: " + err.Error())
	}
	return out
}
