package dispatch

import (
	"container/list"
	"sync"
)

// queue lets a bounded number of calls of each plugin run at once. The others
// wait; when a place is free, the sessions that wait take turns, and within a
// session the first that came goes first.
type queue struct {
	maxRunning int
	maxWaiting int

	mu    sync.Mutex // guards lanes and everything in them
	lanes map[string]*lane
}

// lane is the queue of one plugin.
type lane struct {
	running int
	waiting int
	// turns holds a *turn for each session that waits, the next one first.
	turns *list.List
}

// turn is what one session waits for.
type turn struct {
	session string
	places  *list.List    // of *place
	at      *list.Element // in lane.turns
}

// place is a call's place in the queue.
type place struct {
	lane *lane
	// ready is closed when the call may run.
	ready chan struct{}
	// granted, turn and at are guarded by queue.mu; turn and at are where the
	// place stands while it waits.
	granted bool
	turn    *turn
	at      *list.Element
}

func newQueue(maxRunning, maxWaiting int) *queue {
	return &queue{maxRunning: maxRunning, maxWaiting: maxWaiting, lanes: map[string]*lane{}}
}

// enter takes a place for a call of plugin. It reports false if as many calls
// wait already as may. A place must be left exactly once.
func (q *queue) enter(plugin, session string) (*place, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[plugin]
	if l == nil {
		l = &lane{turns: list.New()}
		q.lanes[plugin] = l
	}
	p := &place{lane: l, ready: make(chan struct{})}
	if l.running < q.maxRunning {
		l.running++
		p.grant()
		return p, true
	}
	if l.waiting >= q.maxWaiting {
		return nil, false
	}
	l.waiting++
	p.turn = l.turnOf(session)
	p.at = p.turn.places.PushBack(p)
	return p, true
}

// leave gives the place up, whether its call ran or still waited.
func (q *queue) leave(plugin string, p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := p.lane
	if !p.granted {
		l.remove(p)
		return
	}
	l.running--
	for l.running < q.maxRunning && l.waiting > 0 {
		l.running++
		l.next().grant()
	}
	if l.running == 0 {
		delete(q.lanes, plugin)
	}
}

func (p *place) grant() {
	p.granted = true
	close(p.ready)
}

// turnOf returns the session's turn, a new one at the end if it has none.
func (l *lane) turnOf(session string) *turn {
	for e := l.turns.Front(); e != nil; e = e.Next() {
		if t := e.Value.(*turn); t.session == session {
			return t
		}
	}
	t := &turn{session: session, places: list.New()}
	t.at = l.turns.PushBack(t)
	return t
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
	p.turn.places.Remove(p.at)
	l.waiting--
	if p.turn.places.Len() == 0 {
		l.turns.Remove(p.turn.at)
	}
}
