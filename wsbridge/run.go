package wsbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"opentabs/dispatch"
	"opentabs/wire"
)

// run is one run that its browser has not ended. Its fields are guarded by
// browser.mu.
type run struct {
	sink  dispatch.Sink
	limit int // largest result, in bytes
	// tabID and documentID are where it was sent.
	tabID      int
	documentID string
	// number counts the browser's runs in the order of their start.
	number int
	// asked is what the browser was asked to run, to ask again on its return;
	// empty once it has said anything about the run.
	asked dispatch.Run
	heard bool
	// held is set while the run waits for a lost link.
	held bool
	// sure is false from the return of a lost link until the browser has said
	// anything about the run.
	sure bool
	// reports counts those that came.
	reports int
	// parts is the text of the result so far, next the number of the part that
	// comes next.
	parts []byte
	next  int
	half  rune // the first half of a character that the last part ended with, or 0
	// asks are what it asked for; resyncs the tool.resync frames that wait for
	// the browser's return.
	asks    asks
	resyncs [][]byte
}

// Start implements dispatch.Bridge. It does not wait for the network. It
// returns browser_lost if the target's browser is not connected, navigated if
// the document is gone, invalid_arguments if the frame would be too large.
//
// A browser whose link is lost counts as connected for the grace period: the
// run is sent when the browser is back, or ends with link_lost.
func (h *Hub) Start(_ context.Context, r dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if r.MaxResultBytes <= 0 {
		r.MaxResultBytes = wire.DefaultMaxResultBytes
	}
	frame := appendDispatch(nil, &r, false)
	if len(frame) > wire.MaxFrameBytes {
		return &wire.CallError{Code: wire.ErrInvalidArguments, Message: fmt.Sprintf(
			"the arguments are %d bytes long, more than fit into one frame (%d)", len(r.Args), wire.MaxFrameBytes)}
	}
	b := h.find(r.Target.Browser)
	if b == nil {
		return notConnected(r.Target)
	}
	return b.start(&r, frame, sink)
}

func notConnected(t dispatch.Target) *wire.CallError {
	return &wire.CallError{Code: wire.ErrBrowserLost, Message: fmt.Sprintf("the browser %q is not connected", t.BrowserName)}
}

func (b *browser) start(r *dispatch.Run, frame []byte, sink dispatch.Sink) *wire.CallError {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return notConnected(r.Target)
	}
	if !shows(b.tab(r.Target.TabID), r.Target.DocumentID) {
		return &wire.CallError{Code: wire.ErrNavigated, Message: "the tab shows another document by now"}
	}
	if _, taken := b.runs[r.ID]; taken {
		return &wire.CallError{Code: wire.ErrInternal, Message: "a run with this id is there already"}
	}
	b.started++
	started := &run{
		sink: sink, limit: r.MaxResultBytes, sure: true, number: b.started, asked: *r,
		tabID: r.Target.TabID, documentID: r.Target.DocumentID,
	}
	b.runs[r.ID] = started
	if b.link == nil || b.link.ended() {
		started.held = true
		sink.LinkLost()
	} else {
		b.link.post(frame)
	}
	b.hub.opts.Log.Debug().Str("call", r.ID).Str("browser", b.id).Int("tab", r.Target.TabID).Bool("held", started.held).Msg("run started")
	return nil
}

// mention notes that the browser has said something about the run, so that it
// has arrived. The caller holds browser.mu.
func (r *run) mention() {
	r.sure = true
	if !r.heard {
		r.heard, r.asked = true, dispatch.Run{}
	}
}

// askAgain sends the runs of which the browser has never said anything, in the
// order of their start: those that waited for the link, and those whose frame
// may have been lost with it. The caller holds mu; link is set.
func (b *browser) askAgain() {
	var unheard []*run
	for _, r := range b.runs {
		if !r.heard {
			unheard = append(unheard, r)
		}
	}
	slices.SortFunc(unheard, func(x, y *run) int { return x.number - y.number })
	for _, r := range unheard {
		b.link.post(appendDispatch(nil, &r.asked, !r.held))
		r.held, r.sure = false, true
	}
}

// appendDispatch appends a tool.dispatch frame. It is json.Marshal of
// wire.ToolDispatchParams by hand, because Marshal would validate and copy the
// arguments, which are JSON already.
func appendDispatch(dst []byte, r *dispatch.Run, again bool) []byte {
	p := append([]byte(`{"dispatchId":`), quote(r.ID)...)
	p = append(p, `,"plugin":`...)
	p = append(p, quote(r.Plugin)...)
	p = append(p, `,"tool":`...)
	p = append(p, quote(r.Tool)...)
	p = append(p, `,"tabId":`...)
	p = strconv.AppendInt(p, int64(r.Target.TabID), 10)
	p = append(p, `,"documentId":`...)
	p = append(p, quote(r.Target.DocumentID)...)
	p = append(p, `,"maxResultBytes":`...)
	p = strconv.AppendInt(p, int64(r.MaxResultBytes), 10)
	if again {
		p = append(p, `,"again":true`...)
	}
	if r.Prompt {
		p = append(p, `,"prompt":true`...)
	}
	if len(r.Decision) > 0 {
		p = append(append(p, `,"decision":`...), r.Decision...)
	}
	p = append(p, `,"args":`...)
	if len(r.Args) == 0 {
		p = append(p, "{}"...)
	} else {
		p = append(p, r.Args...)
	}
	p = append(p, '}')
	return wire.AppendRequest(dst, r.ID, wire.MethodToolDispatch, p)
}

// quote returns s as a JSON string.
func quote(s string) []byte {
	q, err := json.Marshal(s)
	if err != nil { // a string always marshals
		panic("wsbridge: " + err.Error())
	}
	return q
}
