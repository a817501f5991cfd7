package wsbridge

import (
	"context"
	"encoding/json"
	"fmt"
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
	// held is the frame of a run that was started while the link was lost, until
	// the browser is back; then nil.
	held []byte
	// sure is false from the return of a lost link until the browser has said
	// anything about the run.
	sure bool
	// parts is the text of the result so far, next the number of the part that
	// comes next.
	parts []byte
	next  int
	half  rune // the first half of a character that the last part ended with, or 0
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
	frame := appendDispatch(nil, &r)
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
	if b.tab(r.Target.TabID).DocumentID != r.Target.DocumentID || r.Target.DocumentID == "" {
		return &wire.CallError{Code: wire.ErrNavigated, Message: "the tab shows another document by now"}
	}
	if _, taken := b.runs[r.ID]; taken {
		return &wire.CallError{Code: wire.ErrInternal, Message: "a run with this id is there already"}
	}
	started := &run{
		sink: sink, limit: r.MaxResultBytes, sure: true,
		tabID: r.Target.TabID, documentID: r.Target.DocumentID,
	}
	b.runs[r.ID] = started
	if b.link == nil || b.link.ended() {
		started.held = frame
	} else {
		b.link.post(frame)
	}
	b.hub.opts.Log.Debug().Str("call", r.ID).Str("browser", b.id).Int("tab", r.Target.TabID).Bool("held", started.held != nil).Msg("run started")
	return nil
}

// sendHeld sends the runs that were started while the link was lost. The caller
// holds mu; link is set.
func (b *browser) sendHeld() {
	for _, r := range b.runs {
		if r.held != nil {
			b.link.post(r.held)
			r.held, r.sure = nil, true
		}
	}
}

// appendDispatch appends a tool.dispatch frame. It is json.Marshal of
// wire.ToolDispatchParams by hand, because Marshal would validate and copy the
// arguments, which are JSON already.
func appendDispatch(dst []byte, r *dispatch.Run) []byte {
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
