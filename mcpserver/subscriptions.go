package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
)

// updateInterval is the least time between two notifications of one resource.
const updateInterval = 500 * time.Millisecond

// The most subscriptions of one session, and of all together.
const (
	maxSubscriptions    = 256
	maxAllSubscriptions = 10_000
)

var (
	errTooManySubscriptions = errors.New("there are too many subscriptions to resources; end some of them first (resources/unsubscribe)")
	errStopping             = errors.New("opentabs is stopping; restart it, then subscribe")
)

// resources offers calls as resources. resources notifies subscribers when a resource
// has changed: at once, then at most once in updateInterval, and always once after the
// last change. resources is safe for concurrent use. The memory of resources grows with
// the subscriptions, not with the calls.
type resources struct {
	calls Watcher

	mu         sync.Mutex // guards all fields below; locked before the subscribers' mutexes
	subscribed map[string]*subscribedResource
	count      int                // subscriptions
	follower   *dispatch.Follower // nil while there is no subscription
	closed     bool
	readers    sync.WaitGroup
}

// subscribedResource is one resource with subscribers.
type subscribedResource struct {
	subscribers map[*transport.Subscriber]struct{}
	notified    time.Time
	pending     *time.Timer // nil if no notification is pending
}

var _ transport.Resources = (*resources)(nil)

func newResources(calls Watcher) *resources {
	return &resources{calls: calls, subscribed: map[string]*subscribedResource{}}
}

// Subscribe implements transport.Resources.
func (r *resources) Subscribe(s *transport.Subscriber, uri string) error {
	if id, ok := callIDOf(uri); ok {
		_, ok = r.calls.Find(id)
		if !ok {
			return unknownResource(uri)
		}
	} else if uri != callsURI {
		return unknownResource(uri)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.subscribed[uri]
	if one != nil {
		if _, ok := one.subscribers[s]; ok {
			return nil
		}
	}
	switch {
	case r.closed:
		return errStopping
	case r.count >= maxAllSubscriptions || s.Count() >= maxSubscriptions:
		return errTooManySubscriptions
	}
	if one == nil {
		one = &subscribedResource{subscribers: map[*transport.Subscriber]struct{}{}}
		r.subscribed[uri] = one
	}
	one.subscribers[s] = struct{}{}
	s.Record(uri, true)
	r.count++
	if r.follower == nil {
		follower := r.calls.Follow(dispatch.FollowOptions{})
		r.follower = follower
		r.readers.Go(func() { r.readEvents(follower) })
	}
	return nil
}

// Unsubscribe implements transport.Resources.
func (r *resources) Unsubscribe(s *transport.Subscriber, uri string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(s, uri)
}

// Drop implements transport.Resources.
func (r *resources) Drop(s *transport.Subscriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uri := range s.SubscribedResources() {
		r.remove(s, uri)
	}
}

// remove removes a subscription, if it exists. The caller holds mu.
func (r *resources) remove(s *transport.Subscriber, uri string) {
	one, ok := r.subscribed[uri]
	if !ok {
		return
	}
	if _, ok := one.subscribers[s]; !ok {
		return
	}
	delete(one.subscribers, s)
	s.Record(uri, false)
	r.count--
	if len(one.subscribers) == 0 {
		if one.pending != nil {
			one.pending.Stop()
		}
		delete(r.subscribed, uri)
	}
	if r.count == 0 {
		r.stopFollowing()
	}
}

// stopFollowing closes the follower. The caller holds mu.
func (r *resources) stopFollowing() {
	if r.follower != nil {
		r.follower.Close()
		r.follower = nil
	}
}

// close stops all notifications and waits for the goroutines.
func (r *resources) close() {
	r.mu.Lock()
	r.closed = true
	r.stopFollowing()
	for _, one := range r.subscribed {
		if one.pending != nil {
			one.pending.Stop()
		}
	}
	r.mu.Unlock()
	r.readers.Wait()
}

// readEvents reads events until the follower is closed.
func (r *resources) readEvents(f *dispatch.Follower) {
	for {
		events, missed, err := f.Next(context.Background())
		if err != nil {
			return
		}
		r.noteEvents(events, missed > 0)
	}
}

// noteEvents notifies the subscribers of the resources that events changed. After
// missed events, all resources count as changed.
func (r *resources) noteEvents(events []*dispatch.Event, missed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if missed {
		for _, uri := range slices.Collect(maps.Keys(r.subscribed)) {
			r.noteChange(uri)
		}
		return
	}
	for i := range events {
		r.noteChange(callsURI + "/" + events[i].Call.CallID)
		// The list changes with the start and end of a call, not with each report.
		if kind := events[i].Kind; kind != dispatch.EventProgress && kind != dispatch.EventActivity {
			r.noteChange(callsURI)
		}
	}
}

// noteChange notifies the subscribers of a resource at once, or at the end of the
// current updateInterval. The caller holds mu.
func (r *resources) noteChange(uri string) {
	one, ok := r.subscribed[uri]
	if !ok || one.pending != nil || r.closed {
		return
	}
	if wait := updateInterval - time.Since(one.notified); wait > 0 {
		one.pending = time.AfterFunc(wait, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.subscribed[uri] == one {
				one.notify(uri)
			}
		})
		return
	}
	one.notify(uri)
}

// notify notifies all subscribers. The caller holds resources.mu.
func (one *subscribedResource) notify(uri string) {
	one.notified, one.pending = time.Now(), nil
	for s := range one.subscribers {
		s.Changed(uri)
	}
}
