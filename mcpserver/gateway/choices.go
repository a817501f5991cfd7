package gateway

import "sync"

// Mode determines whether a client lists all tools or only the gateway's tools.
type Mode string

const (
	// ListAllTools lists all tools.
	ListAllTools Mode = "all"
	// ListGatewayTools lists the tools of the gateway and pinned tools.
	ListGatewayTools Mode = "gateway"
	// ListAuto lists all tools, or only the gateway if there are too many tools for the
	// client.
	ListAuto Mode = "auto"
)

// maxChoices limits the stored sessions, because clients without sessions stay stored until the server stops.
const maxChoices = 4096

// Choices remembers which sessions list only the gateway, so that a session that has
// switched to the gateway never switches back. The zero value is ready to use. Choices is
// safe for concurrent use.
type Choices struct {
	mu       sync.Mutex // the mutex guards the field sessions
	sessions map[string]bool
}

// UsesGateway reports whether a session lists the gateway. In mode ListAuto, a session lists
// the gateway once there are more tools than the client can use.
func (c *Choices) UsesGateway(session string, mode Mode, fitsLimit bool) bool {
	if mode != ListAuto {
		return mode == ListGatewayTools
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if fitsLimit {
		return c.sessions[session]
	}
	if c.sessions == nil || len(c.sessions) >= maxChoices {
		c.sessions = map[string]bool{}
	}
	c.sessions[session] = true
	return true
}

// Forget deletes the stored choice of a session that has ended.
func (c *Choices) Forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, session)
}
