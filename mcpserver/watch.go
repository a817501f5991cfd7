package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
)

// updateInterval is the least time between two notifications of one resource.
const updateInterval = 500 * time.Millisecond

// How many subscriptions to resources one session may have, and all together.
const (
	maxSubscriptions    = 256
	maxAllSubscriptions = 10_000
)

var (
	errTooManySubscriptions = errors.New("there are too many subscriptions to resources; end some of them first (resources/unsubscribe)")
	errNoResources          = errors.New("opentabs is stopping; start it again, then subscribe")
)

// watch tells sessions when a resource that they subscribed to has changed: at
// once, then at most once in updateInterval, and always once after the last
// change. It is safe for concurrent use. What it holds grows with the
// subscriptions, never with the calls.
type watch struct {
	calls Watcher

	mu       sync.Mutex // guards all below; taken before listener.mu
	watched  map[string]*watched
	count    int                // subscriptions
	follower *dispatch.Follower // there while there is a subscription
	closed   bool
	pumps    sync.WaitGroup
}

// watched is one resource that somebody subscribed to.
type watched struct {
	listeners map[*listener]struct{}
	told      time.Time
	later     *time.Timer // nil if nothing is to be told
}

func newWatch(calls Watcher) *watch {
	return &watch{calls: calls, watched: map[string]*watched{}}
}

// subscribe has l told of changes of a resource. The error is for its client.
func (w *watch) subscribe(l *listener, uri string) error {
	if id, ok := callOf(uri); ok {
		_, ok = w.calls.Find(id)
		if !ok {
			return noResource(uri)
		}
	} else if uri != callsURI {
		return noResource(uri)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.watched[uri]
	if r != nil {
		if _, ok := r.listeners[l]; ok {
			return nil
		}
	}
	switch {
	case w.closed:
		return errNoResources
	case w.count >= maxAllSubscriptions || l.subscriptions() >= maxSubscriptions:
		return errTooManySubscriptions
	}
	if r == nil {
		r = &watched{listeners: map[*listener]struct{}{}}
		w.watched[uri] = r
	}
	r.listeners[l] = struct{}{}
	l.subscribed(uri, true)
	w.count++
	if w.follower == nil {
		follower := w.calls.Follow(dispatch.FollowOptions{})
		w.follower = follower
		w.pumps.Go(func() { w.pump(follower) })
	}
	return nil
}

// unsubscribe ends a subscription, if there is one.
func (w *watch) unsubscribe(l *listener, uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave(l, uri)
}

// drop ends all subscriptions of l.
func (w *watch) drop(l *listener) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uri := range l.SubscribedResources() {
		w.leave(l, uri)
	}
}

// leave is unsubscribe for a caller that holds mu.
func (w *watch) leave(l *listener, uri string) {
	r, ok := w.watched[uri]
	if !ok {
		return
	}
	if _, ok := r.listeners[l]; !ok {
		return
	}
	delete(r.listeners, l)
	l.subscribed(uri, false)
	w.count--
	if len(r.listeners) == 0 {
		if r.later != nil {
			r.later.Stop()
		}
		delete(w.watched, uri)
	}
	if w.count == 0 {
		w.rest()
	}
}

// rest stops following. The caller holds mu.
func (w *watch) rest() {
	if w.follower != nil {
		w.follower.Close()
		w.follower = nil
	}
}

// close ends it for good and waits for its goroutines.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.rest()
	for _, r := range w.watched {
		if r.later != nil {
			r.later.Stop()
		}
	}
	w.mu.Unlock()
	w.pumps.Wait()
}

// pump reads events until the follower is closed.
func (w *watch) pump(f *dispatch.Follower) {
	for {
		events, missed, err := f.Next(context.Background())
		if err != nil {
			return
		}
		w.take(events, missed > 0)
	}
}

// take notes what has changed; missed is set if there were other events too.
func (w *watch) take(events []*dispatch.Event, missed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if missed {
		for _, uri := range slices.Collect(maps.Keys(w.watched)) {
			w.changed(uri)
		}
		return
	}
	for i := range events {
		w.changed(callsURI + "/" + events[i].Call.CallID)
		// The list is told of each call's beginning and end, not of each report.
		if kind := events[i].Kind; kind != dispatch.EventProgress && kind != dispatch.EventActivity {
			w.changed(callsURI)
		}
	}
}

// changed tells of a resource now, or when its time has come. The caller holds
// mu.
func (w *watch) changed(uri string) {
	r, ok := w.watched[uri]
	if !ok || r.later != nil || w.closed {
		return
	}
	if wait := updateInterval - time.Since(r.told); wait > 0 {
		r.later = time.AfterFunc(wait, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.watched[uri] == r {
				r.tell(uri)
			}
		})
		return
	}
	r.tell(uri)
}

// tell tells all listeners. The caller holds mu.
func (r *watched) tell(uri string) {
	r.told, r.later = time.Now(), nil
	for l := range r.listeners {
		l.updated(uri)
	}
}
