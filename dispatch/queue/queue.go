// Package queue limits how many calls of each plugin run at once. Calls that exceed the limit wait. The sessions of
// waiting calls take turns, and within a session the oldest call runs first.
//
// The number of waiting calls is limited. If the queue is full, a call of the session with the most waiting calls is
// rejected, so that one client can't fill the queue.
//
// # Concurrency
//
// A [Queue] is safe for concurrent use. One mutex guards all call queues and places of a Queue. Code that holds the mutex of
// a Queue acquires no other mutex.
package queue

import (
	"container/list"
	"fmt"
	"sync"

	"opentabs/internal/humanize"
	"opentabs/wire"
)

// Queue decides which calls run and which calls wait. Use New to create a Queue.
type Queue struct {
	limits Limits

	mu         sync.Mutex // the mutex guards callQueues and the content of each callQueue
	callQueues map[string]*callQueue
}

// Limits contains the limits for the running and the waiting calls of one plugin.
type Limits struct {
	MaxRunning int // MaxRunning is the maximum number of calls that run at once
	MaxWaiting int // MaxWaiting is the maximum number of calls that wait
	MaxBytes   int // MaxBytes is the maximum total size of the arguments of waiting calls, in bytes
}

// The type callQueue is the queue of one plugin, or of one tab for exclusive calls.
type callQueue struct {
	runningCount    int
	waitingCount    int
	waitingBytes    int
	sessionQueues   list.List
	queuesBySession map[string]*sessionQueue
}

// The type sessionQueue contains the waiting calls of one session.
type sessionQueue struct {
	session      string
	places       *list.List
	placeBytes   int
	queueElement *list.Element
}

// Place is the place of one call in a Queue.
type Place struct {
	callQueue   *callQueue
	argBytes    int
	readySignal chan struct{}
	// Queue.mu guards the fields isGranted, rejection, sessionQueue and queueElement.
	isGranted    bool
	rejection    *wire.CallError
	sessionQueue *sessionQueue
	queueElement *list.Element
}

// New returns an empty queue.
func New(l Limits) *Queue {
	return &Queue{limits: l, callQueues: map[string]*callQueue{}}
}

// Granted returns a channel that is closed when the call can start to run, or when the Queue
// rejects the call; see [Queue.Rejection].
func (p *Place) Granted() <-chan struct{} { return p.readySignal }

// HasWaited reports whether the call had to wait for its place.
func (p *Place) HasWaited() bool { return p.readySignal != closedChannel }

// Enter adds a call of a plugin to the queue. The argument argBytes is the size of the
// call's arguments. If the queue is full, Enter returns an error with the code
// rate_limited. The caller must later pass the returned Place to Leave.
func (q *Queue) Enter(plugin, session string, argBytes int) (*Place, *wire.CallError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.callQueues[plugin]
	if l == nil {
		l = &callQueue{}
		q.callQueues[plugin] = l
	}
	if l.runningCount < q.limits.MaxRunning {
		l.runningCount++
		return &Place{callQueue: l, argBytes: argBytes, readySignal: closedChannel, isGranted: true}, nil
	}
	p := &Place{callQueue: l, argBytes: argBytes, readySignal: make(chan struct{})}
	if err := q.makeRoom(l, session, argBytes); err != nil {
		return nil, err
	}
	l.add(p, session)
	return p, nil
}

// makeRoom rejects calls of the session with the most waiting calls, or with the most bytes of arguments. The caller of
// makeRoom holds Queue.mu.
func (q *Queue) makeRoom(l *callQueue, session string, argBytes int) *wire.CallError {
	for l.waitingCount >= q.limits.MaxWaiting {
		largestQueue := l.largestSessionQueue(func(t *sessionQueue) int { return t.places.Len() })
		rejection := &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"%d calls of this plugin are queued, the maximum (--max-waiting), and most of them are from this client", l.waitingCount)}
		if t := l.queuesBySession[session]; largestQueue == nil || t != nil && t.places.Len() >= largestQueue.places.Len() {
			return rejection
		}
		largestQueue.rejectLast(rejection)
	}
	for l.waitingBytes+argBytes > q.limits.MaxBytes {
		largestQueue := l.largestSessionQueue(func(t *sessionQueue) int { return t.placeBytes })
		rejection := &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"the queued calls of this plugin have %s of arguments, the maximum is %s, and most of them are from this client",
			humanize.Bytes(l.waitingBytes), humanize.Bytes(q.limits.MaxBytes))}
		sessionBytes := argBytes
		if t := l.queuesBySession[session]; t != nil {
			sessionBytes += t.placeBytes
		}
		if largestQueue == nil || sessionBytes > largestQueue.placeBytes {
			return rejection
		}
		largestQueue.rejectLast(rejection)
	}
	return nil
}

// Leave removes a call from the queue. The caller must call Leave even for a call that did not run or was rejected.
func (q *Queue) Leave(plugin string, p *Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := p.callQueue
	if !p.isGranted {
		if p.rejection == nil {
			l.remove(p)
		}
		return
	}
	l.runningCount--
	for l.runningCount < q.limits.MaxRunning && l.waitingCount > 0 {
		l.runningCount++
		l.nextPlace().grantPlace()
	}
	if l.runningCount == 0 {
		delete(q.callQueues, plugin)
	}
}

// Rejection returns the error of a rejected call, or nil if the Queue has not rejected the
// call.
func (q *Queue) Rejection(p *Place) *wire.CallError {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.rejection
}

// All calls that can run at once share the channel closedChannel, which Granted returns for them.
var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (p *Place) grantPlace() {
	p.isGranted = true
	close(p.readySignal)
}

func (l *callQueue) add(p *Place, session string) {
	t := l.queuesBySession[session]
	if t == nil {
		t = &sessionQueue{session: session, places: list.New()}
		t.queueElement = l.sessionQueues.PushBack(t)
		if l.queuesBySession == nil {
			l.queuesBySession = map[string]*sessionQueue{}
		}
		l.queuesBySession[session] = t
	}
	p.sessionQueue = t
	p.queueElement = t.places.PushBack(p)
	l.waitingCount++
	l.waitingBytes += p.argBytes
	t.placeBytes += p.argBytes
}

func (l *callQueue) largestSessionQueue(sizeOf func(*sessionQueue) int) *sessionQueue {
	var largestQueue *sessionQueue
	for _, t := range l.queuesBySession {
		if sizeOf(t) > 0 && (largestQueue == nil || sizeOf(t) > sizeOf(largestQueue)) {
			largestQueue = t
		}
	}
	return largestQueue
}

func (t *sessionQueue) rejectLast(rejection *wire.CallError) {
	p := t.places.Back().Value.(*Place)
	p.callQueue.remove(p)
	p.rejection = rejection
	close(p.readySignal)
}

func (l *callQueue) nextPlace() *Place {
	t := l.sessionQueues.Front().Value.(*sessionQueue)
	p := t.places.Front().Value.(*Place)
	l.remove(p)
	if t.places.Len() > 0 {
		l.sessionQueues.MoveToBack(t.queueElement)
	}
	return p
}

func (l *callQueue) remove(p *Place) {
	t := p.sessionQueue
	t.places.Remove(p.queueElement)
	l.waitingCount--
	l.waitingBytes -= p.argBytes
	t.placeBytes -= p.argBytes
	if t.places.Len() == 0 {
		l.sessionQueues.Remove(t.queueElement)
		delete(l.queuesBySession, t.session)
	}
}
