// Package requests sends requests to the browser on one link and matches the answers.
package requests

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"opentabs/wire"
)

// Timeout limits how long a browser may take to answer a request that is
// not about a run.
const Timeout = 30 * time.Second

var (
	// ErrLinkEnded means that the link ended before the answer arrived.
	ErrLinkEnded = errors.New("the link was closed")
	errNoAnswer  = errors.New("the browser did not answer within 30 s")
)

// IDPrefix begins the ID of every request of the server that is not a tool.dispatch.
const IDPrefix = "s/"

// answerReceiver receives the answer to one request.
type answerReceiver struct {
	answers chan<- wire.Envelope // has room for the only answer
	// onAnswer, if not nil, runs in the reader before the reader handles the next frame.
	onAnswer func()
}

// Table has the server's requests on one link that are not about a run. All methods may
// be called concurrently.
type Table struct {
	post      func(frame []byte)
	linkEnded <-chan struct{} // linkEnded is closed when the link has ended

	mu             sync.Mutex // mu guards all fields below
	pendingAnswers map[string]answerReceiver
	lastID         int
}

// New returns the table of a link. post sends a frame; linkEnded is closed when the link
// has ended.
func New(post func(frame []byte), linkEnded <-chan struct{}) *Table {
	return &Table{post: post, linkEnded: linkEnded, pendingAnswers: map[string]answerReceiver{}}
}

// SendAndWait sends a request and waits for its answer, until ctx or the link ends. The
// reader must not call SendAndWait.
func (r *Table) SendAndWait(ctx context.Context, method wire.Method, params []byte) (wire.Envelope, error) {
	return r.AwaitAnswer(ctx, r.Send(method, params))
}

// Request is a request without an answer yet.
type Request struct {
	id     string
	answer <-chan wire.Envelope
	sentAt time.Time
}

// Send sends a request. The caller must call AwaitAnswer for the sent request.
func (r *Table) Send(method wire.Method, params []byte) Request {
	return r.SendAndReport(method, params, nil)
}

// SendAndReport is like Send, and calls onAnswer when the answer arrives, before any
// later frame of the browser is handled.
func (r *Table) SendAndReport(method wire.Method, params []byte, onAnswer func()) Request {
	answer := make(chan wire.Envelope, 1)
	r.mu.Lock()
	r.lastID++
	id := IDPrefix + strconv.Itoa(r.lastID)
	r.pendingAnswers[id] = answerReceiver{answer, onAnswer}
	r.mu.Unlock()
	r.post(wire.AppendRequest(nil, id, method, params))
	return Request{id: id, answer: answer, sentAt: time.Now()}
}

// AwaitAnswer waits for the answer to a request until ctx or the link ends. The wait
// ends at the latest when Timeout has passed since the request was sent.
func (r *Table) AwaitAnswer(ctx context.Context, q Request) (wire.Envelope, error) {
	defer func() {
		r.mu.Lock()
		delete(r.pendingAnswers, q.id)
		r.mu.Unlock()
	}()
	timer := time.NewTimer(Timeout - time.Since(q.sentAt))
	defer timer.Stop()
	select {
	case e := <-q.answer:
		return e, nil
	case <-r.linkEnded:
		return wire.Envelope{}, ErrLinkEnded
	case <-ctx.Done():
		return wire.Envelope{}, ctx.Err()
	case <-timer.C:
		return wire.Envelope{}, errNoAnswer
	}
}

// DeliverAnswer passes an answer to the request that has its ID, and returns false if
// there is no such request.
func (r *Table) DeliverAnswer(e wire.Envelope) bool {
	r.mu.Lock()
	receiver, ok := r.pendingAnswers[e.ID]
	delete(r.pendingAnswers, e.ID)
	r.mu.Unlock()
	if !ok {
		return false
	}
	if receiver.onAnswer != nil {
		receiver.onAnswer()
	}
	e.Result = bytes.Clone(e.Result) // the result is cloned, because the reader reuses its buffer
	receiver.answers <- e
	return true
}
