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
	// maxOpenRequests limits the unconfirmed requests (tool.ask) of one tool call. maxRequestsPerCall
	// limits all requests of one tool call.
	maxOpenRequests    = 64
	maxRequestsPerCall = 1000
	// maxStoredAnswerBytes limits the unconfirmed answers to one tool call's requests, in bytes.
	maxStoredAnswerBytes = 4 * wire.MaxAnswerBytes
)

// runRequests are the requests that one call has made with tool.ask. The mutex runTable.mu guards all
// fields of runRequests.
type runRequests struct {
	// openRequests maps a request's number to the request until the browser confirms its answer.
	// seenRequestNumbers contains the numbers of all requests, including confirmed ones.
	openRequests       map[int]*toolRequest
	seenRequestNumbers map[int]bool
	keptBytes          int
}

// toolRequest is a tool.ask request that a running tool has sent to the server.
type toolRequest struct {
	// answerFrame is the tool.answer frame for the request, or nil until the dispatcher has answered.
	answerFrame []byte
	// isResent is true if the server has resent the answer after a reconnect. After a reconnect,
	// the browser repeats each tool.ask once. The server does not answer the repeated tool.ask,
	// because it has already resent the answer.
	isResent bool
}

func (rt *runTable) handleToolRequest(l *link, p wire.ToolAskParams) error {
	if err := inbound.CheckToolRequest(&p); err != nil {
		return err
	}
	rt.mu.Lock()
	r := rt.runs[p.DispatchID]
	if r == nil {
		rt.mu.Unlock()
		l.inbox.countUnknownRunReport(p.DispatchID)
		return nil
	}
	r.markConfirmed()
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

// acceptRequest does not record a rejected tool.ask, so that the browser can send the request again. The caller of
// acceptRequest holds runTable.mu.
func (a *runRequests) acceptRequest(l *link, p *wire.ToolAskParams) (isNew bool, rejection *wire.CallError) {
	openRequest, isRepeated := a.openRequests[p.Ask], a.seenRequestNumbers[p.Ask]
	switch {
	case p.Withdrawn && p.Ask > maxRequestsPerCall:
		return false, nil
	case p.Withdrawn:
		a.recordNumber(p.Ask)
		a.removeRequest(p.Ask)
		return openRequest != nil && openRequest.answerFrame == nil, nil
	case openRequest != nil && openRequest.isResent:
		openRequest.isResent = false
		return false, nil
	case openRequest != nil && openRequest.answerFrame != nil:
		l.postFrame(openRequest.answerFrame)
		return false, nil
	case isRepeated:
		return false, nil
	case p.Ask > maxRequestsPerCall:
		return false, newLimitExceededError(fmt.Sprintf("a call may send at most %d requests in total", maxRequestsPerCall))
	case len(a.openRequests) >= maxOpenRequests:
		return false, newLimitExceededError(fmt.Sprintf("a call may have at most %d unanswered requests at once", maxOpenRequests))
	case p.Call != nil && !inbound.IsObject(p.Call.Args):
		return false, &wire.CallError{Code: wire.ErrInvalidArguments, Message: "the arguments are not an object; pass an object to context.call"}
	}
	a.recordNumber(p.Ask)
	a.openRequests[p.Ask] = &toolRequest{}
	return true, nil
}

func (a *runRequests) recordNumber(number int) {
	if a.openRequests == nil {
		a.openRequests, a.seenRequestNumbers = map[int]*toolRequest{}, map[int]bool{}
	}
	a.seenRequestNumbers[number] = true
}

func (a *runRequests) removeRequest(number int) {
	if openRequest := a.openRequests[number]; openRequest != nil {
		a.keptBytes -= len(openRequest.answerFrame)
		delete(a.openRequests, number)
	}
}

func newLimitExceededError(limit string) *wire.CallError {
	return &wire.CallError{Code: wire.ErrNestedTooDeep, Message: limit}
}

// Answer implements dispatch.Bridge: it sends the page the answer to a request that a tool has made.
func (h *Hub) Answer(runID string, number int, toolOutput json.RawMessage, err *wire.CallError) {
	for _, b := range h.registry.listBrowsers() {
		if b.runTable.answerToolRequest(runID, number, toolOutput, err) {
			return
		}
	}
}

// The server keeps its answer to a tool's request until the browser confirms that the page has received the answer.
func (rt *runTable) answerToolRequest(runID string, number int, toolOutput json.RawMessage, err *wire.CallError) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	if r == nil {
		return false
	}
	openRequest := r.requests.openRequests[number]
	if openRequest == nil || openRequest.answerFrame != nil {
		return true
	}
	switch {
	case len(toolOutput) > wire.MaxAnswerBytes:
		toolOutput, err = nil, inbound.NewTooLargeError(wire.MaxAnswerBytes)
	case r.requests.keptBytes+len(toolOutput) > maxStoredAnswerBytes:
		toolOutput, err = nil, &wire.CallError{Code: wire.ErrResultTooLarge, Message: fmt.Sprintf(
			"more than %d bytes of results are waiting for the page; call fewer tools at once", maxStoredAnswerBytes)}
	}
	openRequest.answerFrame = answerFrame(runID, number, toolOutput, err)
	r.requests.keptBytes += len(openRequest.answerFrame)
	if rt.link != nil {
		rt.link.postFrame(openRequest.answerFrame)
	}
	return true
}

// The reconnected browser has already listed the call, so the call's page still exists. The caller of resendAnswers
// holds runTable.mu, and runTable.link is not nil.
func (rt *runTable) resendAnswers(r *toolRun) {
	for number := range maxRequestsPerCall {
		if openRequest := r.requests.openRequests[number+1]; openRequest != nil && openRequest.answerFrame != nil {
			openRequest.isResent = true
			rt.link.postFrame(openRequest.answerFrame)
		}
	}
	for _, activity := range r.pendingResyncFrames {
		rt.link.postFrame(activity)
	}
	r.pendingResyncFrames = nil
}

// The parameter id is <ask>/<run>: the number of the tool's request and the call's ID.
func (rt *runTable) recordConfirmedAnswer(l *link, id string, e wire.Envelope) {
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
	// The server keeps an answer that the page has not accepted, because the page can repeat the
	// tool.ask.
	if openRequest := r.requests.openRequests[number]; openRequest != nil && openRequest.answerFrame != nil && result.WasExpected {
		r.requests.removeRequest(number)
	}
	l.log.Debug().Str("call", runID).Int("ask", number).Bool("taken", result.WasExpected).Msg("answer arrived")
}

func answerFrame(runID string, number int, toolOutput json.RawMessage, err *wire.CallError) []byte {
	if err != nil {
		toolOutput = nil
	}
	id := answerIDPrefix + strconv.Itoa(number) + "/" + runID
	return wire.AppendAnswer(nil, id, &wire.ToolAnswerParams{DispatchID: runID, Ask: number, Output: toolOutput, Error: err})
}

// The method RequestActivityResync implements dispatch.Bridge by requesting the full content of an activity
// from the page.
func (h *Hub) RequestActivityResync(runID, activityType string) {
	frame := wire.AppendNotification(nil, wire.MethodToolResync,
		wire.EncodeBody(wire.ToolResyncParams{DispatchID: runID, ActivityType: activityType}))
	for _, b := range h.registry.listBrowsers() {
		if b.runTable.resync(runID, frame) {
			return
		}
	}
}

func (rt *runTable) resync(runID string, frame []byte) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r := rt.runs[runID]
	switch {
	case r == nil:
		return false
	case rt.link != nil:
		rt.link.postFrame(frame)
	case len(r.pendingResyncFrames) < wire.MaxActivityTypes:
		r.pendingResyncFrames = append(r.pendingResyncFrames, frame)
	}
	return true
}
