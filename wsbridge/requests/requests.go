// Package requests sends requests to a browser over one link and matches the answers to
// the requests.
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

// answerTimeout is how long a browser may take to answer a request that is not a tool call.
const answerTimeout = 30 * time.Second

var (
	// ErrLinkEnded means that the link to the browser ended before the answer arrived.
	ErrLinkEnded      = errors.New("the link was closed")
	errBrowserTimeout = errors.New("the browser did not answer within 30 s")
)

// IDPrefix begins the ID of every server request except tool.dispatch.
const IDPrefix = "s/"

// answerReceiver receives the browser's answer to one request.
type answerReceiver struct {
	responses chan<- wire.Envelope
	// onAnswer, if not nil, runs when the answer to the request arrives. The reader of
	// the link handles the next frame only after onAnswer has returned.
	onAnswer func()
}

// Table contains the server's pending requests on one link, except tool calls. The methods of
// Table are safe for concurrent use.
type Table struct {
	postFrame func(frame []byte)
	linkEnded <-chan struct{}

	mu             sync.Mutex // the mutex guards all fields below
	pendingAnswers map[string]answerReceiver
	lastID         int
}

// New returns an empty table for the pending requests of one link. The function postFrame sends a
// message frame on the link. The channel linkEnded is closed when the link ends.
func New(postFrame func(frame []byte), linkEnded <-chan struct{}) *Table {
	return &Table{postFrame: postFrame, linkEnded: linkEnded, pendingAnswers: map[string]answerReceiver{}}
}

// SendAndWait sends a request and waits for the browser's answer until ctx or the link ends. SendAndWait must not run
// on the goroutine that reads from the link, which delivers the answer.
func (r *Table) SendAndWait(ctx context.Context, method wire.Method, params []byte) (wire.Envelope, error) {
	return r.AwaitAnswer(ctx, r.Send(method, params))
}

// Request is a request that was sent on a link. AwaitAnswer waits for the answer to a
// Request.
type Request struct {
	id        string
	responses <-chan wire.Envelope
	sentAt    time.Time
}

// Send sends a request without waiting for the answer. After Send, the caller must pass
// the returned Request to AwaitAnswer.
func (r *Table) Send(method wire.Method, params []byte) Request {
	return r.SendWithCallback(method, params, nil)
}

// SendWithCallback sends a request like Send, and calls onAnswer when the answer arrives.
// onAnswer runs before the goroutine that reads from the link handles the next message
// frame.
func (r *Table) SendWithCallback(method wire.Method, params []byte, onAnswer func()) Request {
	responses := make(chan wire.Envelope, 1)
	r.mu.Lock()
	r.lastID++
	id := IDPrefix + strconv.Itoa(r.lastID)
	r.pendingAnswers[id] = answerReceiver{responses, onAnswer}
	r.mu.Unlock()
	r.postFrame(wire.AppendRequest(nil, id, method, params))
	return Request{id: id, responses: responses, sentAt: time.Now()}
}

// AwaitAnswer waits for the answer to a request until ctx or the link ends, or until
// 30 s have passed since the request was sent.
func (r *Table) AwaitAnswer(ctx context.Context, q Request) (wire.Envelope, error) {
	defer func() {
		r.mu.Lock()
		delete(r.pendingAnswers, q.id)
		r.mu.Unlock()
	}()
	timer := time.NewTimer(answerTimeout - time.Since(q.sentAt))
	defer timer.Stop()
	select {
	case e := <-q.responses:
		return e, nil
	case <-r.linkEnded:
		return wire.Envelope{}, ErrLinkEnded
	case <-ctx.Done():
		return wire.Envelope{}, ctx.Err()
	case <-timer.C:
		return wire.Envelope{}, errBrowserTimeout
	}
}

// DeliverAnswer passes an answer to the pending request with the ID of the answer. DeliverAnswer returns false if no
// pending request has the ID of the answer.
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
	e.Result = bytes.Clone(e.Result) // the reader of the link reuses the buffer of the result
	receiver.responses <- e
	return true
}
