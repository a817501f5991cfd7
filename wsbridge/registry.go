package wsbridge

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// registry has the browsers and the open links of a hub. registry decides which link is
// the current one of a browser.
type registry struct {
	hub   *Hub
	links sync.WaitGroup // one for each open connection

	mu          sync.Mutex // guards all fields below, and the fields that browser and link name
	browsers    map[string]*browser
	serving     map[*link]struct{}
	handshaking []*link // links in their handshake, oldest first
	waiting     int     // calls that are waiting for the user
	closed      bool
}

// list returns the browsers in random order.
func (g *registry) list() []*browser {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.browsers))
}

func (g *registry) find(id string) *browser {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.browsers[id]
}

// openLinks returns the open links, including links in their handshake.
func (g *registry) openLinks() []*link {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.serving))
}

// currentLink returns the name of a browser and its link, nil while it is lost.
func (g *registry) currentLink(b *browser) (name string, l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return b.name, b.link
}

// setInject stores how a browser injects adapters into pages. setInject ignores a link
// that is no longer the current one.
func (g *registry) setInject(b *browser, l *link, mode wire.InjectMode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.link == l {
		b.inject = wire.InjectMode(inbound.Text(string(mode), 20))
	}
}

// browserInfo returns the browser as status pages show it.
func (g *registry) browserInfo(b *browser) BrowserInfo {
	g.mu.Lock()
	out := BrowserInfo{
		ID: b.id, Name: b.name, ExtensionVersion: b.version, Connected: b.link != nil, Since: b.since, Inject: b.inject,
	}
	g.mu.Unlock()
	out.Running = b.runs.countRuns()
	out.Tabs, out.Syncs = b.tabs.list()
	return out
}

// attach makes l the link of the browser that sent hello, and answers hello. attach
// returns nil after Close.
func (g *registry) attach(l *link, helloID string, p wire.HelloParams) *browser {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	id := g.idFor(p)
	b := g.browsers[id]
	if b == nil {
		b = newBrowser(g.hub, id)
		g.browsers[id] = b
	}
	l.log = g.hub.opts.Log.With().Str("browser", id).Logger()
	after := g.setCurrent(b, l, helloID, p)
	g.mu.Unlock()
	runAll(after)
	event := l.log.Info().Str("name", p.BrowserName).Str("extension", p.ExtensionVersion)
	if id != p.BrowserID {
		event = event.Str("copy_of", p.BrowserID)
	}
	event.Msg("browser connected")
	return b
}

// idFor returns the ID for the browser that sent hello. Two running browsers may send
// the same ID, such as a profile and its copy. If each browser replaced the other one,
// neither browser would work. The second browser therefore gets an ID derived from its
// boot ID, and keeps this ID when it reconnects. The caller holds mu.
func (g *registry) idFor(p wire.HelloParams) string {
	own := p.BrowserID + "~" + inbound.Truncate(p.BootID, 8)
	if b := g.browsers[own]; b != nil && b.boot == p.BootID {
		return own
	}
	if b := g.browsers[p.BrowserID]; b != nil && b.boot != p.BootID && b.link != nil && !b.link.hasEnded() {
		return own
	}
	return p.BrowserID
}

// setCurrent makes l the current link of a browser, and answers hello before anything
// else is sent. setCurrent returns functions to call without a lock. The caller holds
// mu.
func (g *registry) setCurrent(b *browser, l *link, helloID string, p wire.HelloParams) (after []func()) {
	isNew := b.boot != p.BootID
	var lost *wire.CallError
	if isNew && b.boot != "" {
		lost = &wire.CallError{Code: wire.ErrBrowserLost, Message: "the browser or its extension restarted"}
	}
	if b.link != nil {
		b.link.closeWith(wire.CloseReplaced, "replaced by a newer connection of this browser")
	}
	b.name, b.boot, b.version, b.inject = p.BrowserName, p.BootID, p.ExtensionVersion, ""
	b.setLink(l)
	l.post(wire.AppendResult(nil, helloID, wire.EncodeBody(wire.HelloResult{Protocol: wire.Version, ServerVersion: g.hub.opts.Version})))
	b.tabs.connect(l, b.name, isNew)
	return b.runs.connect(l, lost)
}

// detach records that l is lost. detach does nothing if a newer link has replaced l.
func (g *registry) detach(b *browser, l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.link != l {
		return
	}
	b.setLink(nil)
	b.tabs.disconnect()
	running := b.runs.disconnect()
	generation := b.generation
	b.timer = time.AfterFunc(g.hub.opts.Grace, func() { g.giveUp(b, generation) })
	l.log.Info().Int("running", running).Msg("browser disconnected")
}

// giveUp removes a browser that has not reconnected within the grace period.
func (g *registry) giveUp(b *browser, generation int) {
	g.mu.Lock()
	var after []func()
	if b.generation == generation {
		after = b.runs.close(&wire.CallError{Code: wire.ErrLinkLost, Message: fmt.Sprintf(
			"the link to the browser was lost and did not come back within %v", g.hub.opts.Grace)})
		delete(g.browsers, b.id)
	}
	g.mu.Unlock()
	runAll(after)
}

// register adds a link. register reports false after Close. The oldest link in its
// handshake is closed if there are too many.
func (g *registry) register(l *link) bool {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return false
	}
	g.serving[l] = struct{}{}
	g.links.Add(1)
	var oldest *link
	if len(g.handshaking) >= maxHandshaking {
		oldest = g.handshaking[0]
		g.handshaking = slices.Delete(g.handshaking, 0, 1)
	}
	g.handshaking = append(g.handshaking, l)
	g.mu.Unlock()
	if oldest != nil {
		g.hub.refusals.logRejected(&g.hub.opts.Log, "too many connections are in their handshake", func(*zerolog.Event) {})
		oldest.closeWith(websocket.StatusTryAgainLater, "too many connections are in their handshake")
	}
	return true
}

// completeHandshake ends the handshake of a link. completeHandshake sends how many
// calls are waiting for the user, and enables later updates of that number.
func (g *registry) completeHandshake(l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.isReady = true
	g.removeHandshaking(l)
	l.sendWaiting(g.waiting)
}

// removeHandshaking records that the handshake of a link has ended. The caller
// holds mu.
func (g *registry) removeHandshaking(l *link) {
	if i := slices.Index(g.handshaking, l); i >= 0 {
		g.handshaking = slices.Delete(g.handshaking, i, i+1)
	}
}

// setWaiting sends to every browser how many calls are waiting for the user.
func (g *registry) setWaiting(calls int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = calls
	for l := range g.serving {
		l.sendWaiting(calls)
	}
}

// unregister waits for the goroutines of a link and removes the link.
func (g *registry) unregister(l *link) {
	l.finish()
	g.mu.Lock()
	delete(g.serving, l)
	g.removeHandshaking(l)
	g.mu.Unlock()
	g.links.Done()
}

// close closes all links, ends all runs with why and rejects new links. close returns
// when all links are gone.
func (g *registry) close(why *wire.CallError) {
	g.mu.Lock()
	g.closed = true
	for l := range g.serving {
		l.closeWith(websocket.StatusGoingAway, "opentabs is stopping")
	}
	var after []func()
	for id, b := range g.browsers {
		b.setLink(nil)
		b.tabs.disconnect()
		after = append(after, b.runs.close(why)...)
		delete(g.browsers, id)
	}
	g.mu.Unlock()
	runAll(after)
	g.links.Wait()
}

// runAll calls functions that must not run under a lock.
func runAll(after []func()) {
	for _, f := range after {
		f()
	}
}
