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

// maxPendingNotifications limits list_changed notifications; dropping some is harmless, because clients need only one
// of each kind.
const maxPendingNotifications = 64

var errNoResources = errors.New("there are no resources here; call tools instead")

// The type listener is one session in the form that the library mcp-go requires. A
// listener stores the notifications for the client: changed lists, changed resources and
// log messages. A listener is safe for concurrent use.
type listener struct {
	*Subscriber
	logQueue
	resources          Resources // the field resources is nil if the server has no resources
	id                 string
	mcpGoNotifications chan mcp.JSONRPCNotification
	updateSignal       coalescingSignal // updateSignal is set when a resource changed or a message was logged

	mu            sync.Mutex // the mutex guards all fields below
	isInitialized bool
	clientInfo    mcp.Implementation
	capabilities  mcp.ClientCapabilities
	// isModern is set after the first message of protocol version 2026-07-28 or later.
	isModern       bool
	filter         mcp.SubscriptionFilter
	subscriptionID json.RawMessage
	// isConfirmed is true after the server has confirmed the subscriptions to a client of protocol
	// version 2026-07-28. The confirmation must precede every notification.
	isConfirmed bool
}

var (
	_ server.SessionWithClientInfo               = (*listener)(nil)
	_ server.SessionWithSubscriptionFilter       = (*listener)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*listener)(nil)
	_ server.SessionWithLogging                  = (*listener)(nil)
)

func newListener(id string, resources Resources) *listener {
	updateSignal := make(coalescingSignal, 1)
	return &listener{
		Subscriber: NewSubscriber(updateSignal),
		logQueue:   logQueue{updateSignal: updateSignal, level: defaultLogLevel},
		resources:  resources, id: id, mcpGoNotifications: make(chan mcp.JSONRPCNotification, maxPendingNotifications), updateSignal: updateSignal,
	}
}

func (l *listener) setModernProtocol(m rpcMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isModern = true
	if m.Method == methodListen {
		l.subscriptionID = m.ID
	}
}

// Protocol version 2026-07-28 has no log messages outside of requests, so queueLog drops them.
func (l *listener) queueLog(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	l.mu.Lock()
	receivesLogs := l.isInitialized && !l.isModern
	l.mu.Unlock()
	if receivesLogs {
		l.push(level, n)
	}
}

func (l *listener) addSubscriptionID(n mcp.JSONRPCNotification) mcp.JSONRPCNotification {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		l.isConfirmed = true
		l.updateSignal.set() // a resource may change before the acknowledgement of the subscription is sent
	}
	if !l.isModern || l.subscriptionID == nil {
		return n
	}
	meta := map[string]any{} // the variable meta is a copy, because a broadcast shares its map with other sessions
	maps.Copy(meta, n.Params.Meta)
	meta[mcp.MetaKeySubscriptionID] = l.subscriptionID
	n.Params.Meta = meta
	return n
}

func (l *listener) awaitNotifications(ctx context.Context) []mcp.JSONRPCNotification {
	select {
	case n := <-l.mcpGoNotifications:
		return []mcp.JSONRPCNotification{l.addSubscriptionID(n)}
	case <-l.updateSignal:
		return l.popUpdates()
	case <-ctx.Done():
		return nil
	}
}

func (l *listener) popUpdates() []mcp.JSONRPCNotification {
	l.mu.Lock()
	canNotify := !l.isModern || l.isConfirmed
	l.mu.Unlock()
	var notifications []mcp.JSONRPCNotification
	if canNotify {
		for _, uri := range l.PopChangedURIs() {
			n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
			n.Method = mcp.MethodNotificationResourceUpdated
			n.Params.AdditionalFields = map[string]any{"uri": uri}
			notifications = append(notifications, l.addSubscriptionID(n))
		}
	}
	return append(notifications, l.popAllLogs()...)
}

// The method Initialize implements server.ClientSession.
func (l *listener) Initialize() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isInitialized = true
}

// The method Initialized implements server.ClientSession.
func (l *listener) Initialized() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isInitialized
}

// NotificationChannel implements server.ClientSession.
func (l *listener) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return l.mcpGoNotifications
}

// SessionID implements server.ClientSession.
func (l *listener) SessionID() string { return l.id }

// GetClientInfo implements server.SessionWithClientInfo.
func (l *listener) GetClientInfo() mcp.Implementation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clientInfo
}

// SetClientInfo implements server.SessionWithClientInfo.
func (l *listener) SetClientInfo(info mcp.Implementation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clientInfo = info
}

// GetClientCapabilities implements server.SessionWithClientInfo.
func (l *listener) GetClientCapabilities() mcp.ClientCapabilities {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.capabilities
}

// SetClientCapabilities implements server.SessionWithClientInfo.
func (l *listener) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.capabilities = capabilities
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
	return l.filter, l.isModern
}

// SubscribeToResourceErr implements server.SessionWithResourceSubscriptionsErr.
func (l *listener) SubscribeToResourceErr(uri string) error {
	if l.resources == nil {
		return errNoResources
	}
	return l.resources.Subscribe(l.Subscriber, uri)
}

// SubscribeToResource implements server.SessionWithResourceSubscriptions, but is never
// called: mcp-go calls SubscribeToResourceErr.
func (l *listener) SubscribeToResource(uri string) { _ = l.SubscribeToResourceErr(uri) }

// UnsubscribeFromResource implements server.SessionWithResourceSubscriptions.
func (l *listener) UnsubscribeFromResource(uri string) {
	if l.resources != nil {
		l.resources.Unsubscribe(l.Subscriber, uri)
	}
}

// IsSubscribedToResource implements server.SessionWithResourceSubscriptions.
func (l *listener) IsSubscribedToResource(uri string) bool { return l.isSubscribed(uri) }
