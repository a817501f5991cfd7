package relay

import (
	"maps"
	"slices"
)

const (
	// maxRepeatedRequestBytes is the maximum length of a request that is repeated on the next daemon.
	maxRepeatedRequestBytes = 1 << 20
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
	// In MCP 2026-07-28, which has no sessions, initialize and initialized are nil.
	initialize, initialized []byte
	initializeID            string
	isOpen                  bool
	subscribedURIs          map[string]struct{}
	// openRequests are the client's requests without a response, oldest first.
	openRequests   []openRequest
	daemonRequests []string
}

// openRequest is a request of the MCP client to which no daemon has responded yet.
type openRequest struct {
	id string
	// The field line is the request that the relay can repeat on the next daemon. The
	// field line is nil for a tool call, which may already have taken effect.
	line []byte
}

// The type sessionReplay has the lines that the next daemon receives to continue the session.
type sessionReplay struct {
	initialize, initialized []byte
	initializeID            string
	subscribedURIs          []string
	requests                [][]byte
}

func newSessionState() sessionState {
	return sessionState{subscribedURIs: map[string]struct{}{}}
}

func (s *sessionState) recordSent(m rpcMessage, line []byte) {
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
	for _, id := range m.responseLines {
		s.dropDaemonRequest(id)
	}
	for _, id := range m.requests {
		r := openRequest{id: id}
		// The relay repeats neither a batch, which may contain a tool call, nor a prompts/get request, which runs code
		// in the page like a tool.
		if m.method != "" && m.method != "tools/call" && m.method != "prompts/get" && len(line) <= maxRepeatedRequestBytes {
			r.line = line
		}
		s.openRequests = append(s.openRequests, r)
	}
}

func (s *sessionState) dropUnsentRequests(m rpcMessage) {
	for _, id := range m.requests {
		s.dropRequest(id)
	}
}

func (s *sessionState) recordReceived(m rpcMessage, line []byte) {
	for _, id := range m.requests {
		if len(s.daemonRequests) < maxDaemonRequests {
			s.daemonRequests = append(s.daemonRequests, id)
		}
	}
	if m.method == "notifications/cancelled" {
		s.dropDaemonRequest(cancelledID(line))
	}
	for _, id := range m.responseLines {
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

func (s *sessionState) dropDaemonRequests() []string {
	ids := s.daemonRequests
	s.daemonRequests = nil
	return ids
}

func (s *sessionState) hasOpenRequests() bool { return len(s.openRequests) > 0 }

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

func (s *sessionState) dropAllRequests() []string {
	ids := make([]string, len(s.openRequests))
	for i, r := range s.openRequests {
		ids[i] = r.id
	}
	s.openRequests = nil
	return ids
}

func (s *sessionState) newSessionReplay() sessionReplay {
	var r sessionReplay
	if s.isOpen {
		r.initialize, r.initializeID, r.initialized = s.initialize, s.initializeID, s.initialized
		r.subscribedURIs = slices.Sorted(maps.Keys(s.subscribedURIs))
	}
	for _, openReq := range s.openRequests {
		r.requests = append(r.requests, openReq.line)
	}
	return r
}
