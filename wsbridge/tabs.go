package wsbridge

import (
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// maxTabs limits the stored tabs of one browser.
	maxTabs = 10_000
	// Limits of the texts of a tab, in characters.
	maxURL   = 8192
	maxTitle = 1000
	// loadTimeout limits how long a call waits for a tab that is loading.
	loadTimeout = 5 * time.Second
	// codeTimeout limits how long a call waits for code on its way into a tab.
	codeTimeout = 15 * time.Second
	// settleTime limits how long a reconnected browser may take to find its
	// pages.
	settleTime = 2 * time.Second
)

// syncTabs replaces all tabs of the browser. It ignores a link that is no
// longer the current one.
func (b *browser) syncTabs(l *link, tabs []wire.TabInfo) {
	var starts []Start
	defer func() { b.hub.reportStarts(starts) }() // without the lock
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != l {
		return
	}
	if len(tabs) > maxTabs {
		l.log.Warn().Int("tabs", len(tabs)).Int("kept", maxTabs).Msg("too many tabs; some are ignored")
		tabs = tabs[:maxTabs]
	}
	b.listed = b.listed || l.hasAnswered
	gone := maps.Clone(b.tabs)
	for _, t := range tabs {
		delete(gone, t.TabID)
		t = tidy(t)
		b.storeTab(t)
		starts = append(starts, startsIn(t, b.name)...)
	}
	for id := range gone {
		b.removeTab(id)
	}
	b.hub.tabChanges.publish(true)
}

// changeTab replaces one tab of the browser. It ignores a link that is no
// longer the current one.
func (b *browser) changeTab(l *link, p wire.TabChangedParams) {
	var starts []Start
	defer func() { b.hub.reportStarts(starts) }() // without the lock
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != l {
		return
	}
	_, there := b.tabs[p.TabID]
	switch {
	case p.Tab == nil:
		b.removeTab(p.TabID)
		delete(b.beforeReturn, p.TabID)
	case !there && len(b.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some are ignored")
	default:
		p.Tab.TabID = p.TabID
		t := tidy(*p.Tab)
		b.storeTab(t)
		starts = startsIn(t, b.name)
	}
	b.hub.tabChanges.publish(false)
}

// documentGone removes a document that an error has reported as gone before its
// tab.changed arrived. Until then the tab counts as loading.
func (b *browser) documentGone(l *link, tabID int, documentID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.beforeReturn, tabID)
	t, ok := b.tabs[tabID]
	if !ok || b.link != l || !shows(t, documentID) {
		return
	}
	if t.DocumentID != documentID {
		t.Frames = slices.DeleteFunc(slices.Clone(t.Frames), func(f wire.FrameInfo) bool { return f.DocumentID == documentID })
		b.storeTab(t)
		return
	}
	for _, p := range t.Plugins {
		t.Loading = append(t.Loading, p.Name)
	}
	t.DocumentID, t.Plugins, t.Frames = "", nil, nil
	b.storeTab(t)
}

// keepDocuments keeps the documents that were live before the link was lost for
// settleTime: a restarted service worker lists its tabs before their pages have
// reported. If such a document is gone, the browser rejects the run. The caller
// holds mu.
func (b *browser) keepDocuments() {
	for id, t := range b.tabs {
		if t.DocumentID == "" && len(t.Frames) == 0 {
			continue
		}
		if b.beforeReturn == nil { // not nil if the link was lost twice within settleTime
			b.beforeReturn = map[int]wire.TabInfo{}
		}
		b.beforeReturn[id] = t
	}
	if b.beforeReturn == nil {
		return
	}
	generation := b.generation
	b.settling = time.AfterFunc(settleTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.generation == generation {
			b.beforeReturn = nil
		}
	})
}

// tab returns a tab, with its document from before a reconnect if needed. The
// result has no document if there is none. The caller holds mu.
func (b *browser) tab(id int) wire.TabInfo {
	t := b.tabs[id]
	if before, ok := b.beforeReturn[id]; ok && t.DocumentID == "" && len(t.Frames) == 0 {
		return before
	}
	return t
}

// document is one document of a tab, or its zero value.
type document struct {
	frameID int
	id      string
	url     string
	plugins []wire.TabPlugin
}

// documents returns the top document of a tab, whose ID may be empty, and the
// frames with live plugins.
func documents(t wire.TabInfo) []document {
	docs := make([]document, 1, 1+len(t.Frames))
	docs[0] = document{0, t.DocumentID, t.URL, t.Plugins}
	for _, f := range t.Frames {
		docs = append(docs, document{f.FrameID, f.DocumentID, f.URL, f.Plugins})
	}
	return docs
}

// shows reports whether a tab shows the document with this id.
func shows(t wire.TabInfo, documentID string) bool {
	return documentID != "" && slices.ContainsFunc(documents(t), func(d document) bool { return d.id == documentID })
}

// markUnsynced records that the plugins have changed: until the browser has
// received them and has listed its tabs, it is unknown where they are live.
func (b *browser) markUnsynced() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived, b.synced, b.listed = time.Now(), false, false
}

// syncWait returns how much longer a call may wait for the first sync of a
// browser that may have what the call wants.
func (b *browser) syncWait(want dispatch.Want) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.synced && b.listed || want.Browser != "" && want.Browser != b.id && want.Browser != b.name {
		return 0
	}
	return b.hub.opts.FirstWait - time.Since(b.arrived)
}

// isSyncing reports whether a wanted browser has not received the plugins yet,
// or has not listed its tabs since.
func (b *browser) isSyncing(want dispatch.Want) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.link != nil && !(b.synced && b.listed) && (want.Browser == "" || want.Browser == b.id || want.Browser == b.name)
}

// tabChanges wakes the calls that wait for a tab.
type tabChanges struct {
	mu    sync.Mutex // guards all below
	news  chan struct{}
	first bool // a browser has listed its tabs
}

// changed returns a channel that is closed at the next change.
func (n *tabChanges) changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.news == nil {
		n.news = make(chan struct{})
	}
	return n.news
}

// publish wakes the waiting calls; listed is true if a browser has listed all
// its tabs.
func (n *tabChanges) publish(listed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first = n.first || listed
	if n.news != nil {
		close(n.news)
		n.news = nil
	}
}

// listed reports whether a browser has ever listed its tabs.
func (n *tabChanges) listed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first
}
