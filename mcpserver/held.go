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
	"opentabs/wire"
)

// The bounds of what is held for clients that may come back.
const (
	// heldMost is how many calls are held between two requests. Beyond that a
	// call waits with its request open, as for a client that shows no forms.
	heldMost = 256
	// heldKept is how long the answer of a call that ended between two requests
	// is kept, heldBytes how large such answers are together; beyond that the
	// oldest are dropped.
	heldKept  = 5 * time.Minute
	heldBytes = 64 << 20
)

// heldCalls are the calls of clients of protocol version 2026-07-28 or later
// that show forms. The server asks nothing of those: the question is the answer
// to their request (input_required), and the person's decision comes with the
// request when it is made again. In between the call is held here, and goes on
// if another surface decides. It is safe for concurrent use.
type heldCalls struct {
	seal seal

	mu    sync.Mutex       // guards all below; taken before held.mu
	byID  map[string]*held // what has been given to a client
	ended []*held          // of those the ones that ended between two requests, oldest first
	bytes int              // how large their answers are
}

func newHeldCalls() *heldCalls { return &heldCalls{seal: newSeal(), byID: map[string]*held{}} }

// held is one such call.
type held struct {
	server *Server
	id     string
	// bound says what a request must be like to be the same as the first.
	bound  [digestSize]byte
	cancel context.CancelCauseFunc
	// changed holds a token when a ticket came or went.
	changed chan struct{}
	done    chan struct{} // closed when reply is set
	reply   reply

	mu      sync.Mutex // guards all below
	teller  *teller    // of the request that waits
	waits   bool       // a request waits
	tickets []*heldTicket
	drop    *time.Timer // runs while the answer is kept
}

// heldTicket is a ticket that is open.
type heldTicket struct {
	question
	// asked is set once the client has answered: it is not asked again. decided
	// is set if that was a decision.
	asked, decided bool
}

// serveHeld serves a request of a client that shows forms.
func (s *Server) serveHeld(ctx context.Context, q request) reply {
	bound := digest(q.method, q.client.Session, q.params.Name, q.params.Arguments)
	if q.params.RequestState == "" {
		h, err := s.hold(q, bound)
		if err != nil {
			return fault(wire.CodeInternal, stoppingText)
		}
		t := newTeller(ctx, q.params, q.send)
		defer t.close() // the call goes on, and may report
		h.attach(t)
		return h.wait(ctx)
	}
	h, refused := s.held.find(q.params.RequestState, bound)
	if h == nil {
		return refused
	}
	answers := map[string]json.RawMessage{}
	if len(q.params.InputResponses) > 0 && json.Unmarshal(q.params.InputResponses, &answers) != nil {
		return fault(wire.CodeInvalidParams, "The inputResponses are not an object. Send one with a member for each of the inputRequests.")
	}
	for _, a := range answers {
		if a[0] != '{' {
			return fault(wire.CodeInvalidParams, "A member of the inputResponses is not an object. Send an ElicitResult.")
		}
	}
	t := newTeller(ctx, q.params, q.send)
	defer t.close()
	if !h.attach(t) {
		return fault(wire.CodeInvalidRequest, "A request with this requestState is still running. Wait for its answer.")
	}
	h.take(q.client, answers)
	return h.wait(ctx)
}

// hold begins a call that outlives its request while it waits for a person. An
// error says that nothing may begin.
func (s *Server) hold(q request, bound [digestSize]byte) (*held, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	h := &held{
		server: s, id: strings.ToLower(rand.Text()), bound: bound, cancel: cancel,
		changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	key := s.uniqueKey()
	if err := s.sessions.begin(q.session, key, task{cancel: cancel}); err != nil {
		cancel(nil)
		return nil, err
	}
	q.progress = h.progress
	q.asked = func(ctx context.Context, w dispatch.Waiting) { h.asked(ctx, question{Waiting: w}) }
	go func() {
		defer s.sessions.finish()
		defer cancel(nil)
		h.reply = s.run(ctx, q)
		s.sessions.release(q.session, key)
		close(h.done)
		s.held.keep(h)
	}()
	return h, nil
}

// progress tells the request that waits, if there is one.
func (h *held) progress(p dispatch.Progress) {
	h.mu.Lock()
	t := h.teller
	h.mu.Unlock()
	t.progress(p)
}

// asked holds a ticket ready until ctx ends, which is when it is settled.
func (h *held) asked(ctx context.Context, q question) {
	t := &heldTicket{question: q}
	h.mu.Lock()
	h.tickets = append(h.tickets, t)
	h.mu.Unlock()
	h.signal()
	<-ctx.Done()
	h.mu.Lock()
	h.tickets = slices.DeleteFunc(h.tickets, func(o *heldTicket) bool { return o == t })
	h.mu.Unlock()
	h.signal()
}

func (h *held) signal() {
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// attach makes a request the one that waits. It reports false if another does.
func (h *held) attach(t *teller) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits {
		return false
	}
	h.waits, h.teller = true, t
	if h.drop != nil {
		h.drop.Stop()
	}
	return true
}

// take hands over the answers of a client's form.
func (h *held) take(client dispatch.Client, answers map[string]json.RawMessage) {
	h.mu.Lock()
	open := slices.Clone(h.tickets)
	h.mu.Unlock()
	for _, t := range open {
		a, ok := answers[t.TicketID]
		if !ok {
			continue
		}
		decided := h.server.decide(t.question, client, a)
		h.mu.Lock()
		t.asked, t.decided = true, decided // it is open for another moment
		h.mu.Unlock()
	}
}

// wait waits for the call's end or for a question that its client has not been
// asked yet, and returns the answer to the request that is attached. When ctx
// ends the call does.
func (h *held) wait(ctx context.Context) reply {
	remind := time.NewTicker(h.server.opts.Heartbeat)
	defer remind.Stop()
	for {
		select {
		case <-h.done:
			h.server.held.forget(h)
			return h.reply
		default:
		}
		if r, ok := h.question(); ok {
			return r
		}
		h.remind()
		select {
		case <-h.done:
		case <-h.changed:
		case <-remind.C:
		case <-ctx.Done():
			h.cancel(context.Cause(ctx))
			<-h.done
		}
	}
}

// remind tells the client what its call waits for.
func (h *held) remind() {
	h.mu.Lock()
	var waiting []question
	for _, o := range h.tickets {
		if !o.decided {
			waiting = append(waiting, o.question)
		}
	}
	h.mu.Unlock()
	for _, q := range waiting {
		h.server.calls.Remind(q.Waiting, q.waiting())
	}
}

// question lets go of the request that waits if there is something to ask: it
// returns the answer that asks.
func (h *held) question() (reply, bool) {
	calls := h.server.held
	calls.mu.Lock()
	defer calls.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := calls.byID[h.id]; !known && len(calls.byID) >= heldMost {
		return reply{}, false
	}
	type inputRequest struct {
		Method string      `json:"method"`
		Params elicitation `json:"params"`
	}
	requests := map[string]inputRequest{}
	until := time.Now()
	for _, t := range h.tickets {
		if t.asked {
			continue
		}
		requests[t.TicketID] = inputRequest{methodElicit, t.form()}
		if t.Until.After(until) {
			until = t.Until
		}
	}
	if len(requests) == 0 {
		return reply{}, false
	}
	calls.byID[h.id] = h
	h.waits, h.teller = false, nil
	state := calls.seal.close(sealed{id: h.id, expires: until.Add(heldKept), bound: h.bound})
	members := encode(struct {
		Requests map[string]inputRequest `json:"inputRequests"`
		State    string                  `json:"requestState"`
	}{requests, state})
	return reply{members: members[1 : len(members)-1], asks: true}, true
}

// goneText is what a client is told whose call is not held any more.
const goneText = "This requestState is not known (any more): its time is up, its answer has been given, or the server was restarted. " +
	"Look with `opentabs calls` whether the call has run, then make the request anew, without requestState."

// find returns the call that a requestState is for, if the request is the same.
// Otherwise the reply says what is wrong.
func (c *heldCalls) find(state string, bound [digestSize]byte) (*held, reply) {
	in, ok := c.seal.open(state)
	if !ok {
		return nil, fault(wire.CodeInvalidParams, "%s", goneText)
	}
	if in.bound != bound {
		return nil, fault(wire.CodeInvalidParams, "This requestState belongs to another request. Send it with the method, name and arguments that it was given for.")
	}
	c.mu.Lock()
	h := c.byID[in.id]
	c.mu.Unlock()
	if h == nil || time.Now().After(in.expires) {
		return nil, fault(wire.CodeInvalidParams, "%s", goneText)
	}
	return h, reply{}
}

// keep keeps the answer of a call that has ended while no request waits for it.
func (c *heldCalls) keep(h *held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.mu.Lock()
	kept := !h.waits && c.byID[h.id] == h
	if kept {
		h.drop = time.AfterFunc(heldKept, func() { c.lose(h) })
	}
	h.mu.Unlock()
	if !kept {
		return
	}
	c.ended = append(c.ended, h)
	c.bytes += h.reply.size()
	for c.bytes > heldBytes && len(c.ended) > 1 {
		lost := c.ended[0]
		c.remove(lost)
		if !lost.attended() {
			go lost.reply.undelivered() // it may take locks
		}
	}
}

// lose lets go of a call whose answer nobody came for.
func (c *heldCalls) lose(h *held) {
	c.mu.Lock()
	lost := slices.Contains(c.ended, h)
	if lost = lost && !h.attended(); lost {
		c.remove(h)
	}
	c.mu.Unlock()
	if lost {
		h.reply.undelivered()
	}
}

// attended reports whether a request waits for the answer: somebody may come at
// the very moment at which it is dropped.
func (h *held) attended() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waits
}

// forget lets go of a call whose answer is given.
func (c *heldCalls) forget(h *held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(h)
}

// remove is forget for a caller that holds mu.
func (c *heldCalls) remove(h *held) {
	delete(c.byID, h.id)
	if i := slices.Index(c.ended, h); i >= 0 {
		c.ended = slices.Delete(c.ended, i, i+1)
		c.bytes -= h.reply.size()
	}
	h.mu.Lock()
	if h.drop != nil {
		h.drop.Stop()
	}
	h.mu.Unlock()
}
