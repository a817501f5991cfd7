package mcpserver

import (
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// listenerNotes is how many notifications of mcp-go may wait for the writer.
// They are all list_changed, so a client that misses one has had another.
const listenerNotes = 64

// listener is a stdio session as mcp-go knows it. It is safe for concurrent
// use.
type listener struct {
	id    string
	notes chan mcp.JSONRPCNotification

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
}

var (
	_ server.SessionWithClientInfo         = (*listener)(nil)
	_ server.SessionWithSubscriptionFilter = (*listener)(nil)
)

func newListener(id string) *listener {
	return &listener{id: id, notes: make(chan mcp.JSONRPCNotification, listenerNotes)}
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
