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
	// maxTabs is how many tabs of one browser are known.
	maxTabs = 10_000
	// The longest texts of a tab that are kept, in characters.
	maxURL   = 8192
	maxTitle = 1000
	// loadWait is how long a call waits for a tab that is loading.
	loadWait = 5 * time.Second
	// arriveWait is how long a call waits for code that is on its way into a tab.
	arriveWait = 15 * time.Second
	// settleTime is how long a browser that is back may take to find its pages.
	settleTime = 2 * time.Second
)

// syncTabs replaces all tabs of the browser. Only its current link may.
func (b *browser) syncTabs(l *link, tabs []wire.TabInfo) {
	var starts []Start
	defer func() { b.hub.reportStarts(starts) }() // without the lock
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
		t = tidy(t)
		b.replace(t)
		starts = append(starts, startsIn(t, b.name)...)
	}
	for id := range gone {
		b.forget(id)
	}
	b.hub.tabs.tell(true)
}

// changeTab replaces one tab of the browser. Only its current link may.
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
		b.forget(p.TabID)
		delete(b.before, p.TabID)
	case !there && len(b.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some can't be used")
	default:
		p.Tab.TabID = p.TabID
		t := tidy(*p.Tab)
		b.replace(t)
		starts = startsIn(t, b.name)
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
	if !ok || b.link != l || !shows(t, documentID) {
		return
	}
	if t.DocumentID != documentID {
		t.Frames = slices.DeleteFunc(slices.Clone(t.Frames), func(f wire.FrameInfo) bool { return f.DocumentID == documentID })
		b.replace(t)
		return
	}
	for _, p := range t.Plugins {
		t.Loading = append(t.Loading, p.Name)
	}
	t.DocumentID, t.Plugins, t.Frames = "", nil, nil
	b.replace(t)
}

// settle keeps the documents that were live before the link was lost for
// settleTime: an extension's worker that was started anew lists its tabs before
// their pages have said that they are still there. A run that is sent to a
// document that is really gone is refused by the browser. The caller holds mu.
func (b *browser) settle() {
	for id, t := range b.tabs {
		if t.DocumentID == "" && len(t.Frames) == 0 {
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
	if before, ok := b.before[id]; ok && t.DocumentID == "" && len(t.Frames) == 0 {
		return before
	}
	return t
}

// document is one document of a tab, or none of it.
type document struct {
	frameID int
	id      string
	url     string
	plugins []wire.TabPlugin
}

// documents returns the top document of a tab, whose id may be empty, and the
// frames in which something is live.
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

// isSyncing reports whether the browser has not yet taken the list of plugins, or
// not listed its tabs since.
func (b *browser) isSyncing(want dispatch.Want) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.link != nil && !(b.synced && b.listed) && (want.Browser == "" || want.Browser == b.id || want.Browser == b.name)
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
