package dispatch

import (
	"container/list"
	"fmt"
	"sync"

	"opentabs/wire"
)

// queue lets a bounded number of calls of each plugin run at once. The others
// wait; when a place is free, the sessions that wait take turns, and within a
// session the first that came goes first.
//
// What waits is bounded too. Beyond the bound it is the session with the most
// waiting calls that is refused one, so that no client can take the room of
// another.
type queue struct {
	limits queueLimits

	mu    sync.Mutex // guards lanes and everything in them
	lanes map[string]*lane
}

// queueLimits bound the queue of one plugin.
type queueLimits struct {
	running int
	// waiting is how many calls may wait, bytes how large their arguments may be
	// together.
	waiting int
	bytes   int
}

// lane is the queue of one plugin.
type lane struct {
	running int
	waiting int
	bytes   int
	// turns holds a *turn for each session that waits, the next one first;
	// bySession finds them.
	turns     *list.List
	bySession map[string]*turn
}

// turn is what one session waits for.
type turn struct {
	session string
	places  *list.List // of *place
	bytes   int
	at      *list.Element // in lane.turns
}

// place is a call's place in the queue.
type place struct {
	lane  *lane
	bytes int
	// ready is closed when the call may run, or when it has been refused.
	ready chan struct{}
	// granted, refused, turn and at are guarded by queue.mu; turn and at are
	// where the place stands while it waits.
	granted bool
	refused *wire.CallError
	turn    *turn
	at      *list.Element
}

func newQueue(l queueLimits) *queue {
	return &queue{limits: l, lanes: map[string]*lane{}}
}

// enter takes a place for a call of plugin with so many bytes of arguments. It
// returns rate_limited if there is no room for it. A place must be left exactly
// once.
func (q *queue) enter(plugin, session string, bytes int) (*place, *wire.CallError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[plugin]
	if l == nil {
		l = &lane{turns: list.New(), bySession: map[string]*turn{}}
		q.lanes[plugin] = l
	}
	p := &place{lane: l, bytes: bytes, ready: make(chan struct{})}
	if l.running < q.limits.running {
		l.running++
		p.grant()
		return p, nil
	}
	if err := q.makeRoom(l, session, bytes); err != nil {
		return nil, err
	}
	l.add(p, session)
	return p, nil
}

// makeRoom refuses calls until one more fits, or returns the error for that
// one. The caller holds mu.
func (q *queue) makeRoom(l *lane, session string, bytes int) *wire.CallError {
	for l.waiting >= q.limits.waiting {
		most := l.most(func(t *turn) int { return t.places.Len() })
		refused := &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"%d calls of this plugin wait already, as many as may (--max-waiting), and most of them are this client's", l.waiting)}
		if t := l.bySession[session]; most == nil || t != nil && t.places.Len() >= most.places.Len() {
			return refused
		}
		most.refuseLast(refused)
	}
	for l.bytes+bytes > q.limits.bytes {
		most := l.most(func(t *turn) int { return t.bytes })
		refused := &wire.CallError{Code: wire.ErrRateLimited, Message: fmt.Sprintf(
			"the arguments of the calls of this plugin that wait already are %d bytes long, of at most %d, and most of them are this client's",
			l.bytes, q.limits.bytes)}
		own := bytes
		if t := l.bySession[session]; t != nil {
			own += t.bytes
		}
		if most == nil || own > most.bytes {
			return refused
		}
		most.refuseLast(refused)
	}
	return nil
}

// leave gives the place up, whether its call ran, still waited, or was refused.
func (q *queue) leave(plugin string, p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := p.lane
	if !p.granted {
		if p.refused == nil {
			l.remove(p)
		}
		return
	}
	l.running--
	for l.running < q.limits.running && l.waiting > 0 {
		l.running++
		l.next().grant()
	}
	if l.running == 0 {
		delete(q.lanes, plugin)
	}
}

// refusal is why a place that is ready may not run; nil if it may.
func (q *queue) refusal(p *place) *wire.CallError {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.refused
}

func (p *place) grant() {
	p.granted = true
	close(p.ready)
}

// add lets p wait behind the others of its session.
func (l *lane) add(p *place, session string) {
	t := l.bySession[session]
	if t == nil {
		t = &turn{session: session, places: list.New()}
		t.at = l.turns.PushBack(t)
		l.bySession[session] = t
	}
	p.turn = t
	p.at = t.places.PushBack(p)
	l.waiting++
	l.bytes += p.bytes
	t.bytes += p.bytes
}

// most returns the turn with the most of something, nil if none has any.
func (l *lane) most(of func(*turn) int) *turn {
	var most *turn
	for _, t := range l.bySession {
		if of(t) > 0 && (most == nil || of(t) > of(most)) {
			most = t
		}
	}
	return most
}

// refuseLast refuses the call that came last.
func (t *turn) refuseLast(why *wire.CallError) {
	p := t.places.Back().Value.(*place)
	p.lane.remove(p)
	p.refused = why
	close(p.ready)
}

// next takes the first place of the first turn and moves that turn to the end.
func (l *lane) next() *place {
	t := l.turns.Front().Value.(*turn)
	p := t.places.Front().Value.(*place)
	l.remove(p)
	if t.places.Len() > 0 {
		l.turns.MoveToBack(t.at)
	}
	return p
}

// remove takes a place that still waits out of the queue.
func (l *lane) remove(p *place) {
	t := p.turn
	t.places.Remove(p.at)
	l.waiting--
	l.bytes -= p.bytes
	t.bytes -= p.bytes
	if t.places.Len() == 0 {
		l.turns.Remove(t.at)
		delete(l.bySession, t.session)
	}
}
