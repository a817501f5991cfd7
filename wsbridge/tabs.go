package wsbridge

import (
	"cmp"
	"context"
	"slices"
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
	clear(b.tabs)
	for _, t := range tabs {
		b.tabs[t.TabID] = tidy(t)
	}
	b.hub.listed.Do(func() { close(b.hub.firstTabs) })
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
		delete(b.tabs, p.TabID)
		delete(b.before, p.TabID)
	case !there && len(b.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some can't be used")
	default:
		p.Tab.TabID = p.TabID
		b.tabs[p.TabID] = tidy(*p.Tab)
	}
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

func tidy(t wire.TabInfo) wire.TabInfo {
	t.URL, t.Title = clean(t.URL, maxURL), clean(t.Title, maxTitle)
	return t
}

// Targets implements dispatch.Bridge. A browser whose link is lost counts as
// connected for the grace period, but is not offered while one that is there
// could run the plugin: it may have been closed for good.
//
// In the first moments of the server, Targets waits for the first browser to
// list its tabs: browsers that knew the last server look for this one each
// second, and a client that has just started the server should find them.
func (h *Hub) Targets(ctx context.Context, plugin string) dispatch.Targets {
	h.awaitFirst(ctx)
	h.mu.Lock()
	hash, listed := h.hashes[plugin]
	h.mu.Unlock()
	var out dispatch.Targets
	var live, away, reload []place
	for _, b := range h.list() {
		out.Browsers++
		if !listed {
			continue
		}
		l, r, connected := b.places(plugin, hash)
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
	out.Live, out.NeedReload = rank(live), rank(reload)
	return out
}

// awaitFirst returns when a browser has listed its tabs, Options.FirstWait after
// the start of the hub, or when ctx ends.
func (h *Hub) awaitFirst(ctx context.Context) {
	left := h.opts.FirstWait - time.Since(h.started)
	if left <= 0 {
		return
	}
	over := time.NewTimer(left)
	defer over.Stop()
	select {
	case <-h.firstTabs:
	case <-over.C:
	case <-ctx.Done():
	}
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
		p := place{used: t.LastAccessedMs, class: class(t), Target: dispatch.Target{
			Browser: b.id, BrowserName: b.name, TabID: t.TabID, DocumentID: t.DocumentID, URL: t.URL, Title: t.Title,
		}}
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

// rank sorts places, the best first, so that those of one browser stand
// together, the browser with the best place first.
func rank(places []place) []dispatch.Target {
	if len(places) == 0 {
		return nil
	}
	better := func(a, b place) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.used, a.used),
			cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.TabID, b.TabID))
	}
	slices.SortFunc(places, better)
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
