package wsbridge

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"opentabs/wire"
)

// pingTimeout limits how long a browser may take to answer a ping.
const pingTimeout = 5 * time.Second

// LinkProbe checks the links of a hub to browsers. A LinkProbe is safe for concurrent use.
type LinkProbe struct{ hub *Hub }

// RefusedHello returns why the hub refused the last extension, and when; the sentence is
// empty if a browser has connected since.
func (p *LinkProbe) RefusedHello() (sentence string, at time.Time) {
	refused := p.hub.refusals.RefusedHello()
	return refused.Sentence, refused.At
}

// Reconnect ends the link of a browser, which connects again. Calls continue.
func (p *LinkProbe) Reconnect(browserID string) {
	if b := p.hub.registry.findBrowser(browserID); b != nil {
		if _, l := p.hub.registry.currentLink(b); l != nil {
			l.closeWith(websocket.StatusServiceRestart, "the browser has a new name")
		}
	}
}

// Ping returns the time from a request to the extension of a browser until its answer. The
// error of Ping is a sentence for the user.
func (p *LinkProbe) Ping(ctx context.Context, browserID string) (time.Duration, error) {
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
