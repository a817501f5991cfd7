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
	// maxOpenRequests limits the tool requests of one run whose answer is not confirmed.
	// maxRequests limits all tool requests of one run.
	maxOpenRequests = 64
	maxRequests     = 1000
	// maxKeptAnswerBytes limits the unconfirmed answers of one run, in bytes.
	maxKeptAnswerBytes = 4 * wire.MaxAnswerBytes
)

// runRequests are the requests that one run has made by tool.ask. runTable.mu guards
// the fields of runRequests.
type runRequests struct {
	// openRequests has the tool requests of a run without a confirmed answer, by number.
	// seenNumbers has the numbers of all tool requests that a run has made.
	openRequests map[int]*toolRequest
	seenNumbers  map[int]bool
	// keptBytes is the total length of the answers in openRequests.
	keptBytes int
}

// toolRequest is one tool.ask of a run.
type toolRequest struct {
	// answer is the frame that answers the tool.ask; nil before the dispatcher has
	// answered.
	answer []byte
	// isResent is set when the answer to a tool.ask was sent again after a reconnect.
	// After a reconnect the browser repeats each tool.ask once, and the repeated
	// tool.ask needs no further answer.
	isResent bool
}

// handleToolRequest handles one tool.ask notification of a browser.
func (rt *runTable) handleToolRequest(l *link, p wire.ToolAskParams) error {
	if err := inbound.CheckToolRequest(&p); err != nil {
		return err
	}
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	if r == nil {
		rt.mu.Unlock()
		l.inbox.countStrayReport(p.DispatchID)
		return nil
	}
	r.confirm()
	isNew, rejection := r.requests.acceptRequest(l, &p)
	rt.mu.Unlock()
	switch {
	case rejection != nil:
		l.log.Debug().Str("call", p.DispatchID).Int("ask", p.Ask).Str("code", string(rejection.Code)).Msg("ask rejected: " + rejection.Message)
		l.postFrame(answerFrame(p.DispatchID, p.Ask, nil, rejection))
	case isNew:
		r.sink.Ask(p)
	}
	return nil
}

// acceptRequest reports whether a request is new, and the error of a rejected request.
// If a repeated tool.ask has an answer, the answer is sent again. A rejected request is
// not recorded, so that the browser may repeat the request later. The caller holds
// runTable.mu.
func (a *runRequests) acceptRequest(l *link, p *wire.ToolAskParams) (isNew bool, rejection *wire.CallError) {
	openRequest, isRepeated := a.openRequests[p.Ask], a.seenNumbers[p.Ask]
	switch {
	case p.Withdrawn && p.Ask > maxRequests:
		return false, nil
	case p.Withdrawn:
		a.recordNumber(p.Ask)
		a.removeRequest(p.Ask)
		return openRequest != nil && openRequest.answer == nil, nil
	case openRequest != nil && openRequest.isResent:
		openRequest.isResent = false
		return false, nil
	case openRequest != nil && openRequest.answer != nil:
		l.postFrame(openRequest.answer)
		return false, nil
	case isRepeated:
		return false, nil
	case p.Ask > maxRequests:
		return false, newTooManyError(fmt.Sprintf("a call may ask %d times in all", maxRequests))
	case len(a.openRequests) >= maxOpenRequests:
		return false, newTooManyError(fmt.Sprintf("a call may wait for %d answers at once", maxOpenRequests))
	case p.Call != nil && !inbound.IsObject(p.Call.Args):
		return false, &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the arguments are not an object; pass an object to context.call"}
	}
	a.recordNumber(p.Ask)
	a.openRequests[p.Ask] = &toolRequest{}
	return true, nil
}

func (a *runRequests) recordNumber(number int) {
	if a.openRequests == nil {
		a.openRequests, a.seenNumbers = map[int]*toolRequest{}, map[int]bool{}
	}
	a.seenNumbers[number] = true
}

// removeRequest removes the ask with this number and its answer.
func (a *runRequests) removeRequest(number int) {
	if openRequest := a.openRequests[number]; openRequest != nil {
		a.keptBytes -= len(openRequest.answer)
		delete(a.openRequests, number)
	}
}

func newTooManyError(limit string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: limit}
}

// Answer implements dispatch.Bridge.
func (h *Hub) Answer(runID string, number int, output json.RawMessage, err *wire.CallError) {
	for _, b := range h.registry.listBrowsers() {
		if b.runs.answerToolRequest(runID, number, output, err) {
			return
		}
	}
}

// answerToolRequest sends the answer to an ask, and reports whether the browser has the
// run. The answer to an ask is kept until the browser has confirmed the answer. Only
// the first answer to an ask is sent; later answers are ignored.
func (rt *runTable) answerToolRequest(runID string, number int, output json.RawMessage, err *wire.CallError) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	if r == nil {
		return false
	}
	openRequest := r.requests.openRequests[number]
	if openRequest == nil || openRequest.answer != nil {
		return true
	}
	switch {
	case len(output) > wire.MaxAnswerBytes:
		output, err = nil, inbound.NewTooLargeError(wire.MaxAnswerBytes)
	case r.requests.keptBytes+len(output) > maxKeptAnswerBytes:
		output, err = nil, &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf(
			"more than %d bytes of results are waiting for the page; call fewer tools at once", maxKeptAnswerBytes)}
	}
	openRequest.answer = answerFrame(runID, number, output, err)
	r.requests.keptBytes += len(openRequest.answer)
	if rt.link != nil { // without a link, the answer is sent when the reconnected browser lists the run
		rt.link.postFrame(openRequest.answer)
	}
	return true
}

// resendAnswers sends the answers that the page of a run may lack. resendAnswers is
// called after the browser has listed the run, so the page of the run exists. The
// caller holds runTable.mu, and runTable.link is not nil.
func (rt *runTable) resendAnswers(r *run) {
	for number := range maxRequests {
		if openRequest := r.requests.openRequests[number+1]; openRequest != nil && openRequest.answer != nil {
			openRequest.isResent = true
			rt.link.postFrame(openRequest.answer)
		}
	}
	for _, activity := range r.pendingResyncs {
		rt.link.postFrame(activity)
	}
	r.pendingResyncs = nil
}

// answerConfirmed handles a browser's answer to tool.answer. The ID of a tool.answer
// request ends with <ask>/<run>.
func (rt *runTable) answerConfirmed(l *link, id string, e wire.Envelope) {
	numberText, runID, _ := strings.Cut(id, "/")
	number, err := strconv.Atoi(numberText)
	var result wire.ToolAnswerResult
	if err != nil || e.Error != nil || wire.DecodeBody(e.Result, &result) != nil {
		l.log.Debug().Str("call", inbound.CleanText(runID, 128)).Str("ask", inbound.CleanText(numberText, 20)).Msg("the browser rejected an answer")
		return
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	if r == nil {
		return
	}
	// An answer that the page has not accepted is kept, because the page may send the
	// tool.ask again.
	if openRequest := r.requests.openRequests[number]; openRequest != nil && openRequest.answer != nil && result.WasExpected {
		r.requests.removeRequest(number)
	}
	l.log.Debug().Str("call", runID).Int("ask", number).Bool("taken", result.WasExpected).Msg("answer arrived")
}

// answerFrame returns the tool.answer frame for an ask of a run.
func answerFrame(runID string, number int, output json.RawMessage, err *wire.CallError) []byte {
	if err != nil {
		output = nil
	}
	id := answerIDPrefix + strconv.Itoa(number) + "/" + runID
	return wire.AppendAnswer(nil, id, &wire.ToolAnswerParams{DispatchID: runID, Ask: number, Output: output, Error: err})
}

// Resync implements dispatch.Bridge.
func (h *Hub) Resync(runID, activityType string) {
	frame := wire.AppendNotification(nil, wire.MethodToolResync,
		wire.EncodeBody(wire.ToolResyncParams{DispatchID: runID, ActivityType: activityType}))
	for _, b := range h.registry.listBrowsers() {
		if b.runs.resync(runID, frame) {
			return
		}
	}
}

// resync reports whether the browser has the run, and sends a tool.resync, now or after
// a reconnect.
func (rt *runTable) resync(runID string, frame []byte) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	switch {
	case r == nil:
		return false
	case rt.link != nil:
		rt.link.postFrame(frame)
	case len(r.pendingResyncs) < wire.MaxActivityTypes:
		r.pendingResyncs = append(r.pendingResyncs, frame)
	}
	return true
}
