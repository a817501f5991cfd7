package wsbridge

import (
	"context"
	"fmt"
	"slices"

	"opentabs/dispatch"
	"opentabs/wire"
)

// run is one unfinished run. runTable.mu guards its fields.
type run struct {
	sink  dispatch.Sink
	limit int // largest result, in bytes
	// tabID and documentID are the target of the run.
	tabID      int
	documentID string
	// number is the position in the order in which the browser's runs started.
	number int
	// request is the run as it was sent, to send it again after a reconnect. request is
	// cleared when the browser has confirmed the run by any frame about it
	// (isConfirmed).
	request     dispatch.Run
	isConfirmed bool
	// isUnsent is true while the run waits for a lost link and was never sent.
	isUnsent bool
	// isListed is false from a reconnect until the browser lists or reports the
	// run.
	isListed bool
	// reports counts the reports that arrived.
	reports int
	// parts is the text of the result so far, next the number of the next part.
	parts wire.ResultText
	next  int
	// asks are the requests of the run. resyncs are tool.resync frames that
	// wait for a reconnect.
	asks    asks
	resyncs [][]byte
}

// Start implements dispatch.Bridge. Start does not wait for the network. Start returns
// browser_lost if the target's browser is not connected, navigated if the document is
// gone, and invalid_arguments if the frame would be too large.
//
// A browser with a lost link counts as connected for the grace period: the run
// is sent after the reconnect, or ends with link_lost.
func (h *Hub) Start(_ context.Context, r dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if r.MaxResultBytes <= 0 {
		r.MaxResultBytes = wire.DefaultMaxResultBytes
	}
	frame := encodeRun(&r, false)
	if len(frame) > wire.MaxFrameBytes {
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(
			"the arguments are %d bytes long, and a frame is limited to %d", len(r.Args), wire.MaxFrameBytes)}
	}
	b := h.registry.find(r.Target.Browser)
	if b == nil {
		return notConnected(r.Target)
	}
	return b.start(&r, frame, sink)
}

func notConnected(t dispatch.Target) *wire.CallError {
	return &wire.CallError{Code: wire.ErrBrowserLost, Message: fmt.Sprintf("the browser %q is not connected", t.BrowserName)}
}

// start starts a run if its document is still there.
func (b *browser) start(r *dispatch.Run, frame []byte, sink dispatch.Sink) *wire.CallError {
	isShown := b.tabs.isShowing(r.Target.TabID, r.Target.DocumentID)
	return b.runs.start(r, frame, sink, isShown)
}

// start adds a run and sends it, now or after a reconnect.
func (rt *runTable) start(r *dispatch.Run, frame []byte, sink dispatch.Sink, isShown bool) *wire.CallError {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.isClosed {
		return notConnected(r.Target)
	}
	if !isShown {
		return &wire.CallError{Code: wire.ErrNavigated, Message: "the tab navigated to another document"}
	}
	if _, taken := rt.runs[r.ID]; taken {
		return &wire.CallError{Code: wire.ErrInternal, Message: "a run with this ID already exists"}
	}
	rt.started++
	started := &run{
		sink: sink, limit: r.MaxResultBytes, isListed: true, number: rt.started, request: *r,
		tabID: r.Target.TabID, documentID: r.Target.DocumentID,
	}
	rt.runs[r.ID] = started
	if rt.link == nil || rt.link.hasEnded() {
		started.isUnsent = true
		sink.LinkLost()
	} else {
		rt.link.post(frame)
	}
	rt.hub.opts.Log.Debug().Str("call", r.ID).Str("browser", rt.browserID).Int("tab", r.Target.TabID).Bool("unsent", started.isUnsent).Msg("run started")
	return nil
}

// confirm records that the browser has sent a frame about the run, so the run
// has arrived. The caller holds runTable.mu.
func (r *run) confirm() {
	r.isListed = true
	if !r.isConfirmed {
		r.isConfirmed, r.request = true, dispatch.Run{}
	}
}

// resendRuns sends the unconfirmed runs in the order of their start: runs that
// waited for the link, and runs whose frame may have been lost with it. The
// caller holds mu; link is set.
func (rt *runTable) resendRuns() {
	var unheard []*run
	for _, r := range rt.runs {
		if !r.isConfirmed {
			unheard = append(unheard, r)
		}
	}
	slices.SortFunc(unheard, func(x, y *run) int { return x.number - y.number })
	for _, r := range unheard {
		rt.link.post(encodeRun(&r.request, !r.isUnsent))
		r.isUnsent, r.isListed = false, true
	}
}

// encodeRun returns the tool.dispatch of a run.
func encodeRun(r *dispatch.Run, again bool) []byte {
	return wire.AppendDispatch(nil, &wire.ToolDispatchParams{
		DispatchID: r.ID, Plugin: r.Plugin, Tool: r.Tool, TabID: r.Target.TabID, DocumentID: r.Target.DocumentID,
		MaxResultBytes: r.MaxResultBytes, Again: again, Prompt: r.Prompt, Decision: r.Decision, Args: r.Args,
	})
}
