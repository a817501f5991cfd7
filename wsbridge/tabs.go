package wsbridge

import (
	"maps"
	"slices"
	"sync"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

const (
	// maxTabs limits the stored tabs of one browser.
	maxTabs = 10_000
	// Limits of the texts of a tab, in characters.
	// loadTimeout limits how long a call waits for a tab that is loading.
	loadTimeout = 5 * time.Second
	// codeTimeout limits how long a call waits for code on its way into a tab.
	codeTimeout = 15 * time.Second
	// settleTime limits how long a reconnected browser may take to find its
	// pages.
	settleTime = 2 * time.Second
)

// tabTable has the tabs of one browser, and whether they are in sync with the plugins.
// tabTable keeps them while the link is lost.
type tabTable struct {
	hub *Hub
	id  string // of the browser

	mu   sync.Mutex // guards all fields below
	name string     // of the browser
	link *link      // nil while it is lost
	tabs map[int]wire.TabInfo
	// arrived is when the browser connected with a new boot ID, or when its
	// plugins changed. The browser is in sync when it has received the plugins
	// (synced) and has listed its tabs since then (listed).
	arrived        time.Time
	synced, listed bool
	// syncs counts how often synced was set.
	syncs int
	// outside is set once the browser has reported a plugin in a page outside the
	// plugin's sites.
	outside bool
	// beforeReturn has the live documents from before a reconnect, until
	// settleTime has passed.
	beforeReturn map[int]wire.TabInfo
	settling     *time.Timer
	// generation counts the changes of link. A timer that was set for an older
	// generation does nothing.
	generation int
	// leftAt is when a tab left a document with a live plugin, by tab, while the
	// next document loads.
	leftAt map[int]time.Time
}

// connect makes l the link of the browser. A browser that restarted has lost its tabs;
// isNew is true for a restarted browser and for a browser that was never connected.
func (ts *tabTable) connect(l *link, name string, isNew bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if isNew {
		clear(ts.tabs)
		clear(ts.leftAt)
		ts.beforeReturn = nil
		ts.arrived, ts.synced, ts.listed = time.Now(), false, false
	}
	ts.name = name
	ts.setLink(l)
	ts.keepDocuments()
}

// disconnect records that the link is lost.
func (ts *tabTable) disconnect() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.setLink(nil)
}

// setLink sets the link and stops the timer of the previous link. The caller holds mu.
func (ts *tabTable) setLink(l *link) {
	if ts.settling != nil {
		ts.settling.Stop()
		ts.settling = nil
	}
	ts.link = l
	ts.generation++
}

// list returns the tabs by ID, and how often the browser was synced.
func (ts *tabTable) list() (tabs []wire.TabInfo, syncs int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.SortedFunc(maps.Values(ts.tabs), func(x, y wire.TabInfo) int { return x.TabID - y.TabID }), ts.syncs
}

// hasTab reports whether the browser has listed a tab.
func (ts *tabTable) hasTab(tabID int) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	_, ok := ts.tabs[tabID]
	return ok
}

// isShowing reports whether a tab shows a document.
func (ts *tabTable) isShowing(tabID int, documentID string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return showsDocument(ts.findTab(tabID), documentID)
}

// replaceAll replaces all tabs of the browser. replaceAll ignores a link that is no
// longer the current one.
func (ts *tabTable) replaceAll(l *link, tabs []wire.TabInfo) {
	var starts []Start
	isChanged := false
	defer func() { // without the lock
		if isChanged {
			ts.hub.tabChanges.publish(true)
		}
		ts.hub.reportStarts(starts)
	}()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link != l {
		return
	}
	if len(tabs) > maxTabs {
		l.log.Warn().Int("tabs", len(tabs)).Int("kept", maxTabs).Msg("too many tabs; some are ignored")
		tabs = tabs[:maxTabs]
	}
	ts.listed = ts.listed || l.hasAnswered
	gone := maps.Clone(ts.tabs)
	for _, t := range tabs {
		delete(gone, t.TabID)
		t = inbound.Tab(t)
		ts.store(t)
		starts = append(starts, startsIn(t, ts.name)...)
	}
	for id := range gone {
		ts.remove(id)
	}
	isChanged = true
}

// changeTab replaces one tab of the browser. changeTab ignores a link that is no longer the
// current one.
func (ts *tabTable) changeTab(l *link, p wire.TabChangedParams) {
	var starts []Start
	isChanged := false
	defer func() { // without the lock
		if isChanged {
			ts.hub.tabChanges.publish(false)
		}
		ts.hub.reportStarts(starts)
	}()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link != l {
		return
	}
	_, there := ts.tabs[p.TabID]
	switch {
	case p.Tab == nil:
		ts.remove(p.TabID)
		delete(ts.beforeReturn, p.TabID)
	case !there && len(ts.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some are ignored")
	default:
		p.Tab.TabID = p.TabID
		t := inbound.Tab(*p.Tab)
		ts.store(t)
		starts = startsIn(t, ts.name)
	}
	isChanged = true
}

// documentGone removes a document that an error has reported as gone before its
// tab.changed arrived. Until tab.changed arrives, the tab counts as loading.
func (ts *tabTable) documentGone(l *link, tabID int, documentID string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.beforeReturn, tabID)
	t, ok := ts.tabs[tabID]
	if !ok || ts.link != l || !showsDocument(t, documentID) {
		return
	}
	if t.DocumentID != documentID {
		t.Frames = slices.DeleteFunc(slices.Clone(t.Frames), func(f wire.FrameInfo) bool { return f.DocumentID == documentID })
		ts.store(t)
		return
	}
	for _, p := range t.Plugins {
		t.Loading = append(t.Loading, p.Name)
	}
	t.DocumentID, t.Plugins, t.Frames = "", nil, nil
	ts.store(t)
}

// keepDocuments keeps the documents that were live before the link was lost for
// settleTime: a restarted service worker lists its tabs before their pages have
// reported. If such a document is gone, the browser rejects the run. The caller
// holds mu.
func (ts *tabTable) keepDocuments() {
	for id, t := range ts.tabs {
		if t.DocumentID == "" && len(t.Frames) == 0 {
			continue
		}
		if ts.beforeReturn == nil { // not nil if the link was lost twice within settleTime
			ts.beforeReturn = map[int]wire.TabInfo{}
		}
		ts.beforeReturn[id] = t
	}
	if ts.beforeReturn == nil {
		return
	}
	generation := ts.generation
	ts.settling = time.AfterFunc(settleTime, func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		if ts.generation == generation {
			ts.beforeReturn = nil
		}
	})
}

// findTab returns a tab, with its document from before a reconnect if needed. The
// result has no document if there is none. The caller holds mu.
func (ts *tabTable) findTab(id int) wire.TabInfo {
	t := ts.tabs[id]
	if before, ok := ts.beforeReturn[id]; ok && t.DocumentID == "" && len(t.Frames) == 0 {
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

// documentsOf returns the top document of a tab, whose ID may be empty, and the
// frames with live plugins.
func documentsOf(t wire.TabInfo) []document {
	docs := make([]document, 1, 1+len(t.Frames))
	docs[0] = document{0, t.DocumentID, t.URL, t.Plugins}
	for _, f := range t.Frames {
		docs = append(docs, document{f.FrameID, f.DocumentID, f.URL, f.Plugins})
	}
	return docs
}

// showsDocument reports whether a tab shows the document with this id.
func showsDocument(t wire.TabInfo, documentID string) bool {
	return documentID != "" && slices.ContainsFunc(documentsOf(t), func(d document) bool { return d.id == documentID })
}

// markUnsynced records that the plugins have changed: until the browser has
// received them and has listed its tabs, it is unknown where they are live.
func (ts *tabTable) markUnsynced() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.arrived, ts.synced, ts.listed = time.Now(), false, false
}

// markSynced records that a plugin.sync has ended. markSynced ignores a link that is no
// longer the current one.
func (ts *tabTable) markSynced(l *link) {
	ts.mu.Lock()
	isCurrent := ts.link == l
	if isCurrent {
		ts.synced = true
		ts.syncs++
	}
	ts.mu.Unlock()
	if isCurrent {
		ts.hub.tabChanges.publish(false)
	}
}

// syncWait returns how much longer a call may wait for the first sync of a
// browser that may have what the call wants.
func (ts *tabTable) syncWait(want dispatch.TargetChoice) time.Duration {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.synced && ts.listed || want.Browser != "" && want.Browser != ts.id && want.Browser != ts.name {
		return 0
	}
	return ts.hub.opts.FirstWait - time.Since(ts.arrived)
}

// isSyncing reports whether a wanted browser has not received the plugins yet,
// or has not listed its tabs since.
func (ts *tabTable) isSyncing(want dispatch.TargetChoice) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.link != nil && !(ts.synced && ts.listed) && (want.Browser == "" || want.Browser == ts.id || want.Browser == ts.name)
}

// store stores a tab. If a plugin was live in its document and the next
// document is loading, store also stores the time. The caller holds mu.
func (ts *tabTable) store(t wire.TabInfo) {
	before := ts.tabs[t.TabID]
	ts.tabs[t.TabID] = t
	switch {
	case t.DocumentID != "" || len(t.Loading)+len(t.Arriving) == 0:
		delete(ts.leftAt, t.TabID)
	case before.DocumentID != "":
		ts.leftAt[t.TabID] = time.Now()
	}
}

// remove removes a tab. The caller holds mu.
func (ts *tabTable) remove(id int) {
	delete(ts.tabs, id)
	delete(ts.leftAt, id)
}

// nextDocumentWait returns how much longer a call should wait for the next document of
// a tab. nextDocumentWait applies to a tab that was live a moment ago and ranks before
// all of live: an agent that caused a page to load means that page, not another tab.
// The wait ends after loadTimeout. The caller does not hold mu.
func (ts *tabTable) nextDocumentWait(want dispatch.TargetChoice, live []place) (left time.Duration) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link == nil {
		return 0
	}
	for id, at := range ts.leftAt {
		t := ts.findTab(id)
		p := place{used: t.LastAccessedMs, class: visibilityClass(t), Target: ts.targetOf(t, documentsOf(t)[0])}
		if t.DocumentID != "" || !slices.Contains(t.Loading, want.Plugin) && !slices.Contains(t.Arriving, want.Plugin) || !want.Allows(p.Target) {
			continue
		}
		first := !slices.ContainsFunc(live, func(other place) bool {
			if !want.Allows(other.Target) || other.Readiness == dispatch.NotReady {
				return false
			}
			other.Readiness = p.Readiness
			return comparePlaces(other, p) < 0
		})
		if first {
			left = max(left, loadTimeout-time.Since(at))
		}
	}
	return left
}

// tabChanges wakes the calls that wait for a tab.
type tabChanges struct {
	mu    sync.Mutex // guards all fields below
	news  chan struct{}
	first bool // a browser has listed its tabs
}

// nextChange returns a channel that is closed at the next change.
func (n *tabChanges) nextChange() <-chan struct{} {
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

// hasListed reports whether a browser has ever listed its tabs.
func (n *tabChanges) hasListed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first
}
