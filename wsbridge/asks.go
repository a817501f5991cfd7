package wsbridge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

const (
	// maxOpenAsks limits the asks of one run whose answer is not confirmed,
	// maxAsks the asks of a run in total.
	maxOpenAsks = 64
	maxAsks     = 1000
	// maxKeptAnswers limits the unconfirmed answers of one run, in bytes.
	maxKeptAnswers = 4 * wire.MaxAnswerBytes
)

// asks are the requests that one run has made by tool.ask. runTable.mu guards
// them.
type asks struct {
	// open has the asks without a confirmed answer. seen has the numbers of all
	// asks.
	open map[int]*ask
	seen map[int]bool
	// kept is the total length of the answers in open.
	kept int
}

// ask is one tool.ask of a run.
type ask struct {
	// answer is the frame with the answer, nil until there is one.
	answer []byte
	// resent is set when a reconnect has sent the answer again. The browser
	// then repeats the ask once, and that repetition needs no further answer.
	resent bool
}

// handleAsk handles one tool.ask.
func (rt *runTable) handleAsk(l *link, p wire.ToolAskParams) error {
	if err := inbound.CheckAsk(&p); err != nil {
		return err
	}
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	if r == nil {
		rt.mu.Unlock()
		l.in.strayReport(p.DispatchID)
		return nil
	}
	r.confirm()
	fresh, refused := r.asks.accept(l, &p)
	rt.mu.Unlock()
	switch {
	case refused != nil:
		l.log.Debug().Str("call", p.DispatchID).Int("ask", p.Ask).Str("code", string(refused.Code)).Msg("ask rejected: " + refused.Message)
		l.post(answerFrame(p.DispatchID, p.Ask, nil, refused))
	case fresh:
		r.sink.Ask(p)
	}
	return nil
}

// accept reports whether an ask is new, and the error if it is rejected. A
// repeated ask gets its answer again. A rejected ask is not recorded, so that
// the browser may repeat it when there is room. The caller holds runTable.mu.
func (a *asks) accept(l *link, p *wire.ToolAskParams) (fresh bool, refused *wire.CallError) {
	open, seen := a.open[p.Ask], a.seen[p.Ask]
	switch {
	case p.Withdrawn && p.Ask > maxAsks:
		return false, nil
	case p.Withdrawn:
		a.record(p.Ask)
		a.settle(p.Ask)
		return open != nil && open.answer == nil, nil
	case open != nil && open.resent:
		open.resent = false
		return false, nil
	case open != nil && open.answer != nil:
		l.post(open.answer)
		return false, nil
	case seen:
		return false, nil
	case p.Ask > maxAsks:
		return false, tooManyAsks(fmt.Sprintf("a call may ask %d times in all", maxAsks))
	case len(a.open) >= maxOpenAsks:
		return false, tooManyAsks(fmt.Sprintf("a call may wait for %d answers at once", maxOpenAsks))
	case p.Call != nil && !inbound.IsObject(p.Call.Args):
		return false, &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the arguments are not an object; pass an object to context.call"}
	}
	a.record(p.Ask)
	a.open[p.Ask] = &ask{}
	return true, nil
}

func (a *asks) record(number int) {
	if a.open == nil {
		a.open, a.seen = map[int]*ask{}, map[int]bool{}
	}
	a.seen[number] = true
}

// settle removes an ask.
func (a *asks) settle(number int) {
	if open := a.open[number]; open != nil {
		a.kept -= len(open.answer)
		delete(a.open, number)
	}
}

func tooManyAsks(limit string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: limit}
}

// Answer implements dispatch.Bridge.
func (h *Hub) Answer(runID string, number int, output json.RawMessage, err *wire.CallError) {
	for _, b := range h.registry.list() {
		if b.runs.answerAsk(runID, number, output, err) {
			return
		}
	}
}

// answerAsk sends the answer to an ask, and reports whether this browser has
// the run. The answer is kept until the browser has confirmed it. Later answers
// to the same ask are ignored.
func (rt *runTable) answerAsk(runID string, number int, output json.RawMessage, err *wire.CallError) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	if r == nil {
		return false
	}
	open := r.asks.open[number]
	if open == nil || open.answer != nil {
		return true
	}
	switch {
	case len(output) > wire.MaxAnswerBytes:
		output, err = nil, tooLarge(wire.MaxAnswerBytes)
	case r.asks.kept+len(output) > maxKeptAnswers:
		output, err = nil, &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf(
			"more than %d bytes of results are waiting for the page; call fewer tools at once", maxKeptAnswers)}
	}
	open.answer = answerFrame(runID, number, output, err)
	r.asks.kept += len(open.answer)
	if rt.link != nil { // otherwise sent when the reconnected browser lists the run
		rt.link.post(open.answer)
	}
	return true
}

// resendAnswers sends the answers that the page of a run may lack. The browser
// has just listed the run, so its page is there. The caller holds mu; link is
// set.
func (rt *runTable) resendAnswers(r *run) {
	for number := range maxAsks {
		if open := r.asks.open[number+1]; open != nil && open.answer != nil {
			open.resent = true
			rt.link.post(open.answer)
		}
	}
	for _, activity := range r.resyncs {
		rt.link.post(activity)
	}
	r.resyncs = nil
}

// answerConfirmed handles a browser's answer to tool.answer. The ID of that
// request ends with <ask>/<run>.
func (rt *runTable) answerConfirmed(l *link, id string, e wire.Envelope) {
	text, runID, _ := strings.Cut(id, "/")
	number, err := strconv.Atoi(text)
	var result wire.ToolAnswerResult
	if err != nil || e.Error != nil || wire.DecodeBody(e.Result, &result) != nil {
		l.log.Debug().Str("call", inbound.Text(runID, 128)).Str("ask", inbound.Text(text, 20)).Msg("the browser rejected an answer")
		return
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	if r == nil {
		return
	}
	// An answer that the page has not accepted is kept: the page may ask again.
	if open := r.asks.open[number]; open != nil && open.answer != nil && result.Taken {
		r.asks.settle(number)
	}
	l.log.Debug().Str("call", runID).Int("ask", number).Bool("taken", result.Taken).Msg("answer arrived")
}

// answerFrame returns the tool.answer to an ask.
func answerFrame(runID string, number int, output json.RawMessage, err *wire.CallError) []byte {
	if err != nil {
		output = nil
	}
	id := answerID + strconv.Itoa(number) + "/" + runID
	return wire.AppendAnswer(nil, id, &wire.ToolAnswerParams{DispatchID: runID, Ask: number, Output: output, Error: err})
}

// Resync implements dispatch.Bridge.
func (h *Hub) Resync(runID, activityType string) {
	frame := wire.AppendNotification(nil, wire.MethodToolResync,
		wire.EncodeBody(wire.ToolResyncParams{DispatchID: runID, ActivityType: activityType}))
	for _, b := range h.registry.list() {
		if b.runs.resync(runID, frame) {
			return
		}
	}
}

// resync sends a tool.resync, now or after a reconnect, and reports whether
// this browser has the run.
func (rt *runTable) resync(runID string, frame []byte) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	switch {
	case r == nil:
		return false
	case rt.link != nil:
		rt.link.post(frame)
	case len(r.resyncs) < wire.MaxActivityTypes:
		r.resyncs = append(r.resyncs, frame)
	}
	return true
}
