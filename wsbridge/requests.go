package wsbridge

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"opentabs/wire"
)

// requestTimeout limits how long a browser may take to answer a request that is
// not about a run.
const requestTimeout = 30 * time.Second

var (
	errLinkEnded = errors.New("the link was closed")
	errNoAnswer  = errors.New("the browser did not answer within 30 s")
)

// IDs of the server's requests. The ID of a tool.dispatch is the run's ID; all
// other IDs begin with a prefix that no run has.
const (
	requestIDPrefix = "s/"
	pingID          = requestIDPrefix + "ping"
	cancelIDPrefix  = requestIDPrefix + "cancel/" // the ID of a run follows cancelIDPrefix
	answerIDPrefix  = requestIDPrefix + "answer/" // the number of the tool.ask, a slash and the ID of a run follow answerIDPrefix
)

// linkRequests are the server's requests on one link that are not about a run.
type linkRequests struct {
	post      func(frame []byte)
	linkEnded <-chan struct{} // linkEnded is closed when the link has ended

	mu             sync.Mutex // mu guards all fields below
	pendingAnswers map[string]chan<- wire.Envelope
	lastID         int
}

// sendAndWait sends a request and waits for its answer, until ctx or the link ends. The
// reader must not call sendAndWait.
func (r *linkRequests) sendAndWait(ctx context.Context, method wire.Method, params []byte) (wire.Envelope, error) {
	return r.awaitAnswer(ctx, r.send(method, params))
}

// pendingRequest is a request without an answer yet.
type pendingRequest struct {
	id     string
	answer <-chan wire.Envelope
	sentAt time.Time
}

// send sends a request. The caller must call awaitAnswer for the sent request.
func (r *linkRequests) send(method wire.Method, params []byte) pendingRequest {
	answer := make(chan wire.Envelope, 1)
	r.mu.Lock()
	r.lastID++
	id := requestIDPrefix + strconv.Itoa(r.lastID)
	r.pendingAnswers[id] = answer
	r.mu.Unlock()
	r.post(wire.AppendRequest(nil, id, method, params))
	return pendingRequest{id: id, answer: answer, sentAt: time.Now()}
}

// awaitAnswer waits for the answer to a request until ctx or the link ends. The wait
// ends at the latest when requestTimeout has passed since the request was sent.
func (r *linkRequests) awaitAnswer(ctx context.Context, q pendingRequest) (wire.Envelope, error) {
	defer func() {
		r.mu.Lock()
		delete(r.pendingAnswers, q.id)
		r.mu.Unlock()
	}()
	timer := time.NewTimer(requestTimeout - time.Since(q.sentAt))
	defer timer.Stop()
	select {
	case e := <-q.answer:
		return e, nil
	case <-r.linkEnded:
		return wire.Envelope{}, errLinkEnded
	case <-ctx.Done():
		return wire.Envelope{}, ctx.Err()
	case <-timer.C:
		return wire.Envelope{}, errNoAnswer
	}
}

// deliverAnswer passes an answer to the request that has its ID, and returns false if
// there is no such request.
func (r *linkRequests) deliverAnswer(e wire.Envelope) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers, ok := r.pendingAnswers[e.ID]
	if ok {
		delete(r.pendingAnswers, e.ID)
		e.Result = bytes.Clone(e.Result) // the result is cloned, because the reader reuses its buffer
		answers <- e                     // the send never blocks, because the channel has room for the only answer
	}
	return ok
}
