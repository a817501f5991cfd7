package wsbridge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxTabs is how many tabs of one browser are known.
	maxTabs = 10_000
	// The longest texts of a tab that are kept, in characters.
	maxURL   = 8192
	maxTitle = 1000
	// loadWait is how long a call waits for a tab that is loading.
	loadWait = 5 * time.Second
	// settleTime is how long a browser that is back may take to find its pages.
	settleTime = 2 * time.Second
)

// syncTabs replaces all tabs of the browser. Only its current link may.
func (b *browser) syncTabs(l *link, tabs []wire.TabInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != l {
		return
	}
	if len(tabs) > maxTabs {
		l.log.Warn().Int("tabs", len(tabs)).Int("kept", maxTabs).Msg("too many tabs; some can't be used")
		tabs = tabs[:maxTabs]
	}
	b.listed = b.listed || l.told
	gone := maps.Clone(b.tabs)
	for _, t := range tabs {
		delete(gone, t.TabID)
		b.replace(tidy(t))
	}
	for id := range gone {
		b.forget(id)
	}
	b.hub.tabs.tell(true)
}

// changeTab replaces one tab of the browser. Only its current link may.
func (b *browser) changeTab(l *link, p wire.TabChangedParams) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != l {
		return
	}
	_, there := b.tabs[p.TabID]
	switch {
	case p.Tab == nil:
		b.forget(p.TabID)
		delete(b.before, p.TabID)
	case !there && len(b.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some can't be used")
	default:
		p.Tab.TabID = p.TabID
		b.replace(tidy(*p.Tab))
	}
	b.hub.tabs.tell(false)
}

// documentGone forgets a document of which the browser has said, ahead of its
// tab.changed, that it is gone. Until that comes the tab counts as loading.
func (b *browser) documentGone(l *link, tabID int, documentID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.before, tabID)
	t, ok := b.tabs[tabID]
	if !ok || b.link != l || t.DocumentID != documentID {
		return
	}
	for _, p := range t.Plugins {
		t.Loading = append(t.Loading, p.Name)
	}
	t.DocumentID, t.Plugins = "", nil
	b.replace(t)
}

// settle keeps the documents that were live before the link was lost for
// settleTime: an extension's worker that was started anew lists its tabs before
// their pages have said that they are still there. A run that is sent to a
// document that is really gone is refused by the browser. The caller holds mu.
func (b *browser) settle() {
	for id, t := range b.tabs {
		if t.DocumentID == "" {
			continue
		}
		if b.before == nil { // else: lost again before it had settled
			b.before = map[int]wire.TabInfo{}
		}
		b.before[id] = t
	}
	if b.before == nil {
		return
	}
	turn := b.turn
	b.settling = time.AfterFunc(settleTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.turn == turn {
			b.before = nil
		}
	})
}

// tab returns what is known of a tab; no document if it has none or is not
// there. The caller holds mu.
func (b *browser) tab(id int) wire.TabInfo {
	t := b.tabs[id]
	if before, ok := b.before[id]; ok && t.DocumentID == "" {
		return before
	}
	return t
}

// Targets implements dispatch.Bridge. A browser whose link is lost counts as
// connected for the grace period, but is not offered while one that is there
// could run the plugin: it may have been closed for good.
//
// It waits for what is about to come if there is nothing else that the call
// wants: in the first moments of the server for the first browser (those that
// knew the last server look for this one each second, and a client that has
// just started the server should find them), and for a tab that is loading. For
// one that the plugin was live in just now, and that goes before all others, it
// waits even if there are others. If
// all that there is has to be loaded anew, it asks for that.
func (h *Hub) Targets(ctx context.Context, want dispatch.Want) dispatch.Targets {
	began := time.Now()
	asked, loads := false, false
	for {
		changed := h.tabs.changed()
		out, coming, returning, arriving := h.targets(want)
		var left time.Duration
		switch {
		case returning > 0:
			left = returning
		case slices.ContainsFunc(out.Live, want.Allows):
		case coming || loads:
			left = loadWait - time.Since(began)
		case arriving > 0:
			left = arriving
		case !asked && slices.ContainsFunc(out.NeedReload, want.Allows):
			if loads, asked = h.load(ctx, want, out.NeedReload); asked {
				began = time.Now()
				continue
			}
			left = loadWait - time.Since(began)
		case !h.tabs.listed():
			left = h.opts.FirstWait - time.Since(h.started)
		}
		if left <= 0 {
			return out
		}
		over := time.NewTimer(left)
		select {
		case <-changed:
			over.Stop()
		case <-over.C: // there may be something else to try
		case <-ctx.Done():
			over.Stop()
			return out
		}
	}
}

// targets is Targets at this moment; coming is whether the plugin may be live
// in a moment in a tab that the call wants, returning how much longer one that
// goes before the others may take for that, arriving how much longer a browser
// may take to settle in.
func (h *Hub) targets(want dispatch.Want) (out dispatch.Targets, coming bool, returning, arriving time.Duration) {
	h.mu.Lock()
	hash, listed := h.hashes[want.Plugin]
	h.mu.Unlock()
	var live, away, reload []place
	browsers := h.list()
	for _, b := range browsers {
		out.Browsers++
		if !listed {
			continue
		}
		l, r, connected := b.places(want.Plugin, hash)
		coming = coming || b.loading(want)
		arriving = max(arriving, b.arriving(want))
		reload = append(reload, r...)
		if connected {
			live = append(live, l...)
		} else {
			away = append(away, l...)
		}
	}
	if len(live) == 0 {
		live = away
	}
	for _, b := range browsers {
		if listed {
			returning = max(returning, b.returning(want, live))
		}
	}
	out.Live, out.NeedReload = rank(live), rank(reload)
	return out, coming, returning, arriving
}

// unsettle notes that there are new adapters: until the browser has them and has
// listed its tabs anew, nobody knows where they are live.
func (b *browser) unsettle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived, b.synced, b.listed = time.Now(), false, false
}

// arriving is how much longer a call may wait for the browser to settle in,
// which has just come and may have what the call wants.
func (b *browser) arriving(want dispatch.Want) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.synced && b.listed || want.Browser != "" && want.Browser != b.id && want.Browser != b.name {
		return 0
	}
	return b.hub.opts.FirstWait - time.Since(b.arrived)
}

// loading reports whether a tab that the call wants is loading a document in
// which the plugin may be live.
func (b *browser) loading(want dispatch.Want) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tabs {
		if slices.Contains(t.Loading, want.Plugin) && want.Allows(b.target(t)) {
			return true
		}
	}
	return false
}

// target returns a tab as a place to run.
func (b *browser) target(t wire.TabInfo) dispatch.Target {
	return dispatch.Target{
		Browser: b.id, BrowserName: b.name, TabID: t.TabID, DocumentID: t.DocumentID, URL: t.URL, Title: t.Title,
	}
}

// tabNews tells those who wait for a tab that something has changed.
type tabNews struct {
	mu    sync.Mutex // guards all below
	news  chan struct{}
	first bool // a browser has listed its tabs
}

// changed returns a channel that is closed at the next change.
func (n *tabNews) changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.news == nil {
		n.news = make(chan struct{})
	}
	return n.news
}

// tell wakes those who wait; listed says that a browser has listed its tabs.
func (n *tabNews) tell(listed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first = n.first || listed
	if n.news != nil {
		close(n.news)
		n.news = nil
	}
}

// listed reports whether a browser has ever listed its tabs.
func (n *tabNews) listed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first
}

// place is a target and what decides its rank.
type place struct {
	dispatch.Target
	class int // 0 is the best
	used  float64
}

// places returns the tabs where plugin is live with this hash, and those that
// have to be reloaded for it.
func (b *browser) places(plugin, hash string) (live, reload []place, connected bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	look := func(t wire.TabInfo) {
		p := place{used: t.LastAccessedMs, class: class(t), Target: b.target(t)}
		i := slices.IndexFunc(t.Plugins, func(p wire.TabPlugin) bool { return p.Name == plugin })
		switch {
		case i >= 0 && t.DocumentID != "" && t.Plugins[i].Hash == hash:
			live = append(live, p)
		case i >= 0 || slices.Contains(t.NeedsReload, plugin):
			reload = append(reload, p)
		}
	}
	for id := range b.tabs {
		look(b.tab(id))
	}
	for id, t := range b.before {
		if _, told := b.tabs[id]; !told {
			look(t)
		}
	}
	return live, reload, b.link != nil
}

// class ranks a tab by where the person's eyes are.
func class(t wire.TabInfo) int {
	switch {
	case t.Active && t.Focused:
		return 0
	case t.Active:
		return 1
	case t.Focused:
		return 2
	default:
		return 3
	}
}

// compare returns less than 0 if a goes before b.
func compare(a, b place) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.used, a.used),
		cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.TabID, b.TabID))
}

// rank sorts places, the best first, so that those of one browser stand
// together, the browser with the best place first.
func rank(places []place) []dispatch.Target {
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, compare)
	first := map[string]int{} // the best place of each browser
	for i, p := range places {
		if _, ok := first[p.Browser]; !ok {
			first[p.Browser] = i
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(first[a.Browser], first[b.Browser]) })
	out := make([]dispatch.Target, len(places))
	for i, p := range places {
		out[i] = p.Target
	}
	return out
}
