package wsbridge

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"opentabs/wire"
	"opentabs/wsbridge/refusallog"
)

// pingTimeout limits how long a browser may take to answer a ping.
const pingTimeout = 5 * time.Second

// LinkDiagnostics tests the links between a hub and its browsers. A LinkDiagnostics is safe for concurrent use.
type LinkDiagnostics struct{ hub *Hub }

// RefusedHello returns why and when the hub last refused an extension. RefusedHello
// returns an empty sentence if a browser has connected since the last refusal.
func (p *LinkDiagnostics) RefusedHello() refusallog.RefusedHello {
	return p.hub.refusals.RefusedHello()
}

// UnpairedAttempts returns recent attempts of unpaired browsers to connect.
func (p *LinkDiagnostics) UnpairedAttempts() []refusallog.UnpairedAttempt {
	return p.hub.refusals.UnpairedAttempts()
}

// Reconnect closes the link to a browser, so that the extension reconnects. Running calls continue.
func (p *LinkDiagnostics) Reconnect(browserID string) {
	if b := p.hub.registry.findBrowser(browserID); b != nil {
		if _, l := p.hub.registry.currentLink(b); l != nil {
			l.closeWith(websocket.StatusServiceRestart, "the browser has a new name")
		}
	}
}

// Ping returns the round-trip time of a request to a browser's extension. The text of a
// returned error is for the user.
func (p *LinkDiagnostics) Ping(ctx context.Context, browserID string) (time.Duration, error) {
	b := p.hub.registry.findBrowser(browserID)
	if b == nil {
		return 0, fmt.Errorf("there is no browser with the id %q", browserID)
	}
	name, l := p.hub.registry.currentLink(b)
	if l == nil {
		return 0, fmt.Errorf("the browser %q is not connected", name)
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	sentAt := time.Now()
	_, err := l.requests.SendAndWait(ctx, wire.MethodPing, wire.EncodeBody(wire.PingParams{}))
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("the extension of the browser %q did not answer within %v", name, pingTimeout)
	case err != nil:
		return 0, fmt.Errorf("the link to the browser %q was lost before the extension answered", name)
	}
	return time.Since(sentAt), nil
}
