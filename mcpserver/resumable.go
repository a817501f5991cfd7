package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/form"
	"opentabs/mcpserver/seal"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// These constants are limits for calls whose clients must send another request to get the
// result.
const (
	// Beyond maxResumableCalls, opentabs keeps the requests of further calls open, as for a client without forms.
	maxResumableCalls = 256
	// The server keeps an unfetched answer for storedAnswerLifetime, and drops the oldest answers above
	// maxStoredAnswerBytes in total.
	storedAnswerLifetime = 5 * time.Minute
	maxStoredAnswerBytes = 64 << 20
)

// resumableCalls are the calls of clients that show forms and use protocol version 2026-07-28 or
// later. The server cannot send requests to clients of protocol version 2026-07-28 or later. If a
// call in resumableCalls needs the user's decision, the server answers the client's request with an
// approval form (input_required). The client shows the form, and repeats its request with the
// user's decision. Until the client repeats its request, the call waits in resumableCalls. If the
// user decides elsewhere, such as in the side panel, the call continues without the repeated
// request. resumableCalls is safe for concurrent use.
type resumableCalls struct {
	seal seal.Seal

	mu          sync.Mutex                // the mutex guards all fields below; locked before resumableCall.mu
	callsByID   map[string]*resumableCall // callsByID contains calls whose clients have a requestState
	endedCalls  []*resumableCall          // endedCalls are the calls in callsByID that have ended, oldest first
	answerBytes int                       // answerBytes is the total size of the answers of endedCalls
}

func newResumableCalls() *resumableCalls {
	return &resumableCalls{seal: seal.New(), callsByID: map[string]*resumableCall{}}
}

// resumableCall is one call that can wait between two requests of its client.
type resumableCall struct {
	approvals *approvals
	id        string
	// requestDigest is the digest of the client's first request, which a repeated request must have, too.
	requestDigest seal.Digest
	cancel        context.CancelCauseFunc
	// The field timer limits the wait of each request for the call's answer, and is nil if the call never becomes a job.
	timer *answerTimer
	// ticketChange is a channel that receives a value when a ticket is added or removed.
	ticketChange chan struct{}
	done         chan struct{} // the field done is closed when reply is set
	reply        reply

	mu                sync.Mutex      // the mutex guards all fields below
	progress          *progressSender // the field progress is the progress of the request that waits for the call
	hasWaitingRequest bool
	tickets           []*openTicket
	expiryTimer       *time.Timer // expiryTimer runs while the answer is kept
}

// openTicket is a ticket that is not yet resolved.
type openTicket struct {
	form.Question
	// isAnswered is true if the client has answered the approval form, so that the form is not
	// shown again. isDecided is true if the client's answer contained a decision of the user.
	isAnswered, isDecided bool
}

func (a *approvals) serveResumable(ctx context.Context, q request) reply {
	requestDigest := seal.HashRequest(q.Method, q.Client.Session, q.Params.Name, q.Params.Arguments)
	if q.Params.RequestState == "" {
		c, err := a.startResumable(q, requestDigest)
		if err != nil {
			return newProtocolErrorReply(wire.CodeInternal, transport.ServerStoppingMessage)
		}
		p := newProgressSender(ctx, q.Params, q.Send)
		defer p.close() // the call may outlive this request and report progress
		c.attachRequest(p)
		return c.attachAndWait(ctx, q, p)
	}
	c, refusal := a.resumableCalls.findByRequestState(q.Params.RequestState, requestDigest)
	if c == nil {
		return refusal
	}
	formAnswers := map[string]json.RawMessage{}
	if len(q.Params.InputResponses) > 0 && json.Unmarshal(q.Params.InputResponses, &formAnswers) != nil {
		return newProtocolErrorReply(wire.CodeInvalidParams, "The inputResponses are not an object. Send one with a member for each of the inputRequests.")
	}
	for _, formAnswer := range formAnswers {
		if formAnswer[0] != '{' {
			return newProtocolErrorReply(wire.CodeInvalidParams, "A member of the inputResponses is not an object. Send an ElicitResult.")
		}
	}
	p := newProgressSender(ctx, q.Params, c.timer.restartAfter(q.Send))
	defer p.close()
	if !c.attachRequest(p) {
		return newProtocolErrorReply(wire.CodeInvalidRequest, "A request with this requestState is still running. Wait for its answer.")
	}
	c.applyAnswers(q.Client, formAnswers)
	return c.attachAndWait(ctx, q, p)
}

func (c *resumableCall) attachAndWait(ctx context.Context, q request, p *progressSender) reply {
	r := c.awaitReply(ctx)
	if ctx.Err() != nil {
		c.approvals.onClientTimeout(ctx, q, p)
	}
	return r
}

// startResumable starts a call that continues after its request ends. If startResumable returns an error, no call
// started.
func (a *approvals) startResumable(q request, requestDigest seal.Digest) (*resumableCall, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &resumableCall{
		approvals: a, id: strings.ToLower(rand.Text()), requestDigest: requestDigest, cancel: cancel, timer: q.timer,
		ticketChange: make(chan struct{}, 1), done: make(chan struct{}),
	}
	backgroundReq, err := q.Background(cancel)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	q.progress = c.sendProgress
	q.onSuspend = func(ctx context.Context, w dispatch.WaitingTicket) { c.addTicket(ctx, form.Question{WaitingTicket: w}) }
	go func() {
		defer backgroundReq.Finish()
		defer cancel(nil)
		c.reply = a.runCall(ctx, q)
		backgroundReq.Release()
		close(c.done)
		a.resumableCalls.storeAnswer(c)
	}()
	return c, nil
}

func (c *resumableCall) sendProgress(p dispatch.Progress) {
	c.mu.Lock()
	sender := c.progress
	c.mu.Unlock()
	sender.send(p)
}

// addTicket stores an approval request until ctx ends, which happens when the request is decided or times out.
func (c *resumableCall) addTicket(ctx context.Context, q form.Question) {
	t := &openTicket{Question: q}
	c.mu.Lock()
	c.tickets = append(c.tickets, t)
	c.mu.Unlock()
	c.notifyTicketChange()
	<-ctx.Done()
	c.mu.Lock()
	c.tickets = slices.DeleteFunc(c.tickets, func(o *openTicket) bool { return o == t })
	c.mu.Unlock()
	c.notifyTicketChange()
}

func (c *resumableCall) notifyTicketChange() {
	select {
	case c.ticketChange <- struct{}{}:
	default:
	}
}

// The method attachRequest returns false if another request is already waiting for the call's answer.
func (c *resumableCall) attachRequest(p *progressSender) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasWaitingRequest {
		return false
	}
	c.hasWaitingRequest, c.progress = true, p
	c.timer.resume()
	if c.expiryTimer != nil {
		c.expiryTimer.Stop()
	}
	return true
}

func (c *resumableCall) applyAnswers(client dispatch.Client, formAnswers map[string]json.RawMessage) {
	c.mu.Lock()
	tickets := slices.Clone(c.tickets)
	c.mu.Unlock()
	for _, t := range tickets {
		formAnswer, ok := formAnswers[t.TicketID]
		if !ok {
			continue
		}
		isDecided := c.approvals.decideByAnswer(t.Question, client, formAnswer)
		c.mu.Lock()
		t.isAnswered, t.isDecided = true, isDecided // addTicket removes an answered ticket
		c.mu.Unlock()
	}
}

// If ctx ends, awaitReply cancels the call.
func (c *resumableCall) awaitReply(ctx context.Context) reply {
	heartbeat := time.NewTicker(c.approvals.heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-c.done:
			c.approvals.resumableCalls.removeAnsweredCall(c)
			return c.reply
		default:
		}
		if r, ok := c.detachUnlessFormOpen(); ok {
			return r
		}
		c.remindClient()
		select {
		case <-c.done:
		case <-c.ticketChange:
		case <-heartbeat.C:
		case <-ctx.Done():
			c.cancel(context.Cause(ctx))
			<-c.done
		}
	}
}

func (c *resumableCall) remindClient() {
	c.mu.Lock()
	var questions []form.Question
	for _, t := range c.tickets {
		if !t.isDecided {
			questions = append(questions, t.Question)
		}
	}
	c.mu.Unlock()
	for _, q := range questions {
		c.approvals.calls.SendReminder(q.WaitingTicket, q.ProgressMessage())
	}
}

func (c *resumableCall) detachUnlessFormOpen() (reply, bool) {
	calls := c.approvals.resumableCalls
	calls.mu.Lock()
	defer calls.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.done: // storeAnswer does not keep the answer, because this request still waits for it
		return reply{}, false
	default:
	}
	if _, isKnown := calls.callsByID[c.id]; !isKnown && len(calls.callsByID) >= maxResumableCalls {
		return reply{}, false
	}
	type inputRequest struct {
		Method string    `json:"method"`
		Params form.Form `json:"params"`
	}
	requests := map[string]inputRequest{}
	latestExpiry := time.Now()
	for _, t := range c.tickets {
		if t.isAnswered {
			continue
		}
		requests[t.TicketID] = inputRequest{methodElicit, t.Build()}
		if t.ExpiresAt.After(latestExpiry) {
			latestExpiry = t.ExpiresAt
		}
	}
	if len(requests) == 0 {
		return reply{}, false
	}
	calls.callsByID[c.id] = c
	c.hasWaitingRequest, c.progress = false, nil
	c.timer.pause()
	state := calls.seal.Encode(seal.Content{ID: c.id, ExpiresAt: latestExpiry.Add(storedAnswerLifetime), RequestDigest: c.requestDigest})
	members := rawjson.Encode(struct {
		Requests map[string]inputRequest `json:"inputRequests"`
		State    string                  `json:"requestState"`
	}{requests, state})
	return reply{members: members[1 : len(members)-1], requiresInput: true}, true
}

const unknownStateText = "This requestState is unknown: it expired, its answer was already sent, or the server restarted. " +
	"Check with `opentabs calls` whether the call has run, then repeat the request without requestState."

func (r *resumableCalls) findByRequestState(state string, requestDigest seal.Digest) (*resumableCall, reply) {
	content, ok := r.seal.Decode(state)
	if !ok {
		return nil, newProtocolErrorReply(wire.CodeInvalidParams, "%s", unknownStateText)
	}
	if content.RequestDigest != requestDigest {
		return nil, newProtocolErrorReply(wire.CodeInvalidParams, "This requestState belongs to another request. Send it with the method, name and arguments that it was given for.")
	}
	r.mu.Lock()
	c := r.callsByID[content.ID]
	r.mu.Unlock()
	if c == nil || time.Now().After(content.ExpiresAt) {
		return nil, newProtocolErrorReply(wire.CodeInvalidParams, "%s", unknownStateText)
	}
	return c, reply{}
}

func (r *resumableCalls) storeAnswer(c *resumableCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.mu.Lock()
	isKept := !c.hasWaitingRequest && r.callsByID[c.id] == c
	if isKept {
		c.expiryTimer = time.AfterFunc(storedAnswerLifetime, func() { r.removeExpiredCall(c) })
	}
	c.mu.Unlock()
	if !isKept {
		return
	}
	r.endedCalls = append(r.endedCalls, c)
	r.answerBytes += c.reply.sizeBytes()
	for r.answerBytes > maxStoredAnswerBytes && len(r.endedCalls) > 1 {
		oldestCall := r.endedCalls[0]
		r.removeCall(oldestCall)
		if !oldestCall.isAttached() {
			go oldestCall.reply.HandleUndelivered() // run without the locks, because HandleUndelivered may acquire locks
		}
	}
}

func (r *resumableCalls) removeExpiredCall(c *resumableCall) {
	r.mu.Lock()
	isExpired := slices.Contains(r.endedCalls, c) && !c.isAttached()
	if isExpired {
		r.removeCall(c)
	}
	r.mu.Unlock()
	if isExpired {
		c.reply.HandleUndelivered()
	}
}

// removeExpiredCall calls isAttached, because a request can arrive just before the answer is dropped.
func (c *resumableCall) isAttached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hasWaitingRequest
}

func (r *resumableCalls) removeAnsweredCall(c *resumableCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeCall(c)
}

// The caller of removeCall holds resumableCalls.mu.
func (r *resumableCalls) removeCall(c *resumableCall) {
	delete(r.callsByID, c.id)
	if i := slices.Index(r.endedCalls, c); i >= 0 {
		r.endedCalls = slices.Delete(r.endedCalls, i, i+1)
		r.answerBytes -= c.reply.sizeBytes()
	}
	c.mu.Lock()
	if c.expiryTimer != nil {
		c.expiryTimer.Stop()
	}
	c.mu.Unlock()
}
