package wsbridge

import (
	"encoding/json"
	"sync"
	"time"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// runTable has the unfinished runs of one browser and the stops of cancelled runs.
// runTable keeps them while the link is lost.
type runTable struct {
	hub       *Hub
	browserID string

	mu       sync.Mutex // guards all fields below; frames are posted under mu, in order
	link     *link      // nil while it is lost
	isClosed bool       // after close
	runs     map[string]*run
	started  int // runs so far
	stops    map[string]*stop
	// generation counts the changes of link. A timer that was set for an older
	// generation does nothing.
	generation int
	timer      *time.Timer // of awaitResumed
}

// connect makes l the link and resends what the lost link may have lost. If lost is not
// nil, the earlier runs ended with the error lost. connect returns functions to call
// without a lock.
func (rt *runTable) connect(l *link, lost *wire.CallError) (after []func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if lost != nil {
		after = rt.endAll(lost)
	}
	rt.setLink(l)
	rt.resendStops()
	rt.awaitResumed()
	rt.resendRuns()
	for _, r := range rt.runs {
		r.sink.LinkRestored()
	}
	return after
}

// disconnect records that the link is lost, and returns the number of runs.
func (rt *runTable) disconnect() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.setLink(nil)
	for _, s := range rt.stops {
		s.sent = false // the frame may be lost
	}
	for _, r := range rt.runs {
		r.sink.LinkLost()
	}
	return len(rt.runs)
}

// setLink sets the link and stops the timer of the previous link. The caller holds mu.
func (rt *runTable) setLink(l *link) {
	if rt.timer != nil {
		rt.timer.Stop()
		rt.timer = nil
	}
	rt.link = l
	rt.generation++
}

// close ends all runs and stops, and rejects further runs. close returns functions to
// call without a lock.
func (rt *runTable) close(why *wire.CallError) []func() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.setLink(nil)
	rt.isClosed = true
	return rt.endAll(why)
}

// countRuns returns the number of unfinished runs.
func (rt *runTable) countRuns() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.runs)
}

// remove removes a run and returns it, or nil if there is none. The caller
// must finish the run.
func (rt *runTable) remove(id string) *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[id]
	delete(rt.runs, id)
	return r
}

// endAll ends all runs with an error and settles all stops. endAll returns functions to
// call without a lock. The caller holds mu.
func (rt *runTable) endAll(why *wire.CallError) (after []func()) {
	for id, r := range rt.runs {
		end := why
		if r.isUnsent { // the call may be retried
			unsent := *why
			unsent.NotStarted = true
			end = &unsent
		}
		after = append(after, rt.finish(id, nil, end))
	}
	for id, s := range rt.stops {
		after = append(after, s.settle(wire.CancelIgnored))
		delete(rt.stops, id)
	}
	return after
}

// finish removes a run and returns the function that ends it, to be called
// without a lock. The caller holds mu.
func (rt *runTable) finish(id string, output json.RawMessage, err *wire.CallError) func() {
	r := rt.runs[id]
	delete(rt.runs, id)
	if err != nil {
		rt.hub.opts.Log.Debug().Str("call", id).Str("browser", rt.browserID).Str("code", string(err.Code)).Msg("run ended")
	}
	return func() { r.sink.Finish(output, err) }
}

// awaitResumed gives the browser the grace period to list its runs. The caller
// holds mu.
func (rt *runTable) awaitResumed() {
	if len(rt.runs) == 0 {
		return
	}
	for _, r := range rt.runs {
		r.isListed = false
	}
	generation := rt.generation
	rt.timer = time.AfterFunc(rt.hub.opts.Grace, func() { rt.endUnlisted(generation) })
}

// endUnlisted ends the runs that the browser has not listed or reported on
// since its reconnect.
func (rt *runTable) endUnlisted(generation int) {
	rt.mu.Lock()
	var after []func()
	if rt.generation == generation {
		for id, r := range rt.runs {
			if r.isListed {
				continue
			}
			after = append(after, rt.finish(id, nil, &wire.CallError{Code: wire.ErrLinkLost,
				Message: "the link to the browser was lost, and the reconnected browser no longer has the call"}))
		}
	}
	rt.mu.Unlock()
	runAll(after)
}

// handleResumed handles the browser's list of its runs. Runs that the server no
// longer has are stopped in their pages.
func (rt *runTable) handleResumed(l *link, ids []string) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, id := range ids {
		if r := rt.runs[id]; r != nil {
			r.confirm()
			if rt.link == l {
				rt.resendAnswers(r)
			}
			continue
		}
		if rt.stops[id] == nil && inbound.IsID(id) {
			l.log.Debug().Str("call", id).Msg("the browser runs a call that the server no longer has; stopping it")
			l.post(cancelFrame(id, "the server no longer has this call"))
		}
	}
}
