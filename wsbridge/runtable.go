package wsbridge

import (
	"encoding/json"
	"sync"
	"time"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// runTable has the unfinished runs of one browser and the stops of cancelled runs, also
// while the link is lost.
type runTable struct {
	hub       *Hub
	browserID string

	mu         sync.Mutex // mu guards all fields below; frames are posted under mu to keep their order
	link       *link      // nil while the link is lost
	isClosed   bool       // true after a call of close
	runs       map[string]*run
	startCount int // the number of runs that have started so far
	stops      map[string]*pendingStop
	// generation counts the changes of the field link. A timer does nothing if
	// generation has changed since the timer was set.
	generation   int
	resumedTimer *time.Timer // the timer that awaitResumed sets
}

// connect makes l the link of the browser, and sends frames again that the lost link
// may have lost. If lostErr is not nil, the earlier runs end with lostErr. connect
// returns functions that the caller must call without a lock.
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

// setLink sets the link and stops the timer of the previous link. The caller holds
// runTable.mu.
func (rt *runTable) setLink(l *link) {
	if rt.resumedTimer != nil {
		rt.resumedTimer.Stop()
		rt.resumedTimer = nil
	}
	rt.link = l
	rt.generation++
}

// close ends all runs and stops, and rejects new runs. close returns functions that the
// caller must call without a lock.
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

// removeRun removes the run with this ID and returns the run, or nil if the ID is
// unknown. The caller must call Finish of the removed run's sink.
func (rt *runTable) removeRun(id string) *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[id]
	delete(rt.runs, id)
	return r
}

// endAll ends all runs with an error and reports all stops as ignored. endAll returns
// the functions that finish the runs, to be called without a lock. The caller holds
// runTable.mu.
func (rt *runTable) endAll(cause *wire.CallError) (finishFuncs []func()) {
	for id, r := range rt.runs {
		runErr := cause
		if r.isUnsent { // the call of an unsent run may be retried in another browser
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

// finishLater removes a run and returns the function that ends the run, to be called
// without a lock. The caller holds runTable.mu.
func (rt *runTable) finishLater(id string, output json.RawMessage, err *wire.CallError) func() {
	r := rt.runs[id]
	delete(rt.runs, id)
	if err != nil {
		rt.hub.opts.Log.Debug().Str("call", id).Str("browser", rt.browserID).Str("code", string(err.Code)).Msg("run ended")
	}
	return func() { r.sink.Finish(output, err) }
}

// awaitResumed gives the browser the grace period to list its runs. The caller holds
// runTable.mu.
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

// endUnlisted ends the runs about which the reconnected browser has sent no frame.
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
