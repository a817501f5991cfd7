package wsbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"opentabs/wire"
)

const (
	// maxOpenAsks is how many asks of one run may be without a confirmed answer,
	// maxAsks how many a run may make in all.
	maxOpenAsks = 64
	maxAsks     = 1000
	// maxKeptAnswers is how much of answers is kept for one run until its page
	// has them, in bytes.
	maxKeptAnswers = 4 * wire.MaxAnswerBytes
	// The longest texts of an ask, in characters.
	maxAskTool  = 200
	maxAskTitle = 200
)

// asks is what one run has asked for. Its fields are guarded by browser.mu.
type asks struct {
	// open has those whose answer is not confirmed, seen all that ever came.
	open map[int]*ask
	seen map[int]bool
	// kept is the length of the answers in open.
	kept int
}

// ask is one ask of a run.
type ask struct {
	// answer is the frame that answers it, nil while nobody has.
	answer []byte
	// resent says that it was sent again when the browser returned: the ask that
	// then comes again is older than that.
	resent bool
}

// ask takes one tool.ask.
func (b *browser) ask(l *link, p wire.ToolAskParams) error {
	if err := checkAsk(&p); err != nil {
		return err
	}
	b.mu.Lock()
	r := b.runs[p.DispatchID]
	if r == nil {
		b.mu.Unlock()
		l.strayReport(p.DispatchID)
		return nil
	}
	r.mention()
	fresh, refused := r.asks.take(l, &p)
	b.mu.Unlock()
	switch {
	case refused != nil:
		l.log.Debug().Str("call", p.DispatchID).Int("ask", p.Ask).Str("code", string(refused.Code)).Msg("ask refused: " + refused.Message)
		l.post(answerFrame(p.DispatchID, p.Ask, nil, refused))
	case fresh:
		r.sink.Ask(p)
	}
	return nil
}

// checkAsk reports what makes p no ask, and makes its texts fit to be shown.
func checkAsk(p *wire.ToolAskParams) error {
	kinds := 0
	if p.Withdrawn {
		kinds++
	}
	if p.Call != nil {
		kinds++
		p.Call.Tool = clean(p.Call.Tool, maxAskTool)
	}
	if p.User != nil {
		kinds++
		p.User.Reason, p.User.Title = clean(p.User.Reason, wire.MaxMessageChars), clean(p.User.Title, maxAskTitle)
	}
	switch {
	case kinds != 1:
		return errors.New("an ask has one of call, user and withdrawn")
	case p.Ask < 1:
		return errors.New("asks are counted from 1")
	}
	return nil
}

// take reports whether an ask is new, and why it is refused, if it is. An ask
// that comes again gets its answer again. A refused one is not remembered: it is
// refused again, or has its place by then. The caller holds browser.mu.
func (a *asks) take(l *link, p *wire.ToolAskParams) (fresh bool, refused *wire.CallError) {
	open, seen := a.open[p.Ask], a.seen[p.Ask]
	switch {
	case p.Withdrawn && p.Ask > maxAsks:
		return false, nil
	case p.Withdrawn:
		a.note(p.Ask)
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
	case p.Call != nil && !isObject(p.Call.Args):
		return false, &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the arguments are not an object; pass an object to context.call"}
	}
	a.note(p.Ask)
	a.open[p.Ask] = &ask{}
	return true, nil
}

func (a *asks) note(number int) {
	if a.open == nil {
		a.open, a.seen = map[int]*ask{}, map[int]bool{}
	}
	a.seen[number] = true
}

// settle forgets an ask.
func (a *asks) settle(number int) {
	if open := a.open[number]; open != nil {
		a.kept -= len(open.answer)
		delete(a.open, number)
	}
}

func tooManyAsks(limit string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: limit}
}

// isObject reports whether valid JSON is an object.
func isObject(text json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimLeft(string(text[:min(len(text), 16)]), " \t\r\n"), "{")
}

// Answer implements dispatch.Bridge.
func (h *Hub) Answer(runID string, number int, output json.RawMessage, err *wire.CallError) {
	for _, b := range h.list() {
		if b.answerAsk(runID, number, output, err) {
			return
		}
	}
}

// answerAsk answers an ask of a run, and reports whether the run is here. The
// answer is kept until the browser has confirmed it. The first one holds.
func (b *browser) answerAsk(runID string, number int, output json.RawMessage, err *wire.CallError) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[runID]
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
			"results of more than %d bytes wait for the page; call fewer tools at once", maxKeptAnswers)}
	}
	open.answer = answerFrame(runID, number, output, err)
	r.asks.kept += len(open.answer)
	if b.link != nil { // else: it is sent when the browser names the run
		b.link.post(open.answer)
	}
	return true
}

// resendAnswers sends the answers of a run that its page may not have: it has
// just been named by the browser, so its page is there. The caller holds mu;
// link is set.
func (b *browser) resendAnswers(r *run) {
	for number := range maxAsks {
		if open := r.asks.open[number+1]; open != nil && open.answer != nil {
			open.resent = true
			b.link.post(open.answer)
		}
	}
	for _, activity := range r.resyncs {
		b.link.post(activity)
	}
	r.resyncs = nil
}

// answerConfirmed takes a browser's answer to tool.answer, whose own id is
// <ask>/<run>.
func (b *browser) answerConfirmed(l *link, id string, e wire.Envelope) {
	text, runID, _ := strings.Cut(id, "/")
	number, err := strconv.Atoi(text)
	var result wire.ToolAnswerResult
	if err != nil || e.Error != nil || json.Unmarshal(e.Result, &result) != nil {
		l.log.Debug().Str("call", clean(runID, 128)).Str("ask", clean(text, 20)).Msg("the browser could not take an answer")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[runID]
	if r == nil {
		return
	}
	// One that the page does not have is kept: the page may ask again.
	if open := r.asks.open[number]; open != nil && open.answer != nil && result.Taken {
		r.asks.settle(number)
	}
	l.log.Debug().Str("call", runID).Int("ask", number).Bool("taken", result.Taken).Msg("answer arrived")
}

// answerFrame returns a tool.answer frame. It is json.Marshal of
// wire.ToolAnswerParams by hand, because Marshal would copy and rewrite the
// output, which is JSON already.
func answerFrame(runID string, number int, output json.RawMessage, err *wire.CallError) []byte {
	n := strconv.Itoa(number)
	p := append([]byte(`{"dispatchId":`), quote(runID)...)
	p = append(p, `,"ask":`+n...)
	switch {
	case err != nil:
		p = append(append(p, `,"error":`...), marshal(err)...)
	case output != nil:
		p = append(append(p, `,"output":`...), output...)
	}
	return wire.AppendRequest(nil, answerID+n+"/"+runID, wire.MethodToolAnswer, append(p, '}'))
}

// Resync implements dispatch.Bridge.
func (h *Hub) Resync(runID, activityType string) {
	frame := wire.AppendNotification(nil, wire.MethodToolResync,
		marshal(wire.ToolResyncParams{DispatchID: runID, ActivityType: activityType}))
	for _, b := range h.list() {
		if b.resync(runID, frame) {
			return
		}
	}
}

// resync sends a tool.resync, now or on the browser's return, and reports
// whether the run is here.
func (b *browser) resync(runID string, frame []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[runID]
	switch {
	case r == nil:
		return false
	case b.link != nil:
		b.link.post(frame)
	case len(r.resyncs) < wire.MaxActivityTypes:
		r.resyncs = append(r.resyncs, frame)
	}
	return true
}
