// Package queue bounds how many calls of each plugin run at once. Further calls wait.
// When a place is free, the waiting sessions take turns, and within a session the
// oldest call is first.
//
// Package queue also bounds the number of waiting calls. If too many calls wait, the
// session with the most waiting calls loses a call, so that no client can fill the
// queue alone.
//
// # Concurrency
//
// A [Queue] is safe for concurrent use. The lock of a Queue guards all lanes and
// places. No other lock is taken while the lock of a Queue is held.
package queue

import (
	"container/list"
	"fmt"
	"sync"

	"opentabs/internal/humanize"
	"opentabs/wire"
)

// Queue assigns places to calls. New makes a Queue.
type Queue struct {
	limits Limits

	mu    sync.Mutex // guards lanes and the content of each lane
	lanes map[string]*lane
}

// Limits bound the queue of one plugin.
type Limits struct {
	MaxRunning int // the number of calls that run at once
	MaxWaiting int // the number of calls that wait
	MaxBytes   int // the total size of the arguments of waiting calls
}

// lane is the queue of one plugin.
type lane struct {
	runningCount int
	waitingCount int
	waitingBytes int
	// turns has a *turn for each waiting session, in the order in which they get
	// places. turnsBySession has each turn by its session; nil before the first session
	// waits.
	turns          list.List
	turnsBySession map[string]*turn
}

// turn lists the waiting calls of one session.
type turn struct {
	session    string
	places     *list.List // of *Place
	placeBytes int
	element    *list.Element // the position in lane.turns
}

// Place is a call's place in the queue.
type Place struct {
	lane     *lane
	argBytes int
	// ready is closed when the call may run or is rejected.
	ready chan struct{}
	// Queue.mu guards the fields below. turn and element are the position of the place
	// in the queue.
	isGranted bool
	rejection *wire.CallError
	turn      *turn
	element   *list.Element
}

// New returns an empty queue.
func New(l Limits) *Queue {
	return &Queue{limits: l, lanes: map[string]*lane{}}
}

// Ready returns a channel that is closed when the call may run or is rejected.
func (p *Place) Ready() <-chan struct{} { return p.ready }

// Enter reserves a place for a call of plugin. argBytes is the size of the call's
// arguments. Enter returns rate_limited if the queue is full. Leave must be called once
// for each place.
func (q *Queue) Enter(plugin, session string, argBytes int) (*Place, *wire.CallError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[plugin]
	if l == nil {
		l = &lane{}
		q.lanes[plugin] = l
	}
	if l.runningCount < q.limits.MaxRunning {
		l.runningCount++
		return &Place{lane: l, argBytes: argBytes, ready: closedChannel, isGranted: true}, nil
	}
	p := &Place{lane: l, argBytes: argBytes, ready: make(chan struct{})}
	if err := q.makeRoom(l, session, argBytes); err != nil {
		return nil, err
	}
	l.add(p, session)
	return p, nil
}

// makeRoom rejects waiting calls until a new call fits, or returns the error for the
// new call. The caller has locked mu.
func (q *Queue) makeRoom(l *lane, session string, argBytes int) *wire.CallError {
	for l.waitingCount >= q.limits.MaxWaiting {
		greediest := l.turnWithMost(func(t *turn) int { return t.places.Len() })
		rejection := &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"%d calls of this plugin are queued, the maximum (--max-waiting), and most of them are from this client", l.waitingCount)}
		if t := l.turnsBySession[session]; greediest == nil || t != nil && t.places.Len() >= greediest.places.Len() {
			return rejection
		}
		greediest.rejectLast(rejection)
	}
	for l.waitingBytes+argBytes > q.limits.MaxBytes {
		greediest := l.turnWithMost(func(t *turn) int { return t.placeBytes })
		rejection := &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"the queued calls of this plugin have %s of arguments, the maximum is %s, and most of them are from this client",
			humanize.Bytes(l.waitingBytes), humanize.Bytes(q.limits.MaxBytes))}
		sessionBytes := argBytes
		if t := l.turnsBySession[session]; t != nil {
			sessionBytes += t.placeBytes
		}
		if greediest == nil || sessionBytes > greediest.placeBytes {
			return rejection
		}
		greediest.rejectLast(rejection)
	}
	return nil
}

// Leave frees a place, whether its call ran, still waits, or was rejected.
func (q *Queue) Leave(plugin string, p *Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := p.lane
	if !p.isGranted {
		if p.rejection == nil {
			l.remove(p)
		}
		return
	}
	l.runningCount--
	for l.runningCount < q.limits.MaxRunning && l.waitingCount > 0 {
		l.runningCount++
		l.nextPlace().grant()
	}
	if l.runningCount == 0 {
		delete(q.lanes, plugin)
	}
}

// Rejection returns the error of a rejected place; nil if its call may run.
func (q *Queue) Rejection(p *Place) *wire.CallError {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.rejection
}

// closedChannel is the ready channel of places that did not wait.
var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (p *Place) grant() {
	p.isGranted = true
	close(p.ready)
}

// add queues p behind the other calls of p's session.
func (l *lane) add(p *Place, session string) {
	t := l.turnsBySession[session]
	if t == nil {
		t = &turn{session: session, places: list.New()}
		t.element = l.turns.PushBack(t)
		if l.turnsBySession == nil {
			l.turnsBySession = map[string]*turn{}
		}
		l.turnsBySession[session] = t
	}
	p.turn = t
	p.element = t.places.PushBack(p)
	l.waitingCount++
	l.waitingBytes += p.argBytes
	t.placeBytes += p.argBytes
}

// turnWithMost returns the turn with the greatest sizeOf; nil if all sizes are 0.
func (l *lane) turnWithMost(sizeOf func(*turn) int) *turn {
	var greediest *turn
	for _, t := range l.turnsBySession {
		if sizeOf(t) > 0 && (greediest == nil || sizeOf(t) > sizeOf(greediest)) {
			greediest = t
		}
	}
	return greediest
}

// rejectLast rejects the newest call of a session.
func (t *turn) rejectLast(rejection *wire.CallError) {
	p := t.places.Back().Value.(*Place)
	p.lane.remove(p)
	p.rejection = rejection
	close(p.ready)
}

// nextPlace removes the first place of the first turn, and moves the turn to the end of
// the list.
func (l *lane) nextPlace() *Place {
	t := l.turns.Front().Value.(*turn)
	p := t.places.Front().Value.(*Place)
	l.remove(p)
	if t.places.Len() > 0 {
		l.turns.MoveToBack(t.element)
	}
	return p
}

// remove removes a waiting place from the queue.
func (l *lane) remove(p *Place) {
	t := p.turn
	t.places.Remove(p.element)
	l.waitingCount--
	l.waitingBytes -= p.argBytes
	t.placeBytes -= p.argBytes
	if t.places.Len() == 0 {
		l.turns.Remove(t.element)
		delete(l.turnsBySession, t.session)
	}
}
