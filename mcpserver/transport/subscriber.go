package transport

import (
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Subscriber is a client that can subscribe to resources. Subscriber is safe for
// concurrent use.
type Subscriber struct {
	news signal // set when a resource has changed

	mu   sync.Mutex      // guards uris
	uris map[string]bool // the client's subscriptions; true if a notification is pending
}

// NewSubscriber returns a Subscriber. NewSubscriber adds a token to news, which has
// room for one, when a resource has changed.
func NewSubscriber(news chan struct{}) *Subscriber {
	return &Subscriber{news: news, uris: map[string]bool{}}
}

// Changed notes that a resource has changed. Changed never blocks.
func (s *Subscriber) Changed(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.uris[uri]; ok {
		s.uris[uri] = true
		s.news.set()
	}
}

// Record notes that a subscription began or ended.
func (s *Subscriber) Record(uri string, subscribed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if subscribed {
		s.uris[uri] = false
	} else {
		delete(s.uris, uri)
	}
}

// Count returns the number of the client's subscriptions.
func (s *Subscriber) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uris)
}

// PopChanged returns the resources with a pending notification, sorted, and clears
// their marks. A slow client gets one notification for many changes.
func (s *Subscriber) PopChanged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed []string
	for uri, isPending := range s.uris {
		if isPending {
			changed = append(changed, uri)
			s.uris[uri] = false
		}
	}
	slices.Sort(changed)
	return changed
}

// SubscribedResources returns the URIs of the client's subscriptions, sorted.
func (s *Subscriber) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.uris))
}

// isSubscribed reports whether the client has subscribed to a resource.
func (s *Subscriber) isSubscribed(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.uris[uri]
	return ok
}

// signal is a channel with room for one token.
type signal chan struct{}

// set adds a token unless there is one. set never blocks.
func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// maxPendingLogs is the most log messages that wait for one client. The oldest are
// dropped.
const maxPendingLogs = 100

// logLevels are the log levels of MCP, the least important first.
var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning, mcp.LoggingLevelError,
	mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

// defaultLogLevel is the level of a client that has set none.
const defaultLogLevel = mcp.LoggingLevelInfo

// logQueue contains the log messages that wait for one client. logQueue is safe for
// concurrent use.
type logQueue struct {
	news signal

	mu      sync.Mutex // guards all fields below
	level   mcp.LoggingLevel
	pending []mcp.JSONRPCNotification
}

// push adds a message if the client wants its level. push never blocks.
func (q *logQueue) push(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.Index(logLevels, level) < slices.Index(logLevels, q.level) {
		return
	}
	if len(q.pending) == maxPendingLogs {
		q.pending = slices.Delete(q.pending, 0, 1)
	}
	q.pending = append(q.pending, n)
	q.news.set()
}

// popAll returns the waiting messages and removes them.
func (q *logQueue) popAll() []mcp.JSONRPCNotification {
	q.mu.Lock()
	defer q.mu.Unlock()
	logs := q.pending
	q.pending = nil
	return logs
}

// SetLogLevel implements server.SessionWithLogging.
func (q *logQueue) SetLogLevel(level mcp.LoggingLevel) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.level = level
}

// GetLogLevel implements server.SessionWithLogging.
func (q *logQueue) GetLogLevel() mcp.LoggingLevel {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.level
}
