package idempotency

import (
	"context"
	"sync"

	"opentabs/dispatch"
)

// showFunc shows a ticket to the user of one request until ctx ends.
type showFunc = func(ctx context.Context, w dispatch.WaitingTicket)

// tickets passes the tickets of a call on to all requests that have its key, so that the
// user can decide in any of them. tickets is safe for concurrent use.
type tickets struct {
	mu    sync.Mutex // guards all fields below
	shows []showFunc // the requests; a request that waits no longer ignores tickets
	open  map[string]openTicket
}

// openTicket is a ticket without a decision. ctx ends when the ticket is resolved.
type openTicket struct {
	ctx    context.Context
	ticket dispatch.WaitingTicket
}

// join adds a request, and shows it the open tickets. show is nil for a request that shows
// no tickets.
func (t *tickets) join(show showFunc) {
	if show == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shows = append(t.shows, show)
	for _, o := range t.open {
		go show(o.ctx, o.ticket)
	}
}

// show shows a ticket to all requests until ctx ends. It is the OnTicket of the call.
func (t *tickets) show(ctx context.Context, w dispatch.WaitingTicket) {
	t.mu.Lock()
	if t.open == nil {
		t.open = map[string]openTicket{}
	}
	t.open[w.TicketID] = openTicket{ctx, w}
	for _, show := range t.shows {
		go show(ctx, w)
	}
	t.mu.Unlock()
	<-ctx.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, w.TicketID)
}
