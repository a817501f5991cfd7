package transport

import (
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Subscriber is a client that can subscribe to resources. A Subscriber is safe for
// concurrent use.
type Subscriber struct {
	updateSignal coalescingSignal // updateSignal is set when a resource has changed

	mu             sync.Mutex      // the mutex guards the field subscribedURIs
	subscribedURIs map[string]bool // subscribedURIs are the client's subscriptions; true if a notification is pending
}

// NewSubscriber returns a Subscriber that adds a token to updateSignal when a resource
// has changed. The channel updateSignal must have capacity 1.
func NewSubscriber(updateSignal chan struct{}) *Subscriber {
	return &Subscriber{updateSignal: updateSignal, subscribedURIs: map[string]bool{}}
}

// RecordChange records that a resource has changed, without blocking.
func (s *Subscriber) RecordChange(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.subscribedURIs[uri]; ok {
		s.subscribedURIs[uri] = true
		s.updateSignal.set()
	}
}

// RecordSubscription records that the client's subscription to a resource began or ended.
func (s *Subscriber) RecordSubscription(uri string, isSubscribed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isSubscribed {
		s.subscribedURIs[uri] = false
	} else {
		delete(s.subscribedURIs, uri)
	}
}

// CountSubscriptions returns the number of the client's subscriptions.
func (s *Subscriber) CountSubscriptions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subscribedURIs)
}

// PopChangedURIs returns the sorted URIs of changed resources, and marks their notifications
// as sent. A slow client gets one notification for many changes of a resource.
func (s *Subscriber) PopChangedURIs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changedURIs []string
	for uri, isPending := range s.subscribedURIs {
		if isPending {
			changedURIs = append(changedURIs, uri)
			s.subscribedURIs[uri] = false
		}
	}
	slices.Sort(changedURIs)
	return changedURIs
}

// SubscribedResources returns the sorted URIs of the client's subscriptions.
func (s *Subscriber) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.subscribedURIs))
}

func (s *Subscriber) isSubscribed(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.subscribedURIs[uri]
	return ok
}

// coalescingSignal is a channel of capacity 1 that signals an update.
type coalescingSignal chan struct{}

// The method set never blocks, and does nothing if the signal already contains a token.
func (s coalescingSignal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// maxPendingLogs is the maximum number of log messages that are queued for one client.
const maxPendingLogs = 100

var logLevels = []mcp.LoggingLevel{
	mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning, mcp.LoggingLevelError,
	mcp.LoggingLevelCritical, mcp.LoggingLevelAlert, mcp.LoggingLevelEmergency,
}

const defaultLogLevel = mcp.LoggingLevelInfo

// logQueue contains the log messages that are queued for one client. The methods of
// logQueue are safe for concurrent use.
type logQueue struct {
	updateSignal coalescingSignal

	mu          sync.Mutex // the mutex guards all fields below
	level       mcp.LoggingLevel
	pendingLogs []mcp.JSONRPCNotification
}

// The method push queues a log message without blocking, unless the message's level is
// below the client's log level.
func (q *logQueue) push(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.Index(logLevels, level) < slices.Index(logLevels, q.level) {
		return
	}
	if len(q.pendingLogs) == maxPendingLogs {
		q.pendingLogs = slices.Delete(q.pendingLogs, 0, 1)
	}
	q.pendingLogs = append(q.pendingLogs, n)
	q.updateSignal.set()
}

func (q *logQueue) popAllLogs() []mcp.JSONRPCNotification {
	q.mu.Lock()
	defer q.mu.Unlock()
	logs := q.pendingLogs
	q.pendingLogs = nil
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
