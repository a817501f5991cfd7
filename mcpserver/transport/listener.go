package transport

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// maxPendingNotes is the maximum number of mcp-go's notifications that wait for the
// writer. All notifications but the first are list_changed, so a client that misses a
// notification has received an equal one before.
const maxPendingNotes = 64

// errNoResources rejects a subscription where there are no resources.
var errNoResources = errors.New("there are no resources here; call tools instead")

// listener is a session as mcp-go sees it, and what the client receives without a
// request: changed lists, changed resources and log messages. listener is safe for
// concurrent use.
type listener struct {
	*Subscriber
	logQueue
	resources Resources // nil if there are no resources
	id        string
	notes     chan mcp.JSONRPCNotification // from mcp-go
	news      signal                       // set when a resource changed or a message was logged

	mu          sync.Mutex // guards all fields below
	initialized bool
	info        mcp.Implementation
	caps        mcp.ClientCapabilities
	// modern is set after the first message of protocol version 2026-07-28 or later. A
	// client of these versions receives only the notifications that filter selects, and
	// each notification names its subscription.
	modern       bool
	filter       mcp.SubscriptionFilter
	subscription json.RawMessage
	// confirmed is set after a modern client has received the list of its
	// subscriptions, which has to come first.
	confirmed bool
}

var (
	_ server.SessionWithClientInfo               = (*listener)(nil)
	_ server.SessionWithSubscriptionFilter       = (*listener)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*listener)(nil)
	_ server.SessionWithLogging                  = (*listener)(nil)
)

func newListener(id string, resources Resources) *listener {
	news := make(signal, 1)
	return &listener{
		Subscriber: NewSubscriber(news),
		logQueue:   logQueue{news: news, level: defaultLogLevel},
		resources:  resources, id: id, notes: make(chan mcp.JSONRPCNotification, maxPendingNotes), news: news,
	}
}

// useModern records that the client sent m, a message of protocol version
// 2026-07-28 or later.
func (l *listener) useModern(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.modern = true
	if m.Method == methodListen {
		l.subscription = m.ID
	}
}

// queueLog queues a log message if the client can receive it. Protocol version
// 2026-07-28 has no log messages outside of requests.
func (l *listener) queueLog(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	l.mu.Lock()
	receives := l.initialized && !l.modern
	l.mu.Unlock()
	if receives {
		l.push(level, n)
	}
}

// tagSubscription adds the subscription to a notification if the client expects it.
func (l *listener) tagSubscription(n mcp.JSONRPCNotification) mcp.JSONRPCNotification {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		l.confirmed = true
		l.news.set() // resources may have changed before
	}
	if !l.modern || l.subscription == nil {
		return n
	}
	meta := map[string]any{} // a broadcast shares its map with other sessions
	maps.Copy(meta, n.Params.Meta)
	meta[mcp.MetaKeySubscriptionID] = l.subscription
	n.Params.Meta = meta
	return n
}

// awaitNotifications waits for notifications to the client and returns them. awaitNotifications may return none,
// and does once ctx has ended.
func (l *listener) awaitNotifications(ctx context.Context) []mcp.JSONRPCNotification {
	select {
	case n := <-l.notes:
		return []mcp.JSONRPCNotification{l.tagSubscription(n)}
	case <-l.news:
		return l.popUpdates()
	case <-ctx.Done():
		return nil
	}
}

// popUpdates returns the pending notifications of changed resources and the log
// messages, and removes them.
func (l *listener) popUpdates() []mcp.JSONRPCNotification {
	l.mu.Lock()
	mayNotify := !l.modern || l.confirmed
	l.mu.Unlock()
	var notes []mcp.JSONRPCNotification
	if mayNotify {
		for _, uri := range l.PopChanged() {
			n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
			n.Method = mcp.MethodNotificationResourceUpdated
			n.Params.AdditionalFields = map[string]any{"uri": uri}
			notes = append(notes, l.tagSubscription(n))
		}
	}
	return append(notes, l.popAll()...)
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

// SubscribeToResourceErr implements server.SessionWithResourceSubscriptionsErr.
func (l *listener) SubscribeToResourceErr(uri string) error {
	if l.resources == nil {
		return errNoResources
	}
	return l.resources.Subscribe(l.Subscriber, uri)
}

// SubscribeToResource implements server.SessionWithResourceSubscriptions. mcp-go
// calls SubscribeToResourceErr instead.
func (l *listener) SubscribeToResource(uri string) { _ = l.SubscribeToResourceErr(uri) }

// UnsubscribeFromResource implements server.SessionWithResourceSubscriptions.
func (l *listener) UnsubscribeFromResource(uri string) {
	if l.resources != nil {
		l.resources.Unsubscribe(l.Subscriber, uri)
	}
}

// IsSubscribedToResource implements server.SessionWithResourceSubscriptions.
func (l *listener) IsSubscribedToResource(uri string) bool { return l.isSubscribed(uri) }
