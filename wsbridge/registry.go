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

// The type registry stores the browsers and the open links of a hub. If a browser has
// several links, the registry decides which is the browser's current link.
type registry struct {
	hub            *Hub
	openLinksGroup sync.WaitGroup

	mu               sync.Mutex // the mutex guards all fields below, and some fields of browser and link
	browsers         map[string]*browser
	openLinksSet     map[*link]struct{}
	handshakingLinks []*link
	waitingCallCount int
	isClosed         bool
}

func (g *registry) listBrowsers() []*browser {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.browsers))
}

func (g *registry) findBrowser(id string) *browser {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.browsers[id]
}

func (g *registry) openLinks() []*link {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Keys(g.openLinksSet))
}

func (g *registry) currentLink(b *browser) (name string, l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return b.name, b.link
}

func (g *registry) setInjectMode(b *browser, l *link, mode wire.InjectMode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.link == l {
		b.injectMode = wire.InjectMode(inbound.CleanText(string(mode), 20))
	}
}

func (g *registry) browserInfo(b *browser) BrowserInfo {
	g.mu.Lock()
	info := BrowserInfo{
		ID: b.id, Name: b.name, ExtensionVersion: b.version, Capabilities: b.capabilities, PairingKeyID: b.keyID, Connected: b.link != nil, LinkChangedAt: b.linkChangedAt, InjectMode: b.injectMode,
	}
	g.mu.Unlock()
	info.RunCount = b.runTable.countRuns()
	info.Tabs, info.SyncCount = b.tabs.listTabs()
	return info
}

func (g *registry) attachLink(l *link, helloRequestID string, p wire.HelloParams) *browser {
	g.mu.Lock()
	if g.isClosed {
		g.mu.Unlock()
		return nil
	}
	id := g.chooseBrowserID(p)
	b := g.browsers[id]
	if b == nil {
		b = newBrowser(g.hub, id)
		g.browsers[id] = b
	}
	l.log = g.hub.opts.Log.With().Str("browser", id).Logger()
	finishFuncs := g.setCurrentLink(b, l, helloRequestID, p)
	g.mu.Unlock()
	runAll(finishFuncs)
	event := l.log.Info().Str("name", p.BrowserName).Str("extension", p.ExtensionVersion)
	if id != p.BrowserID {
		event = event.Str("copy_of", p.BrowserID)
	}
	event.Msg("browser connected")
	g.hub.opts.OnBrowsersChange()
	return b
}

// Two running browsers send the same ID if one Chrome profile is a copy of the other. If the registry accepted the same
// ID twice, each browser would replace the other's link, and neither would work. The caller of chooseBrowserID holds
// registry.mu.
func (g *registry) chooseBrowserID(p wire.HelloParams) string {
	derivedID := wire.BrowserCopyID(p.BrowserID, inbound.Truncate(p.BootID, 8))
	if b := g.browsers[derivedID]; b != nil && b.bootID == p.BootID {
		return derivedID
	}
	if b := g.browsers[p.BrowserID]; b != nil && b.bootID != p.BootID && b.link != nil && !b.link.hasEnded() {
		return derivedID
	}
	return p.BrowserID
}

// setCurrentLink makes a link the current link of its browser, and queues the answer to hello before any other frame. The
// caller must call the returned functions without holding a lock. The caller of setCurrentLink holds registry.mu.
func (g *registry) setCurrentLink(b *browser, l *link, helloRequestID string, p wire.HelloParams) (finishFuncs []func()) {
	isNew := b.bootID != p.BootID
	var linkLostErr *wire.CallError
	if isNew && b.bootID != "" {
		linkLostErr = &wire.CallError{Code: wire.ErrBrowserLost, Message: "the browser or its extension restarted"}
	}
	if b.link != nil {
		b.link.closeWith(wire.CloseReplaced, "replaced by a newer connection of this browser")
	}
	result := wire.HelloResult{Protocol: wire.Version, ServerVersion: g.hub.opts.Version, PairedKey: l.pairingKey}
	b.name, b.bootID, b.version, b.injectMode = p.BrowserName, p.BootID, p.ExtensionVersion, ""
	if chooseBrowserName := g.hub.opts.ChooseBrowserName; chooseBrowserName != nil {
		b.name, result.IsGivenName = chooseBrowserName(b.id, p.BrowserName, p.HasDefaultName)
		result.BrowserName = b.name
	}
	b.capabilities, b.keyID = p.Capabilities, l.keyID
	b.setLink(l)
	l.postFrame(wire.AppendResult(nil, helloRequestID, wire.EncodeBody(result)))
	b.tabs.connect(l, b.name, isNew)
	return b.runTable.connect(l, linkLostErr)
}

func (g *registry) detachLink(b *browser, l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.link != l {
		return
	}
	b.setLink(nil)
	b.tabs.disconnect()
	runCount := b.runTable.disconnect()
	linkGeneration := b.linkGeneration
	b.gracePeriodTimer = time.AfterFunc(g.hub.opts.GracePeriod, func() { g.removeLostBrowser(b, linkGeneration) })
	l.log.Info().Int("running", runCount).Msg("browser disconnected")
}

func (g *registry) removeLostBrowser(b *browser, linkGeneration int) {
	g.mu.Lock()
	var finishFuncs []func()
	if b.linkGeneration == linkGeneration {
		finishFuncs = b.runTable.close(&wire.CallError{Code: wire.ErrLinkLost, Message: fmt.Sprintf(
			"the link to the browser was lost and did not come back within %v", g.hub.opts.GracePeriod)})
		delete(g.browsers, b.id)
	}
	g.mu.Unlock()
	runAll(finishFuncs)
	g.hub.opts.OnBrowsersChange()
}

// If too many handshakes are in progress, registerLink closes the oldest one.
func (g *registry) registerLink(l *link) bool {
	g.mu.Lock()
	if g.isClosed {
		g.mu.Unlock()
		return false
	}
	g.openLinksSet[l] = struct{}{}
	g.openLinksGroup.Add(1)
	var oldestLink *link
	if len(g.handshakingLinks) >= maxOpenHandshakes {
		oldestLink = g.handshakingLinks[0]
		g.handshakingLinks = slices.Delete(g.handshakingLinks, 0, 1)
	}
	g.handshakingLinks = append(g.handshakingLinks, l)
	g.mu.Unlock()
	if oldestLink != nil {
		g.hub.refusals.LogRejected(&g.hub.opts.Log, "too many connections are in their handshake", func(*zerolog.Event) {})
		oldestLink.closeWith(websocket.StatusTryAgainLater, "too many connections are in their handshake")
	}
	return true
}

func (g *registry) completeHandshake(l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.isReady = true
	g.removeHandshakingLink(l)
	l.sendWaitingCount(g.waitingCallCount)
}

// The caller of removeHandshakingLink holds registry.mu.
func (g *registry) removeHandshakingLink(l *link) {
	if i := slices.Index(g.handshakingLinks, l); i >= 0 {
		g.handshakingLinks = slices.Delete(g.handshakingLinks, i, i+1)
	}
}

func (g *registry) setWaitingCount(calls int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waitingCallCount = calls
	for l := range g.openLinksSet {
		l.sendWaitingCount(calls)
	}
}

func (g *registry) unregisterLink(l *link) {
	l.finish()
	g.mu.Lock()
	delete(g.openLinksSet, l)
	g.removeHandshakingLink(l)
	g.mu.Unlock()
	g.openLinksGroup.Done()
}

func (g *registry) close(callError *wire.CallError) {
	g.mu.Lock()
	g.isClosed = true
	for l := range g.openLinksSet {
		l.closeWith(websocket.StatusGoingAway, "opentabs is stopping")
	}
	var finishFuncs []func()
	for id, b := range g.browsers {
		b.setLink(nil)
		b.tabs.disconnect()
		finishFuncs = append(finishFuncs, b.runTable.close(callError)...)
		delete(g.browsers, id)
	}
	g.mu.Unlock()
	runAll(finishFuncs)
	g.openLinksGroup.Wait()
}

func runAll(finishFuncs []func()) {
	for _, f := range finishFuncs {
		f()
	}
}
