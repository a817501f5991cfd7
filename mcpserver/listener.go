package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// listenerNotes is how many notifications of mcp-go may wait for the writer.
// All but the first are list_changed, so a client that misses one has had
// another.
const listenerNotes = 64

// listener is a session as mcp-go knows it. It is safe for concurrent use.
type listener struct {
	id    string
	notes chan mcp.JSONRPCNotification
	// watch takes subscriptions to resources; nil if there are no resources.
	watch *watch
	// news holds a token when a resource has changed or something was logged.
	news chan struct{}

	mu          sync.Mutex // guards all below
	initialized bool
	info        mcp.Implementation
	caps        mcp.ClientCapabilities
	// modern is set once a client of protocol version 2026-07-28 or later has
	// spoken. It hears nothing but what filter lets through, and every
	// notification names its subscription.
	modern       bool
	filter       mcp.SubscriptionFilter
	subscription json.RawMessage
	// confirmed is set once a modern client was told what it listens to, which
	// has to come first.
	confirmed bool
	// uris are the resources the client subscribed to; the value is set if it has
	// to be told that it has changed.
	uris map[string]bool
	// level is the least level of log messages, empty if the client set none; logs
	// are those that wait for it.
	level mcp.LoggingLevel
	logs  []mcp.JSONRPCNotification
}

var (
	_ server.SessionWithClientInfo               = (*listener)(nil)
	_ server.SessionWithSubscriptionFilter       = (*listener)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*listener)(nil)
	_ server.SessionWithLogging                  = (*listener)(nil)
)

func newListener(id string, w *watch) *listener {
	return &listener{
		id: id, watch: w, notes: make(chan mcp.JSONRPCNotification, listenerNotes), news: make(chan struct{}, 1),
		uris: map[string]bool{},
	}
}

// speaksModern notes that the client sent m without an initialize before it.
func (l *listener) speaksModern(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.modern = true
	if m.Method == methodListen {
		l.subscription = m.ID
	}
}

// tag makes a notification ready to send.
func (l *listener) tag(n mcp.JSONRPCNotification) mcp.JSONRPCNotification {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		l.confirmed = true
		l.wake() // what has changed meanwhile follows
	}
	if !l.modern || l.subscription == nil {
		return n
	}
	meta := map[string]any{} // a broadcast shares its map with other sessions
	for k, v := range n.Params.Meta {
		meta[k] = v
	}
	meta[mcp.MetaKeySubscriptionID] = l.subscription
	n.Params.Meta = meta
	return n
}

// Initialize implements server.ClientSession.
func (l *listener) Initialize() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.initialized = true
}

// Initialized implements server.ClientSession.
func (l *listener) Initialized() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.initialized
}

// NotificationChannel implements server.ClientSession.
func (l *listener) NotificationChannel() chan<- mcp.JSONRPCNotification { return l.notes }

// SessionID implements server.ClientSession.
func (l *listener) SessionID() string { return l.id }

// GetClientInfo implements server.SessionWithClientInfo.
func (l *listener) GetClientInfo() mcp.Implementation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.info
}

// SetClientInfo implements server.SessionWithClientInfo.
func (l *listener) SetClientInfo(info mcp.Implementation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info = info
}

// GetClientCapabilities implements server.SessionWithClientInfo.
func (l *listener) GetClientCapabilities() mcp.ClientCapabilities {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.caps
}

// SetClientCapabilities implements server.SessionWithClientInfo.
func (l *listener) SetClientCapabilities(caps mcp.ClientCapabilities) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.caps = caps
}

// SetSubscriptionFilter implements server.SessionWithSubscriptionFilter.
func (l *listener) SetSubscriptionFilter(f mcp.SubscriptionFilter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filter = f
}

// SubscriptionFilter implements server.SessionWithSubscriptionFilter.
func (l *listener) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.filter, l.modern
}

// next waits for what the client is to be told and returns it, ready to send. It
// may return nothing, and does once ctx has ended.
func (l *listener) next(ctx context.Context) []mcp.JSONRPCNotification {
	select {
	case n := <-l.notes:
		return []mcp.JSONRPCNotification{l.tag(n)}
	case <-l.news:
		return l.updates()
	case <-ctx.Done():
		return nil
	}
}

// updates returns the notifications of resources that have changed and of what
// was logged, ready to send, and forgets them. A client that is slow gets one for
// many changes.
func (l *listener) updates() []mcp.JSONRPCNotification {
	l.mu.Lock()
	var changed []string
	if !l.modern || l.confirmed {
		for uri, is := range l.uris {
			if is {
				changed = append(changed, uri)
				l.uris[uri] = false
			}
		}
	}
	logs := l.logs
	l.logs = nil
	l.mu.Unlock()
	slices.Sort(changed)
	notes := make([]mcp.JSONRPCNotification, 0, len(changed))
	for _, uri := range changed {
		n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
		n.Method = mcp.MethodNotificationResourceUpdated
		n.Params.AdditionalFields = map[string]any{"uri": uri}
		notes = append(notes, l.tag(n))
	}
	return append(notes, logs...)
}

// updated notes that a resource has changed. It never blocks.
func (l *listener) updated(uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.uris[uri]; ok {
		l.uris[uri] = true
		l.wake()
	}
}

// wake has the client's notifications written.
func (l *listener) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// subscribed notes that a subscription began or ended.
func (l *listener) subscribed(uri string, begun bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if begun {
		l.uris[uri] = false
	} else {
		delete(l.uris, uri)
	}
}

// subscriptions counts the resources the client subscribed to.
func (l *listener) subscriptions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.uris)
}

// SubscribeToResourceErr implements server.SessionWithResourceSubscriptionsErr.
func (l *listener) SubscribeToResourceErr(uri string) error {
	if l.watch == nil {
		return noResource(uri)
	}
	return l.watch.subscribe(l, uri)
}

// SubscribeToResource implements server.SessionWithResourceSubscriptions, which
// mcp-go does not use beside SubscribeToResourceErr.
func (l *listener) SubscribeToResource(uri string) { _ = l.SubscribeToResourceErr(uri) }

// UnsubscribeFromResource implements server.SessionWithResourceSubscriptions.
func (l *listener) UnsubscribeFromResource(uri string) {
	if l.watch != nil {
		l.watch.unsubscribe(l, uri)
	}
}

// SubscribedResources implements server.SessionWithResourceSubscriptions.
func (l *listener) SubscribedResources() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.uris))
}

// IsSubscribedToResource implements server.SessionWithResourceSubscriptions.
func (l *listener) IsSubscribedToResource(uri string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.uris[uri]
	return ok
}
