package idempotency

import (
	"context"
	"sync"

	"opentabs/dispatch"
)

// ticketListener shows a ticket to the user on behalf of one waiting request, until ctx is
// cancelled.
type ticketListener = func(ctx context.Context, w dispatch.WaitingTicket)

// The type tickets shows a call's tickets on behalf of all requests that have the call's
// idempotency key and wait for the call's result. The user can decide in any MCP client
// that sent a request with the call's idempotency key. The type tickets is safe for
// concurrent use.
type tickets struct {
	mu        sync.Mutex       // the mutex guards all fields below
	listeners []ticketListener // a request that no longer waits ignores tickets
	open      map[string]openTicket
}

// openTicket is a ticket about which the user has not decided. The field ctx is the
// ticket's context, which is cancelled when the ticket is closed.
type openTicket struct {
	ctx    context.Context
	ticket dispatch.WaitingTicket
}

// The argument show is nil if the request cannot show tickets.
func (t *tickets) addListener(show ticketListener) {
	if show == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listeners = append(t.listeners, show)
	for _, o := range t.open {
		go show(o.ctx, o.ticket)
	}
}

func (t *tickets) show(ctx context.Context, w dispatch.WaitingTicket) {
	t.mu.Lock()
	if t.open == nil {
		t.open = map[string]openTicket{}
	}
	t.open[w.TicketID] = openTicket{ctx, w}
	for _, show := range t.listeners {
		go show(ctx, w)
	}
	t.mu.Unlock()
	<-ctx.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, w.TicketID)
}
