package relay

import (
	"maps"
	"slices"
)

const (
	// maxRepeatBytes is the maximum length of a request that is repeated on the next
	// daemon. A request that is longer than maxRepeatBytes fails if the daemon stops
	// before it has responded.
	maxRepeatBytes = 1 << 20
	// maxDaemonRequests is the maximum number of stored requests that the daemon has sent
	// to the client.
	maxDaemonRequests = 1000
	// maxSubscriptions is the maximum number of stored subscriptions, and the number that
	// a daemon accepts in one session.
	maxSubscriptions = 256
)

// sessionState records how the client opened its session, and which requests are open.
// sessionState is not safe for concurrent use.
type sessionState struct {
	// initialize and initialized are the lines with which the client opened its session.
	// In MCP 2026-07-28, which has no sessions, initialize and initialized are nil.
	initialize, initialized []byte
	initializeID            string
	// isOpen is true after the daemon has responded to the initialize request.
	isOpen bool
	// subscribedURIs are the URIs of the resources to which the client has subscribed.
	subscribedURIs map[string]struct{}
	// openRequests are the client's requests without a response, oldest first.
	openRequests []openRequest
	// daemonRequests are the IDs of the daemon's requests without a response.
	daemonRequests []string
}

// openRequest is a request of the MCP client to which no daemon has responded yet.
type openRequest struct {
	id string
	// line is the request that the relay can repeat on the next daemon. line is nil for a
	// tool call, which may already have taken effect.
	line []byte
}

// replay has the lines that the next daemon receives to continue the session.
type replay struct {
	initialize, initialized []byte
	initializeID            string
	subscribedURIs          []string
	requests                [][]byte
}

func newSessionState() sessionState {
	return sessionState{subscribedURIs: map[string]struct{}{}}
}

// recordSent records a line that the client sends to the daemon.
func (s *sessionState) recordSent(m message, line []byte) {
	switch m.method {
	case "initialize":
		if len(m.requests) == 1 {
			s.initialize, s.initializeID, s.isOpen = line, m.requests[0], false
		}
	case "notifications/initialized":
		s.initialized = line
	case "notifications/cancelled":
		s.dropRequest(cancelledID(line)) // a cancelled request gets no response
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
		// The relay does not repeat a batch on the next daemon, because the batch may contain
		// a tool call. The relay does not repeat a prompts/get request on the next daemon,
		// because a prompt runs code in the page like a tool.
		if m.method != "" && m.method != "tools/call" && m.method != "prompts/get" && len(line) <= maxRepeatBytes {
			r.line = line
		}
		s.openRequests = append(s.openRequests, r)
	}
}

// forgetUnsent removes the requests in a line that could not be sent.
func (s *sessionState) forgetUnsent(m message) {
	for _, id := range m.requests {
		s.dropRequest(id)
	}
}

// recordReceived records a line that the daemon has sent.
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

// dropDaemonRequests removes all open requests of the daemon and returns their IDs.
func (s *sessionState) dropDaemonRequests() []string {
	ids := s.daemonRequests
	s.daemonRequests = nil
	return ids
}

// hasOpenRequests reports whether the client waits for a response.
func (s *sessionState) hasOpenRequests() bool { return len(s.openRequests) > 0 }

// dropCalls removes the open requests that cannot be repeated, and returns their IDs.
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

// dropAll removes all open requests of the client, and returns their IDs.
func (s *sessionState) dropAll() []string {
	ids := make([]string, len(s.openRequests))
	for i, r := range s.openRequests {
		ids[i] = r.id
	}
	s.openRequests = nil
	return ids
}

// replay returns the lines that the next daemon must receive to continue the session.
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
