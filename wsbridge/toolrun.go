package wsbridge

import (
	"context"
	"fmt"
	"slices"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/wire"
)

// toolRun is one unfinished execution of a tool or prompt in a browser. The mutex
// runTable.mu guards all fields of a toolRun.
type toolRun struct {
	sink           dispatch.Sink
	trace          *hops.Trace
	maxResultBytes int
	tabID          int
	documentID     string
	startNumber    int
	// The field request is the tool call, which the hub stores so that the call can be sent
	// again after a reconnect. The field request is cleared once any frame from the browser
	// confirms that the call arrived (isConfirmed).
	request     dispatch.Run
	isConfirmed bool
	isUnsent    bool
	// isListedByBrowser becomes false on a reconnect, and true when the browser lists or
	// reports the call again.
	isListedByBrowser   bool
	reportCount         int
	resultParts         wire.ResultText
	nextPartIndex       int
	requests            runRequests
	pendingResyncFrames [][]byte
}

// The method Start implements dispatch.Bridge by sending a tool call to a browser. Start returns without waiting for
// the browser to receive the tool call. Start returns browser_lost if the browser is not connected, navigated if the
// document is gone, and invalid_arguments if the message frame would be too large.
//
// A browser with a lost link counts as connected for the grace period. If a call starts during the grace period, the
// call is sent after the reconnect, or fails with link_lost.
func (h *Hub) Start(_ context.Context, r dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if r.MaxResultBytes <= 0 {
		r.MaxResultBytes = wire.DefaultMaxResultBytes
	}
	frame := encodeRun(&r, false)
	if len(frame) > wire.MaxFrameBytes {
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(
			"the arguments are %d bytes long, and a frame is limited to %d", len(r.Args), wire.MaxFrameBytes)}
	}
	b := h.registry.findBrowser(r.Target.Browser)
	if b == nil {
		return newNotConnectedError(r.Target)
	}
	return b.startRun(&r, frame, sink)
}

func newNotConnectedError(t dispatch.Target) *wire.CallError {
	return &wire.CallError{Code: wire.ErrBrowserLost, Message: fmt.Sprintf("the browser %q is not connected", t.BrowserName)}
}

// For a call of a browser tool, only the extension checks which document the tab shows, because the server does not
// receive the documents of tabs without a plugin.
func (b *browser) startRun(r *dispatch.Run, frame []byte, sink dispatch.Sink) *wire.CallError {
	isDocumentShown := r.TargetKind != dispatch.TargetDocument || b.tabs.isShowingDocument(r.Target.TabID, r.Target.DocumentID)
	return b.runTable.startRun(r, frame, sink, isDocumentShown)
}

func (rt *runTable) startRun(r *dispatch.Run, frame []byte, sink dispatch.Sink, isDocumentShown bool) *wire.CallError {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.isClosed {
		return newNotConnectedError(r.Target)
	}
	if !isDocumentShown {
		return &wire.CallError{Code: wire.ErrNavigated, Message: "the tab navigated to another document"}
	}
	if _, isIDTaken := rt.runs[r.ID]; isIDTaken {
		return &wire.CallError{Code: wire.ErrInternal, Message: "a run with this ID already exists"}
	}
	rt.startCount++
	newRun := &toolRun{
		sink: sink, trace: r.Trace, maxResultBytes: r.MaxResultBytes, isListedByBrowser: true, startNumber: rt.startCount, request: *r,
		tabID: r.Target.TabID, documentID: r.Target.DocumentID,
	}
	rt.runs[r.ID] = newRun
	if rt.link == nil || rt.link.hasEnded() {
		newRun.isUnsent = true
		sink.LinkLost()
	} else {
		r.Trace.Record(hops.CheckpointSent)
		rt.link.postFrame(frame)
	}
	rt.hub.opts.Log.Debug().Str("call", r.ID).Str("browser", rt.browserID).Int("tab", r.Target.TabID).Bool("unsent", newRun.isUnsent).Msg("run started")
	return nil
}

// The caller of confirm holds runTable.mu.
func (r *toolRun) markConfirmed() {
	r.isListedByBrowser = true
	if !r.isConfirmed {
		r.isConfirmed, r.request = true, dispatch.Run{}
	}
}

// The caller of resendRuns holds runTable.mu, and runTable.link is not nil.
func (rt *runTable) resendRuns() {
	var unconfirmedRuns []*toolRun
	for _, r := range rt.runs {
		if !r.isConfirmed {
			unconfirmedRuns = append(unconfirmedRuns, r)
		}
	}
	slices.SortFunc(unconfirmedRuns, func(x, y *toolRun) int { return x.startNumber - y.startNumber })
	for _, r := range unconfirmedRuns {
		rt.link.postFrame(encodeRun(&r.request, !r.isUnsent))
		r.isUnsent, r.isListedByBrowser = false, true
	}
}

func encodeRun(r *dispatch.Run, isRepeated bool) []byte {
	return wire.AppendDispatch(nil, &wire.ToolDispatchParams{
		DispatchID: r.ID, Plugin: r.Plugin, Tool: r.Tool, TabID: r.Target.TabID, DocumentID: r.Target.DocumentID,
		MaxResultBytes: r.MaxResultBytes, IsResent: isRepeated, Prompt: r.Prompt, Trace: r.Trace != nil, Decision: r.Decision, Args: r.Args,
	})
}
