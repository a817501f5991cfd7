package main

import (
	"maps"
	"slices"
)

// maxRepeatBytes is the longest request that is kept to be asked again.
const maxRepeatBytes = 1 << 20

// maxAsked is how many questions of a server are remembered.
const maxAsked = 1000

// maxSubscribed is how many subscriptions to resources are remembered: as many
// as a server takes of one session.
const maxSubscribed = 256

// sessionMemory is what the relay remembers of a client's session: how it was
// opened, and what has not been answered. Its user locks.
type sessionMemory struct {
	// initialize and initialized are the lines that opened the session, kept
	// once the server had answered; nil in the protocol that has no opening.
	initialize, initialized []byte
	initializeID            string
	// opened is set when the server has answered initialize.
	opened bool
	// subscribed are the URIs of the resources that the client subscribed to.
	subscribed map[string]struct{}
	// open are the requests that have no answer yet, in the order they came.
	open []openRequest
	// asked are the ids of what the server asked the client and has no answer to.
	asked []string
}

// openRequest is a request without an answer.
type openRequest struct {
	id string
	// line is the request if it may be asked again; nil for a call, which may
	// have taken effect.
	line []byte
}

// repetition is what a new server is told.
type repetition struct {
	initialize, initialized []byte
	initializeID            string
	// subscribed are URIs of resources.
	subscribed []string
	requests   [][]byte
}

func newSessionMemory() sessionMemory {
	return sessionMemory{subscribed: map[string]struct{}{}}
}

// sent notes a line that goes to the server.
func (m *sessionMemory) sent(l rpcLine, line []byte) {
	switch l.method {
	case "initialize":
		if len(l.requests) == 1 {
			m.initialize, m.initializeID, m.opened = line, l.requests[0], false
		}
	case "notifications/initialized":
		m.initialized = line
	case "notifications/cancelled":
		// It gets no answer any more.
		m.drop(cancelledID(line))
	case "resources/subscribe":
		if uri := uriOf(line); uri != "" && len(m.subscribed) < maxSubscribed {
			m.subscribed[uri] = struct{}{}
		}
	case "resources/unsubscribe":
		delete(m.subscribed, uriOf(line))
	}
	for _, id := range l.answers {
		m.dropAsked(id)
	}
	for _, id := range l.requests {
		r := openRequest{id: id}
		// A batch may hold a call, and a prompt runs in the page as a tool does.
		if l.method != "" && l.method != "tools/call" && l.method != "prompts/get" && len(line) <= maxRepeatBytes {
			r.line = line
		}
		m.open = append(m.open, r)
	}
}

// unsent forgets the requests of a line that did not go out.
func (m *sessionMemory) unsent(l rpcLine) {
	for _, id := range l.requests {
		m.drop(id)
	}
}

// answered notes a line that came from the server.
func (m *sessionMemory) answered(l rpcLine, line []byte) {
	for _, id := range l.requests {
		if len(m.asked) < maxAsked {
			m.asked = append(m.asked, id)
		}
	}
	if l.method == "notifications/cancelled" {
		m.dropAsked(cancelledID(line))
	}
	for _, id := range l.answers {
		if id == m.initializeID && m.initialize != nil {
			m.opened = true
		}
		m.drop(id)
	}
}

func (m *sessionMemory) drop(id string) {
	m.open = slices.DeleteFunc(m.open, func(r openRequest) bool { return r.id == id })
}

func (m *sessionMemory) dropAsked(id string) {
	m.asked = slices.DeleteFunc(m.asked, func(asked string) bool { return asked == id })
}

// takeBack forgets what the server asked and returns the ids: a server that is
// gone waits for no answer.
func (m *sessionMemory) takeBack() []string {
	ids := m.asked
	m.asked = nil
	return ids
}

// waiting reports whether something has to be asked again.
func (m *sessionMemory) waiting() bool { return len(m.open) > 0 }

// dropCalls forgets the requests that can't be asked again and returns their
// ids.
func (m *sessionMemory) dropCalls() []string {
	var ids []string
	m.open = slices.DeleteFunc(m.open, func(r openRequest) bool {
		if r.line == nil {
			ids = append(ids, r.id)
		}
		return r.line == nil
	})
	return ids
}

// dropAll forgets all requests and returns their ids.
func (m *sessionMemory) dropAll() []string {
	ids := make([]string, len(m.open))
	for i, r := range m.open {
		ids[i] = r.id
	}
	m.open = nil
	return ids
}

// repeat returns what a new server has to be told.
func (m *sessionMemory) repeat() repetition {
	var r repetition
	if m.opened {
		r.initialize, r.initializeID, r.initialized = m.initialize, m.initializeID, m.initialized
		r.subscribed = slices.Sorted(maps.Keys(m.subscribed))
	}
	for _, open := range m.open {
		r.requests = append(r.requests, open.line)
	}
	return r
}
