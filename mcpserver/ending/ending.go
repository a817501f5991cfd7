// Package ending lets a request of a client wait for the end of earlier requests that the
// client has cancelled. The end of a cancelled request reveals the client's timeout, which
// the server needs for the client's next request.
package ending

import (
	"context"
	"sync"
	"time"

	"opentabs/internal/clients"
)

// maxWait limits how long a request waits for cancelled requests.
const maxWait = 2 * time.Second

// Table contains the running requests of clients. The zero value is an empty table. A Table is
// safe for concurrent use.
type Table struct {
	mu       sync.Mutex // the mutex guards requests and Request.ended
	requests map[*Request]struct{}
}

// Request is a running request of a client.
type Request struct {
	table  *Table
	ctx    context.Context // ctx ends when the client cancels the request
	client clients.ID
	ended  chan struct{} // the field ended is nil until another request waits; End closes ended
}

// Begin adds a request. The context ctx ends when the client cancels the request. The caller
// of Begin must call Request.End at the end of the request.
func (t *Table) Begin(ctx context.Context, client clients.ID) *Request {
	r := &Request{table: t, ctx: ctx, client: client}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests == nil {
		t.requests = map[*Request]struct{}{}
	}
	t.requests[r] = struct{}{}
	return r
}

// End removes the request from the table. If r is nil, End does nothing.
func (r *Request) End() {
	if r == nil {
		return
	}
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	delete(r.table.requests, r)
	if r.ended != nil {
		close(r.ended)
	}
}

// WaitForCancelled waits until all cancelled requests of the client have ended, but at most 2 s
// and not longer than ctx.
func (t *Table) WaitForCancelled(ctx context.Context, client clients.ID) {
	cancelledRequests := t.cancelledRequests(client)
	if len(cancelledRequests) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, maxWait)
	defer stop()
	for _, ended := range cancelledRequests {
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

func (t *Table) cancelledRequests(client clients.ID) (cancelledRequests []<-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for r := range t.requests {
		if r.client != client || r.ctx.Err() == nil {
			continue
		}
		if r.ended == nil {
			r.ended = make(chan struct{})
		}
		cancelledRequests = append(cancelledRequests, r.ended)
	}
	return cancelledRequests
}
