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
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// The limits of calls that wait between two requests.
const (
	// maxResumable is the maximum number of calls that wait between two requests.
	// Above that, a call keeps its request open, as for a client without forms.
	maxResumable = 256
	// keepAnswer is how long the answer of a call that ended between two requests is
	// kept. maxAnswerBytes is the size of all such answers; above it the oldest are
	// dropped.
	keepAnswer     = 5 * time.Minute
	maxAnswerBytes = 64 << 20
)

// resumableCalls are the calls of clients of protocol version 2026-07-28 or later that
// show forms. The server sends such clients no requests. Instead, the reply to their
// request contains the form (input_required), and the client repeats the request with
// the user's decision. Between the two requests the call waits here, and continues if
// another surface decides. resumableCalls is safe for concurrent use.
type resumableCalls struct {
	seal seal

	mu    sync.Mutex                // guards all fields below; locked before resumableCall.mu
	byID  map[string]*resumableCall // calls whose clients have a requestState
	ended []*resumableCall          // calls in byID that ended between two requests, oldest first
	bytes int                       // size of their answers
}

func newResumableCalls() *resumableCalls {
	return &resumableCalls{seal: newSeal(), byID: map[string]*resumableCall{}}
}

// resumableCall is one such call.
type resumableCall struct {
	approvals *approvals
	id        string
	// bound is the digest of the first request; the repeated one must have the same.
	bound  [digestSize]byte
	cancel context.CancelCauseFunc
	// changed has a token when a ticket was added or removed.
	changed chan struct{}
	done    chan struct{} // closed when reply is set
	reply   reply

	mu       sync.Mutex      // guards all fields below
	progress *progressSender // progress of the request that waits for the call
	waits    bool            // a request waits
	tickets  []*openTicket
	drop     *time.Timer // runs while the answer is kept
}

// openTicket is an unresolved ticket.
type openTicket struct {
	question
	// answered is set after the client's answer: the form is not shown again.
	// decided is set if the answer was a decision.
	answered, decided bool
}

// serveResumable serves a request of a client whose forms are part of replies.
func (a *approvals) serveResumable(ctx context.Context, q request) reply {
	bound := hashRequest(q.Method, q.Client.Session, q.Params.Name, q.Params.Arguments)
	if q.Params.RequestState == "" {
		c, err := a.startResumable(q, bound)
		if err != nil {
			return faultReply(wire.CodeInternal, transport.StoppingText)
		}
		p := newProgressSender(ctx, q.Params, q.Send)
		defer p.close() // the call may continue and report progress
		c.attach(p)
		return c.wait(ctx)
	}
	c, refused := a.resumable.find(q.Params.RequestState, bound)
	if c == nil {
		return refused
	}
	answers := map[string]json.RawMessage{}
	if len(q.Params.InputResponses) > 0 && json.Unmarshal(q.Params.InputResponses, &answers) != nil {
		return faultReply(wire.CodeInvalidParams, "The inputResponses are not an object. Send one with a member for each of the inputRequests.")
	}
	for _, answer := range answers {
		if answer[0] != '{' {
			return faultReply(wire.CodeInvalidParams, "A member of the inputResponses is not an object. Send an ElicitResult.")
		}
	}
	p := newProgressSender(ctx, q.Params, q.Send)
	defer p.close()
	if !c.attach(p) {
		return faultReply(wire.CodeInvalidRequest, "A request with this requestState is still running. Wait for its answer.")
	}
	c.applyAnswers(q.Client, answers)
	return c.wait(ctx)
}

// startResumable starts a call that outlives its request while it is suspended. An
// error means that nothing may start.
func (a *approvals) startResumable(q request, bound [digestSize]byte) (*resumableCall, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &resumableCall{
		approvals: a, id: strings.ToLower(rand.Text()), bound: bound, cancel: cancel,
		changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	background, err := q.Background(cancel)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	q.progress = c.sendProgress
	q.onSuspend = func(ctx context.Context, w dispatch.WaitingTicket) { c.addTicket(ctx, question{WaitingTicket: w}) }
	go func() {
		defer background.Finish()
		defer cancel(nil)
		c.reply = a.run(ctx, q)
		background.Release()
		close(c.done)
		a.resumable.retainAnswer(c)
	}()
	return c, nil
}

// sendProgress sends progress to the request that waits, if there is one.
func (c *resumableCall) sendProgress(p dispatch.Progress) {
	c.mu.Lock()
	sender := c.progress
	c.mu.Unlock()
	sender.send(p)
}

// addTicket keeps a ticket until ctx ends, when the ticket is resolved.
func (c *resumableCall) addTicket(ctx context.Context, q question) {
	t := &openTicket{question: q}
	c.mu.Lock()
	c.tickets = append(c.tickets, t)
	c.mu.Unlock()
	c.signalChange()
	<-ctx.Done()
	c.mu.Lock()
	c.tickets = slices.DeleteFunc(c.tickets, func(o *openTicket) bool { return o == t })
	c.mu.Unlock()
	c.signalChange()
}

func (c *resumableCall) signalChange() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// attach makes p the request that waits for the call. attach returns false if another
// request waits.
func (c *resumableCall) attach(p *progressSender) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits {
		return false
	}
	c.waits, c.progress = true, p
	if c.drop != nil {
		c.drop.Stop()
	}
	return true
}

// applyAnswers applies the client's answers to forms.
func (c *resumableCall) applyAnswers(client dispatch.Client, answers map[string]json.RawMessage) {
	c.mu.Lock()
	open := slices.Clone(c.tickets)
	c.mu.Unlock()
	for _, t := range open {
		answer, ok := answers[t.TicketID]
		if !ok {
			continue
		}
		decided := c.approvals.decideByAnswer(t.question, client, answer)
		c.mu.Lock()
		t.answered, t.decided = true, decided // addTicket removes it a moment later
		c.mu.Unlock()
	}
}

// wait returns the answer to the attached request: the call's reply, or a form that
// the client has not shown yet. When ctx ends, the call is cancelled.
func (c *resumableCall) wait(ctx context.Context) reply {
	heartbeat := time.NewTicker(c.approvals.heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-c.done:
			c.approvals.resumable.forget(c)
			return c.reply
		default:
		}
		if r, ok := c.detachWithForms(); ok {
			return r
		}
		c.remindClient()
		select {
		case <-c.done:
		case <-c.changed:
		case <-heartbeat.C:
		case <-ctx.Done():
			c.cancel(context.Cause(ctx))
			<-c.done
		}
	}
}

// remindClient sends the client the reason why its call waits.
func (c *resumableCall) remindClient() {
	c.mu.Lock()
	var waiting []question
	for _, t := range c.tickets {
		if !t.decided {
			waiting = append(waiting, t.question)
		}
	}
	c.mu.Unlock()
	for _, q := range waiting {
		c.approvals.calls.Remind(q.WaitingTicket, q.progressMessage())
	}
}

// detachWithForms detaches the request that waits if there are forms to show, and
// returns the reply that contains them.
func (c *resumableCall) detachWithForms() (reply, bool) {
	calls := c.approvals.resumable
	calls.mu.Lock()
	defer calls.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := calls.byID[c.id]; !known && len(calls.byID) >= maxResumable {
		return reply{}, false
	}
	type inputRequest struct {
		Method string      `json:"method"`
		Params elicitation `json:"params"`
	}
	requests := map[string]inputRequest{}
	until := time.Now()
	for _, t := range c.tickets {
		if t.answered {
			continue
		}
		requests[t.TicketID] = inputRequest{methodElicit, t.buildForm()}
		if t.ExpiresAt.After(until) {
			until = t.ExpiresAt
		}
	}
	if len(requests) == 0 {
		return reply{}, false
	}
	calls.byID[c.id] = c
	c.waits, c.progress = false, nil
	state := calls.seal.close(sealed{id: c.id, expires: until.Add(keepAnswer), bound: c.bound})
	members := rawjson.Encode(struct {
		Requests map[string]inputRequest `json:"inputRequests"`
		State    string                  `json:"requestState"`
	}{requests, state})
	return reply{members: members[1 : len(members)-1], requiresInput: true}, true
}

// goneText is the error for a requestState whose call is not waiting any more.
const goneText = "This requestState is unknown: it expired, its answer was already sent, or the server restarted. " +
	"Check with `opentabs calls` whether the call has run, then repeat the request without requestState."

// find returns the call of a requestState. If the state is unknown or belongs to
// another request, it returns the error as a reply.
func (r *resumableCalls) find(state string, bound [digestSize]byte) (*resumableCall, reply) {
	in, ok := r.seal.open(state)
	if !ok {
		return nil, faultReply(wire.CodeInvalidParams, "%s", goneText)
	}
	if in.bound != bound {
		return nil, faultReply(wire.CodeInvalidParams, "This requestState belongs to another request. Send it with the method, name and arguments that it was given for.")
	}
	r.mu.Lock()
	c := r.byID[in.id]
	r.mu.Unlock()
	if c == nil || time.Now().After(in.expires) {
		return nil, faultReply(wire.CodeInvalidParams, "%s", goneText)
	}
	return c, reply{}
}

// retainAnswer keeps the answer of a call that ended while no request waits for it.
func (r *resumableCalls) retainAnswer(c *resumableCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.mu.Lock()
	isKept := !c.waits && r.byID[c.id] == c
	if isKept {
		c.drop = time.AfterFunc(keepAnswer, func() { r.expire(c) })
	}
	c.mu.Unlock()
	if !isKept {
		return
	}
	r.ended = append(r.ended, c)
	r.bytes += c.reply.sizeBytes()
	for r.bytes > maxAnswerBytes && len(r.ended) > 1 {
		oldest := r.ended[0]
		r.remove(oldest)
		if !oldest.isAttached() {
			go oldest.reply.Undelivered() // it may take locks
		}
	}
}

// expire drops an answer that no request has fetched.
func (r *resumableCalls) expire(c *resumableCall) {
	r.mu.Lock()
	isExpired := slices.Contains(r.ended, c) && !c.isAttached()
	if isExpired {
		r.remove(c)
	}
	r.mu.Unlock()
	if isExpired {
		c.reply.Undelivered()
	}
}

// isAttached reports whether a request waits for the answer. A request may arrive while
// the answer is being dropped.
func (c *resumableCall) isAttached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits
}

// forget removes a call whose answer was returned.
func (r *resumableCalls) forget(c *resumableCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(c)
}

// remove removes a call. The caller holds mu.
func (r *resumableCalls) remove(c *resumableCall) {
	delete(r.byID, c.id)
	if i := slices.Index(r.ended, c); i >= 0 {
		r.ended = slices.Delete(r.ended, i, i+1)
		r.bytes -= c.reply.sizeBytes()
	}
	c.mu.Lock()
	if c.drop != nil {
		c.drop.Stop()
	}
	c.mu.Unlock()
}
