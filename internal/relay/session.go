package relay

import (
	"maps"
	"slices"
)

const (
	// maxRepeatBytes is the size of the longest request that is repeated on the next
	// daemon.
	maxRepeatBytes = 1 << 20
	// maxDaemonRequests is how many open requests of the daemon are stored.
	maxDaemonRequests = 1000
	// maxSubscriptions is how many subscriptions are stored: as many as a daemon
	// accepts in one session.
	maxSubscriptions = 256
)

// sessionState is the state of the client's session: how it was opened, and which
// requests are open. sessionState is not safe for concurrent use.
type sessionState struct {
	// initialize and initialized are the lines that opened the session. Both lines are
	// nil in MCP 2026-07-28, which has no sessions.
	initialize, initialized []byte
	initializeID            string
	// isOpen is set when the daemon has answered initialize.
	isOpen bool
	// subscribedURIs are the URIs that the client has subscribed to.
	subscribedURIs map[string]struct{}
	// openRequests are the client's requests without an answer, oldest first.
	openRequests []openRequest
	// daemonRequests are the ids of the daemon's requests without an answer.
	daemonRequests []string
}

// openRequest is a request without an answer.
type openRequest struct {
	id string
	// line is the request if it can be repeated; nil for a call, which may have taken
	// effect.
	line []byte
}

// replay is what the next daemon receives to continue the session.
type replay struct {
	initialize, initialized []byte
	initializeID            string
	subscribedURIs          []string
	requests                [][]byte
}

func newSessionState() sessionState {
	return sessionState{subscribedURIs: map[string]struct{}{}}
}

// recordSent records a line of the client.
func (s *sessionState) recordSent(m message, line []byte) {
	switch m.method {
	case "initialize":
		if len(m.requests) == 1 {
			s.initialize, s.initializeID, s.isOpen = line, m.requests[0], false
		}
	case "notifications/initialized":
		s.initialized = line
	case "notifications/cancelled":
		s.dropRequest(cancelledID(line)) // a cancelled request gets no answer
	case "resources/subscribe":
		if uri := resourceURI(line); uri != "" && len(s.subscribedURIs) < maxSubscriptions {
			s.subscribedURIs[uri] = struct{}{}
		}
	case "resources/unsubscribe":
		delete(s.subscribedURIs, resourceURI(line))
	}
	for _, id := range m.answers {
		s.dropDaemonRequest(id)
	}
	for _, id := range m.requests {
		r := openRequest{id: id}
		// A batch, which has no method, may contain a call. A prompt runs in the page
		// as a tool does, so prompts/get is not repeated.
		if m.method != "" && m.method != "tools/call" && m.method != "prompts/get" && len(line) <= maxRepeatBytes {
			r.line = line
		}
		s.openRequests = append(s.openRequests, r)
	}
}

// dropSent removes the requests of a line that was not sent.
func (s *sessionState) dropSent(m message) {
	for _, id := range m.requests {
		s.dropRequest(id)
	}
}

// recordReceived records a line of the daemon.
func (s *sessionState) recordReceived(m message, line []byte) {
	for _, id := range m.requests {
		if len(s.daemonRequests) < maxDaemonRequests {
			s.daemonRequests = append(s.daemonRequests, id)
		}
	}
	if m.method == "notifications/cancelled" {
		s.dropDaemonRequest(cancelledID(line))
	}
	for _, id := range m.answers {
		if id == s.initializeID && s.initialize != nil {
			s.isOpen = true
		}
		s.dropRequest(id)
	}
}

func (s *sessionState) dropRequest(id string) {
	s.openRequests = slices.DeleteFunc(s.openRequests, func(r openRequest) bool { return r.id == id })
}

func (s *sessionState) dropDaemonRequest(id string) {
	s.daemonRequests = slices.DeleteFunc(s.daemonRequests, func(open string) bool { return open == id })
}

// dropDaemonRequests removes the open requests of the daemon and returns their ids.
func (s *sessionState) dropDaemonRequests() []string {
	ids := s.daemonRequests
	s.daemonRequests = nil
	return ids
}

// hasOpenRequests reports whether a request of the client is open.
func (s *sessionState) hasOpenRequests() bool { return len(s.openRequests) > 0 }

// dropCalls removes the open requests that cannot be repeated and returns their ids.
func (s *sessionState) dropCalls() []string {
	var ids []string
	s.openRequests = slices.DeleteFunc(s.openRequests, func(r openRequest) bool {
		if r.line == nil {
			ids = append(ids, r.id)
		}
		return r.line == nil
	})
	return ids
}

// dropAll removes all open requests and returns their ids.
func (s *sessionState) dropAll() []string {
	ids := make([]string, len(s.openRequests))
	for i, r := range s.openRequests {
		ids[i] = r.id
	}
	s.openRequests = nil
	return ids
}

// replay returns the lines that the next daemon must receive.
func (s *sessionState) replay() replay {
	var r replay
	if s.isOpen {
		r.initialize, r.initializeID, r.initialized = s.initialize, s.initializeID, s.initialized
		r.subscribedURIs = slices.Sorted(maps.Keys(s.subscribedURIs))
	}
	for _, openReq := range s.openRequests {
		r.requests = append(r.requests, openReq.line)
	}
	return r
}
