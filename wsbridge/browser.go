package wsbridge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/wire"
)

// browser is one browser, from its first hello until it has been disconnected
// for longer than the grace period.
type browser struct {
	hub *Hub
	id  string

	mu          sync.Mutex // guards all below; taken after Hub.mu
	name        string
	boot        string
	version     string
	inject      wire.InjectMode
	link        *link     // nil while it is lost
	isForgotten bool      // it has not come back and is forgotten
	since       time.Time // when link came up or was lost
	tabs        map[int]wire.TabInfo
	// arrived is when the browser connected with a new boot ID, or when its
	// plugins changed. The browser is in sync when it has received the plugins
	// (synced) and has listed its tabs since then (listed).
	arrived        time.Time
	synced, listed bool
	// syncs counts how often synced was set.
	syncs int
	// outside is set once it has reported a plugin in a page outside the
	// plugin's sites.
	outside bool
	// beforeReturn has the live documents from before a reconnect, until
	// settleTime has passed.
	beforeReturn map[int]wire.TabInfo
	settling     *time.Timer
	// leftAt is when a tab left a document with a live plugin, by tab, while the
	// next document loads.
	leftAt  map[int]time.Time
	runs    map[string]*run
	started int // runs so far
	stops   map[string]*stop
	// generation counts the changes of link. A timer that was set for an older
	// generation does nothing.
	generation int
	timer      *time.Timer // the one that ends runs; nil if none is set
}

// attach makes l the link of the browser that sent hello, and answers hello. It
// returns nil after Close.
func (h *Hub) attach(l *link, helloID string, p wire.HelloParams) *browser {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	id := h.idFor(p)
	b := h.browsers[id]
	if b == nil {
		b = &browser{hub: h, id: id, tabs: map[int]wire.TabInfo{}, leftAt: map[int]time.Time{}, runs: map[string]*run{}, stops: map[string]*stop{}}
		h.browsers[id] = b
	}
	l.log = h.opts.Log.With().Str("browser", id).Logger()
	after := b.attach(l, helloID, p)
	h.mu.Unlock()
	runAll(after)
	event := l.log.Info().Str("name", p.BrowserName).Str("extension", p.ExtensionVersion)
	if id != p.BrowserID {
		event = event.Str("copy_of", p.BrowserID)
	}
	event.Msg("browser connected")
	return b
}

// idFor returns the ID for the browser that sent hello. Two running browsers
// may send the same ID, such as a profile and its copy. If each replaced the
// other, neither would work. So the second one gets an ID derived from its boot
// ID, and keeps it when it reconnects. The caller holds mu.
func (h *Hub) idFor(p wire.HelloParams) string {
	own := p.BrowserID + "~" + truncate(p.BootID, 8)
	if b := h.browsers[own]; b != nil {
		if boot, _ := b.now(); boot == p.BootID {
			return own
		}
	}
	if b := h.browsers[p.BrowserID]; b != nil {
		if boot, connected := b.now(); connected && boot != p.BootID {
			return own
		}
	}
	return p.BrowserID
}

// now returns the boot id and whether the browser is connected.
func (b *browser) now() (boot string, connected bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.boot, b.link != nil && !b.link.ended()
}

// attach makes l the browser's link. It returns functions to call without a
// lock.
func (b *browser) attach(l *link, helloID string, p wire.HelloParams) (after []func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.link
	if b.boot != "" && b.boot != p.BootID {
		after = b.endAll(&wire.CallError{Code: wire.ErrBrowserLost, Message: "the browser or its extension restarted"})
		clear(b.tabs)
		clear(b.leftAt)
		b.beforeReturn = nil
	}
	if b.boot != p.BootID {
		b.arrived, b.synced, b.listed = time.Now(), false, false
	}
	if old != nil {
		old.shut(wire.CloseReplaced, "replaced by a newer connection of this browser")
	}
	b.name, b.boot, b.version, b.inject = p.BrowserName, p.BootID, p.ExtensionVersion, ""
	b.link, b.since = l, time.Now()
	b.nextGeneration()
	l.post(wire.AppendResult(nil, helloID, marshal(wire.HelloResult{Protocol: wire.Version, ServerVersion: b.hub.opts.Version})))
	b.resendStops()
	b.awaitResumed()
	b.resendRuns()
	for _, r := range b.runs {
		r.sink.LinkBack()
	}
	b.keepDocuments()
	return after
}

// detach records that l is lost. It does nothing if a newer link has replaced
// l.
func (b *browser) detach(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != l {
		return
	}
	b.link, b.since = nil, time.Now()
	for _, s := range b.stops {
		s.sent = false // the frame may be lost
	}
	for _, r := range b.runs {
		r.sink.LinkLost()
	}
	generation := b.nextGeneration()
	b.timer = time.AfterFunc(b.hub.opts.Grace, func() { b.hub.giveUp(b, generation) })
	l.log.Info().Int("running", len(b.runs)).Msg("browser disconnected")
}

// nextGeneration records a change of link and stops the timers of the one
// before. The caller holds mu.
func (b *browser) nextGeneration() int {
	for _, t := range []*time.Timer{b.timer, b.settling} {
		if t != nil {
			t.Stop()
		}
	}
	b.timer, b.settling = nil, nil
	b.generation++
	return b.generation
}

// giveUp removes a browser that has not reconnected within the grace period.
func (h *Hub) giveUp(b *browser, turn int) {
	h.mu.Lock()
	b.mu.Lock()
	var after []func()
	if b.generation == turn {
		after = b.endAll(&wire.CallError{Code: wire.ErrLinkLost, Message: fmt.Sprintf(
			"the link to the browser was lost and did not come back within %v", h.opts.Grace)})
		b.isForgotten = true
		delete(h.browsers, b.id)
	}
	b.mu.Unlock()
	h.mu.Unlock()
	runAll(after)
}

// end ends all runs and stops of the browser. It returns functions to call
// without a lock.
func (b *browser) end(why *wire.CallError) []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nextGeneration()
	b.link, b.isForgotten = nil, true
	return b.endAll(why)
}

// endAll ends all runs with an error and settles all stops. It returns
// functions to call without a lock. The caller holds mu.
func (b *browser) endAll(why *wire.CallError) (after []func()) {
	for id, r := range b.runs {
		end := why
		if r.isUnsent { // the call may be retried
			unsent := *why
			unsent.NotStarted = true
			end = &unsent
		}
		after = append(after, b.finish(id, nil, end))
	}
	for id, s := range b.stops {
		after = append(after, s.settle(wire.CancelIgnored))
		delete(b.stops, id)
	}
	return after
}

// finish removes a run and returns the function that ends it, to be called
// without a lock. The caller holds mu.
func (b *browser) finish(id string, output json.RawMessage, err *wire.CallError) func() {
	r := b.runs[id]
	delete(b.runs, id)
	if err != nil {
		b.hub.opts.Log.Debug().Str("call", id).Str("browser", b.id).Str("code", string(err.Code)).Msg("run ended")
	}
	return func() { r.sink.Finish(output, err) }
}

// awaitResumed gives the browser the grace period to list its runs. The caller
// holds mu.
func (b *browser) awaitResumed() {
	if len(b.runs) == 0 {
		return
	}
	for _, r := range b.runs {
		r.isListed = false
	}
	generation := b.generation
	b.timer = time.AfterFunc(b.hub.opts.Grace, func() { b.endUnlisted(generation) })
}

// endUnlisted ends the runs that the browser has not listed or reported on
// since its reconnect.
func (b *browser) endUnlisted(turn int) {
	b.mu.Lock()
	var after []func()
	if b.generation == turn {
		for id, r := range b.runs {
			if r.isListed {
				continue
			}
			after = append(after, b.finish(id, nil, &wire.CallError{Code: wire.ErrLinkLost,
				Message: "the link to the browser was lost, and the reconnected browser no longer has the call"}))
		}
	}
	b.mu.Unlock()
	runAll(after)
}

// resumed handles the browser's list of its runs. Runs that the server no
// longer has are stopped in their pages.
func (b *browser) resumed(l *link, ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if r := b.runs[id]; r != nil {
			r.confirm()
			if b.link == l {
				b.resendAnswers(r)
			}
			continue
		}
		if b.stops[id] == nil && plainID(id) {
			l.log.Debug().Str("call", id).Msg("the browser runs a call that the server no longer has; stopping it")
			l.post(cancelFrame(id, "the server no longer has this call"))
		}
	}
}

// info returns the browser as status pages show it.
func (b *browser) info() BrowserInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	tabs := slices.SortedFunc(maps.Values(b.tabs), func(x, y wire.TabInfo) int { return x.TabID - y.TabID })
	return BrowserInfo{
		ID: b.id, Name: b.name, ExtensionVersion: b.version, Connected: b.link != nil, Since: b.since,
		Inject: b.inject, Running: len(b.runs), Tabs: tabs, Syncs: b.syncs,
	}
}
