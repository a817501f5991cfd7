package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/filestore"
	"opentabs/mcpserver/transport"
)

// minUpdateInterval is the minimum time between two notifications about one resource.
const minUpdateInterval = 500 * time.Millisecond

const (
	maxSubscriptions    = 256
	maxAllSubscriptions = 10_000
)

var (
	errTooManySubscriptions = errors.New("there are too many subscriptions to resources; end some of them first (resources/unsubscribe)")
	errServerStopping       = errors.New("opentabs is stopping; restart it, then subscribe")
)

// The type resources offers calls as MCP resources. Subscribers are notified of a changed
// resource at once, then at most once per minUpdateInterval, and always once after the last
// change. The memory use of resources grows with subscriptions, not calls. The type
// resources is safe for concurrent use.
type resources struct {
	calls Watcher
	files *filestore.Store // the field files is nil if the server stores no files

	mu                sync.Mutex // the mutex guards all fields below; locked before the subscribers' mutexes
	subscribedByURI   map[string]*subscribedResource
	subscriptionCount int
	subscription      *dispatch.Subscriber // the field subscription is nil while there is no subscription
	isClosed          bool
	eventReaderGroup  sync.WaitGroup
}

// subscribedResource is one resource that has subscribers.
type subscribedResource struct {
	subscribers  map[*transport.Subscriber]struct{}
	lastNotified time.Time
	pendingTimer *time.Timer // pendingTimer is nil if no notification is pending
}

var _ transport.Resources = (*resources)(nil)

func newResources(calls Watcher, files *filestore.Store) *resources {
	return &resources{calls: calls, files: files, subscribedByURI: map[string]*subscribedResource{}}
}

// The method Subscribe implements transport.Resources.
func (r *resources) Subscribe(s *transport.Subscriber, uri string) error {
	if id, ok := callIDFromURI(uri); ok {
		_, ok = r.calls.Find(id)
		if !ok {
			return unknownResource(uri)
		}
	} else if uri != callsURI {
		return unknownResource(uri)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	resource := r.subscribedByURI[uri]
	if resource != nil {
		if _, ok := resource.subscribers[s]; ok {
			return nil
		}
	}
	switch {
	case r.isClosed:
		return errServerStopping
	case r.subscriptionCount >= maxAllSubscriptions || s.CountSubscriptions() >= maxSubscriptions:
		return errTooManySubscriptions
	}
	if resource == nil {
		resource = &subscribedResource{subscribers: map[*transport.Subscriber]struct{}{}}
		r.subscribedByURI[uri] = resource
	}
	resource.subscribers[s] = struct{}{}
	s.RecordSubscription(uri, true)
	r.subscriptionCount++
	if r.subscription == nil {
		subscription := r.calls.Subscribe(dispatch.SubscribeOptions{})
		r.subscription = subscription
		r.eventReaderGroup.Go(func() { r.readEvents(subscription) })
	}
	return nil
}

// The method Unsubscribe implements transport.Resources.
func (r *resources) Unsubscribe(s *transport.Subscriber, uri string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeSubscription(s, uri)
}

// The method Drop implements transport.Resources.
func (r *resources) Drop(s *transport.Subscriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uri := range s.SubscribedResources() {
		r.removeSubscription(s, uri)
	}
}

// The caller of removeSubscription holds resources.mu.
func (r *resources) removeSubscription(s *transport.Subscriber, uri string) {
	resource, ok := r.subscribedByURI[uri]
	if !ok {
		return
	}
	if _, ok := resource.subscribers[s]; !ok {
		return
	}
	delete(resource.subscribers, s)
	s.RecordSubscription(uri, false)
	r.subscriptionCount--
	if len(resource.subscribers) == 0 {
		if resource.pendingTimer != nil {
			resource.pendingTimer.Stop()
		}
		delete(r.subscribedByURI, uri)
	}
	if r.subscriptionCount == 0 {
		r.unsubscribe()
	}
}

// The caller of unsubscribe holds resources.mu.
func (r *resources) unsubscribe() {
	if r.subscription != nil {
		r.subscription.Close()
		r.subscription = nil
	}
}

func (r *resources) close() {
	r.mu.Lock()
	r.isClosed = true
	r.unsubscribe()
	for _, resource := range r.subscribedByURI {
		if resource.pendingTimer != nil {
			resource.pendingTimer.Stop()
		}
	}
	r.mu.Unlock()
	r.eventReaderGroup.Wait()
}

func (r *resources) readEvents(f *dispatch.Subscriber) {
	for {
		events, missedCount, err := f.Next(context.Background())
		if err != nil {
			return
		}
		r.notifyEvents(events, missedCount > 0)
	}
}

func (r *resources) notifyEvents(events []*dispatch.Event, hasMissedEvents bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hasMissedEvents {
		for _, uri := range slices.Collect(maps.Keys(r.subscribedByURI)) {
			r.notifyChange(uri)
		}
		return
	}
	for i := range events {
		r.notifyChange(callsURI + "/" + events[i].Call.CallID)
		// The resource with the list of calls changes when a call's state changes, but
		// not with each progress report or activity.
		if kind := events[i].Kind; kind != dispatch.EventProgress && kind != dispatch.EventActivity {
			r.notifyChange(callsURI)
		}
	}
}

// notifyChange notifies subscribers at once or when the current minUpdateInterval ends. The caller of notifyChange
// holds resources.mu.
func (r *resources) notifyChange(uri string) {
	resource, ok := r.subscribedByURI[uri]
	if !ok || resource.pendingTimer != nil || r.isClosed {
		return
	}
	if waitTime := minUpdateInterval - time.Since(resource.lastNotified); waitTime > 0 {
		resource.pendingTimer = time.AfterFunc(waitTime, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.subscribedByURI[uri] == resource {
				resource.notifySubscribers(uri)
			}
		})
		return
	}
	resource.notifySubscribers(uri)
}

// The caller of notifySubscribers holds resources.mu.
func (resource *subscribedResource) notifySubscribers(uri string) {
	resource.lastNotified, resource.pendingTimer = time.Now(), nil
	for s := range resource.subscribers {
		s.RecordChange(uri)
	}
}
