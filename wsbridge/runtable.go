package wsbridge

import (
	"encoding/json"
	"sync"
	"time"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// runTable stores the unfinished calls of one browser, and the cancelled calls whose page has not
// confirmed tool.cancel. When the browser's link is lost, its runTable remains, so that the calls
// can continue after a reconnect.
type runTable struct {
	hub       *Hub
	browserID string

	mu           sync.Mutex // the mutex guards all fields below; frames are queued under mu to keep their order
	link         *link      // the field link is nil while the link is lost
	isClosed     bool
	runs         map[string]*toolRun
	startCount   int
	pendingStops map[string]*pendingStop
	// The field generation counts how often the field link changed.
	generation         int
	resumeTimeoutTimer *time.Timer
}

// Each function that connect returns finishes one call, and the caller must call the function without
// holding a lock.
func (rt *runTable) connect(l *link, linkLostErr *wire.CallError) (finishFuncs []func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if linkLostErr != nil {
		finishFuncs = rt.endAllRuns(linkLostErr)
	}
	rt.setLink(l)
	rt.resendStops()
	rt.startResumeTimeout()
	rt.resendRuns()
	for _, r := range rt.runs {
		r.sink.LinkRestored()
	}
	return finishFuncs
}

func (rt *runTable) disconnect() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.setLink(nil)
	for _, s := range rt.pendingStops {
		s.isSent = false // the tool.cancel may have been lost with the link
	}
	for _, r := range rt.runs {
		r.sink.LinkLost()
	}
	return len(rt.runs)
}

// The caller of setLink holds runTable.mu.
func (rt *runTable) setLink(l *link) {
	if rt.resumeTimeoutTimer != nil {
		rt.resumeTimeoutTimer.Stop()
		rt.resumeTimeoutTimer = nil
	}
	rt.link = l
	rt.generation++
}

// Each returned function finishes one call, and the caller must call the function without holding a lock.
func (rt *runTable) close(callError *wire.CallError) []func() {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.setLink(nil)
	rt.isClosed = true
	return rt.endAllRuns(callError)
}

func (rt *runTable) countRuns() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.runs)
}

// The caller must call Finish on the sink of the removed call.
func (rt *runTable) removeRun(id string) *toolRun {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[id]
	delete(rt.runs, id)
	return r
}

// Each returned function finishes one call or one cancellation, and must be called while no lock is held. The caller of
// endAllRuns holds runTable.mu.
func (rt *runTable) endAllRuns(callError *wire.CallError) (finishFuncs []func()) {
	for id, r := range rt.runs {
		runErr := callError
		if r.isUnsent { // a call that was never sent may be retried in another browser
			notStartedErr := *callError
			notStartedErr.NotStarted = true
			runErr = &notStartedErr
		}
		finishFuncs = append(finishFuncs, rt.newFinishFunc(id, nil, runErr))
	}
	for id, s := range rt.pendingStops {
		finishFuncs = append(finishFuncs, s.takeOutcomeCallback(wire.CancelIgnored))
		delete(rt.pendingStops, id)
	}
	return finishFuncs
}

// The caller must call the returned function without holding a lock. newFinishFunc itself is called with runTable.mu
// held.
func (rt *runTable) newFinishFunc(id string, toolOutput json.RawMessage, err *wire.CallError) func() {
	r := rt.runs[id]
	delete(rt.runs, id)
	if err != nil {
		rt.hub.opts.Log.Debug().Str("call", id).Str("browser", rt.browserID).Str("code", string(err.Code)).Msg("run ended")
	}
	return func() { r.sink.Finish(toolOutput, err) }
}

// The caller of startResumeTimeout holds runTable.mu.
func (rt *runTable) startResumeTimeout() {
	if len(rt.runs) == 0 {
		return
	}
	for _, r := range rt.runs {
		r.isListedByBrowser = false
	}
	generation := rt.generation
	rt.resumeTimeoutTimer = time.AfterFunc(rt.hub.opts.GracePeriod, func() { rt.endUnresumedRuns(generation) })
}

func (rt *runTable) endUnresumedRuns(generation int) {
	rt.mu.Lock()
	var finishFuncs []func()
	if rt.generation == generation {
		for id, r := range rt.runs {
			if r.isListedByBrowser {
				continue
			}
			finishFuncs = append(finishFuncs, rt.newFinishFunc(id, nil, &wire.CallError{Code: wire.ErrLinkLost,
				Message: "the link to the browser was lost, and the reconnected browser no longer has the call"}))
		}
	}
	rt.mu.Unlock()
	runAll(finishFuncs)
}

// If the list contains a call that the server no longer has, handleResumedRuns sends tool.cancel to the call's page.
func (rt *runTable) handleResumedRuns(l *link, ids []string) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, id := range ids {
		if r := rt.runs[id]; r != nil {
			r.markConfirmed()
			if rt.link == l {
				rt.resendAnswers(r)
			}
			continue
		}
		if rt.pendingStops[id] == nil && inbound.IsID(id) {
			l.log.Debug().Str("call", id).Msg("the browser runs a call that the server no longer has; stopping it")
			l.postFrame(cancelFrame(id, "the server no longer has this call"))
		}
	}
}
