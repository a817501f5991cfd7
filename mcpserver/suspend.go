package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"opentabs/dispatch"
)

// methodElicit is the request by which a client shows its person a form.
const methodElicit = "elicitation/create"

// teller tells a client how its call gets on, under the progress token of one
// request. It is safe for concurrent use.
type teller struct {
	ctx   context.Context // of the request: after its end the client hears nothing
	send  notify
	token json.RawMessage

	mu     sync.Mutex // guards all below, and the order in which things are sent
	closed bool
	buf    []byte
}

// newTeller returns a teller for a request; nil, which tells nothing, if the
// client can't be told or does not want to be.
func newTeller(ctx context.Context, p *params, send notify) *teller {
	token := p.token()
	if token == nil || send == nil {
		return nil
	}
	return &teller{ctx: ctx, send: send, token: token}
}

// close returns when nothing is being sent, and nothing is after it: no client
// may hear of a request behind its answer.
func (t *teller) close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// progress sends one notification. What can't be sent is dropped: progress never
// changes a call, and a transport whose client is gone cancels the call itself.
func (t *teller) progress(p dispatch.Progress) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.ctx.Err() != nil {
		return
	}
	var total *float64
	if p.HasTotal {
		total = &p.Total
	}
	audience := p.Audience
	if audience == "" {
		audience = "internal"
	}
	t.buf = appendProgress(t.buf[:0], t.token, p.Progress, total, p.Message, p.StatusWord, audience)
	_ = t.send(t.buf)
}

// remind tells a client again and again what its call waits for, until ctx ends:
// some give up a call of which they hear nothing.
func (s *Server) remind(ctx context.Context, q question) {
	tick := time.NewTicker(s.opts.Heartbeat)
	defer tick.Stop()
	for {
		s.calls.Remind(q.Waiting, q.waiting())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// asker puts what one call waits for before the person, through the client that
// made the call. A client that can't ask is told why its call waits.
type asker struct {
	server *Server
	client dispatch.Client
	teller *teller
	// elicit shows a form and returns the client's result; nil if the client
	// shows none.
	elicit elicitor

	ctx  context.Context // ends with the request
	stop context.CancelFunc

	mu     sync.Mutex     // guards closed, and additions to asking
	closed bool           // the request has its answer
	asking sync.WaitGroup // one for each ticket that is before the client
}

// elicitor shows a person a form and returns the result of elicitation/create.
// When ctx ends first it takes the form back and returns ctx's error.
type elicitor func(ctx context.Context, form elicitation) (json.RawMessage, error)

// newAsker returns what asks for a request. Call finish before the request is
// answered.
func (s *Server) newAsker(ctx context.Context, q request) *asker {
	a := &asker{server: s, client: q.client, teller: newTeller(ctx, q.params, q.send), elicit: q.elicit}
	a.ctx, a.stop = context.WithCancel(ctx)
	return a
}

// finish ends all questions, and returns when the client has been told so.
func (a *asker) finish() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.stop()
	a.asking.Wait()
}

// asked puts one ticket before the person until ctx ends, which is when it is
// settled.
func (a *asker) asked(ctx context.Context, w dispatch.Waiting) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return
	}
	a.asking.Add(1)
	a.mu.Unlock()
	defer a.asking.Done()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.ctx, stop)()
	q := question{Waiting: w}
	var reminding sync.WaitGroup
	defer reminding.Wait()
	reminding.Go(func() { a.server.remind(ctx, q) })
	if a.elicit == nil {
		return
	}
	result, err := a.elicit(ctx, q.form())
	if err != nil {
		if ctx.Err() == nil {
			a.server.opts.Log.Warn().Str("call", w.CallID).Str("client", a.client.String()).Err(err).Msg("the client could not ask the person")
		}
		return
	}
	a.server.decide(q, a.client, result)
}

// decide takes what a client says the person decided. It reports false if that
// is nothing: other surfaces still wait.
func (s *Server) decide(q question, client dispatch.Client, result json.RawMessage) bool {
	resolution, decided, err := q.answer(result)
	if decided {
		resolution.By = cmp.Or(client.Known(), strings.TrimSpace("the client "+client.Name))
		_, err = s.calls.Decide(q.CallID, q.TicketID, resolution)
	}
	if err != nil {
		s.opts.Log.Warn().Str("call", q.CallID).Str("client", client.String()).Err(err).Msg("the client's answer for the person decides nothing")
		return false
	}
	return decided
}
