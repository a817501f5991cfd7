package wsbridge

import (
	"encoding/json"
	"sync"
	"time"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// runTable has the unfinished runs of one browser and the stops of cancelled runs, and
// keeps them while the link is lost.
type runTable struct {
	hub       *Hub
	browserID string

	mu         sync.Mutex // guards all fields below; frames are posted under mu, in order
	link       *link      // nil while the link is lost
	isClosed   bool       // set by close
	runs       map[string]*run
	startCount int // the number of runs so far
	stops      map[string]*pendingStop
	// generation counts the changes of the link. A timer that was set for an older
	// generation does nothing.
	generation   int
	resumedTimer *time.Timer // the timer of awaitResumed
}

// connect makes l the link and resends what the lost link may have lost. If lostErr is
// not nil, the earlier runs end with lostErr. connect returns functions to call without
// a lock.
func (rt *runTable) connect(l *link, lostErr *wire.CallError) (finishFuncs []func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if lostErr != nil {
		finishFuncs = rt.endAll(lostErr)
	}
	rt.setLink(l)
	rt.resendStops()
	rt.awaitResumed()
	rt.resendRuns()
	for _, r := range rt.runs {
		r.sink.LinkRestored()
	}
	return finishFuncs
}

// disconnect records that the link is lost, and returns the number of runs.
func (rt *runTable) disconnect() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.setLink(nil)
	for _, s := range rt.stops {
		s.isSent = false // the tool.cancel may be lost with the link
	}
	for _, r := range rt.runs {
		r.sink.LinkLost()
	}
	return len(rt.runs)
}

// setLink sets the link and stops the timer of the previous link. The caller holds mu.
func (rt *runTable) setLink(l *link) {
	if rt.resumedTimer != nil {
		rt.resumedTimer.Stop()
		rt.resumedTimer = nil
	}
	rt.link = l
	rt.generation++
}

// close ends all runs and stops, and rejects further runs, and returns functions to
// call without a lock.
func (rt *runTable) close(cause *wire.CallError) []func() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.setLink(nil)
	rt.isClosed = true
	return rt.endAll(cause)
}

// countRuns returns the number of unfinished runs.
func (rt *runTable) countRuns() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.runs)
}

// removeRun removes a run and returns it, or nil if there is none. The caller
// must finish the run.
func (rt *runTable) removeRun(id string) *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[id]
	delete(rt.runs, id)
	return r
}

// endAll ends all runs with an error and reports all stops as ignored. endAll returns
// the functions that finish the runs, to be called without a lock. The caller holds mu.
func (rt *runTable) endAll(cause *wire.CallError) (finishFuncs []func()) {
	for id, r := range rt.runs {
		runErr := cause
		if r.isUnsent { // the call may be retried
			unsentErr := *cause
			unsentErr.NotStarted = true
			runErr = &unsentErr
		}
		finishFuncs = append(finishFuncs, rt.finishLater(id, nil, runErr))
	}
	for id, s := range rt.stops {
		finishFuncs = append(finishFuncs, s.takeOutcomeFunc(wire.CancelIgnored))
		delete(rt.stops, id)
	}
	return finishFuncs
}

// finishLater removes a run and returns the function that ends it, to be called
// without a lock. The caller holds mu.
func (rt *runTable) finishLater(id string, output json.RawMessage, err *wire.CallError) func() {
	r := rt.runs[id]
	delete(rt.runs, id)
	if err != nil {
		rt.hub.opts.Log.Debug().Str("call", id).Str("browser", rt.browserID).Str("code", string(err.Code)).Msg("run ended")
	}
	return func() { r.sink.Finish(output, err) }
}

// awaitResumed gives the browser the grace period to list its runs. The caller holds mu.
func (rt *runTable) awaitResumed() {
	if len(rt.runs) == 0 {
		return
	}
	for _, r := range rt.runs {
		r.isListed = false
	}
	generation := rt.generation
	rt.resumedTimer = time.AfterFunc(rt.hub.opts.GracePeriod, func() { rt.endUnlisted(generation) })
}

// endUnlisted ends the runs that the browser has not listed or reported on
// since its reconnect.
func (rt *runTable) endUnlisted(generation int) {
	rt.mu.Lock()
	var finishFuncs []func()
	if rt.generation == generation {
		for id, r := range rt.runs {
			if r.isListed {
				continue
			}
			finishFuncs = append(finishFuncs, rt.finishLater(id, nil, &wire.CallError{Code: wire.ErrLinkLost,
				Message: "the link to the browser was lost, and the reconnected browser no longer has the call"}))
		}
	}
	rt.mu.Unlock()
	callAll(finishFuncs)
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
			l.postFrame(cancelFrame(id, "the server no longer has this call"))
		}
	}
}
