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
	// settleTime limits how long a reconnected browser may take to find its pages.
	settleTime = 2 * time.Second
)

// tabTable has the tabs of one browser, and whether they are in sync with the plugins,
// and keeps them while the link is lost.
type tabTable struct {
	hub       *Hub
	browserID string // the ID of the browser

	mu   sync.Mutex // guards all fields below
	name string     // the name of the browser
	link *link      // nil while the link is lost
	tabs map[int]wire.TabInfo
	// unsyncedSince is when the browser connected with a new boot ID, or when the
	// plugins changed. The browser is in sync when it has received the plugins
	// (isSynced) and has listed its tabs since then (hasListedTabs).
	unsyncedSince           time.Time
	isSynced, hasListedTabs bool
	// syncCount counts how often isSynced was set.
	syncCount int
	// hasReportedOutside is set once the browser has reported a plugin in a page outside
	// the plugin's sites.
	hasReportedOutside bool
	// beforeReturn has the live documents from before a reconnect, until
	// settleTime has passed.
	beforeReturn map[int]wire.TabInfo
	settleTimer  *time.Timer
	// generation counts the changes of the link. A timer that was set for an older
	// generation does nothing.
	generation int
	// leftDocumentAt is when a tab left a document with a live plugin, by tab, while the
	// next document loads.
	leftDocumentAt map[int]time.Time
}

// connect makes l the link of the browser. A browser that restarted has lost its tabs;
// isNewFailure is true for a restarted browser and for a browser that was never connected.
func (ts *tabTable) connect(l *link, name string, isNew bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if isNew {
		clear(ts.tabs)
		clear(ts.leftDocumentAt)
		ts.beforeReturn = nil
		ts.unsyncedSince, ts.isSynced, ts.hasListedTabs = time.Now(), false, false
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
	if ts.settleTimer != nil {
		ts.settleTimer.Stop()
		ts.settleTimer = nil
	}
	ts.link = l
	ts.generation++
}

// listTabs returns the tabs by ID, and how often the browser was synced.
func (ts *tabTable) listTabs() (tabs []wire.TabInfo, syncCount int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.SortedFunc(maps.Values(ts.tabs), func(x, y wire.TabInfo) int { return x.TabID - y.TabID }), ts.syncCount
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

// replaceTabs replaces all tabs of the browser. The tabs of a link that is no longer
// current are ignored.
func (ts *tabTable) replaceTabs(l *link, tabs []wire.TabInfo) {
	var starts []AdapterStart
	isChanged := false
	defer func() { // runs after the lock is released
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
	ts.hasListedTabs = ts.hasListedTabs || l.hasAnswered
	missingTabs := maps.Clone(ts.tabs)
	for _, t := range tabs {
		delete(missingTabs, t.TabID)
		t = inbound.CleanTab(t)
		ts.storeTab(t)
		starts = append(starts, listAdapterStarts(t, ts.name)...)
	}
	for id := range missingTabs {
		ts.removeTab(id)
	}
	isChanged = true
}

// changeTab replaces one tab of the browser and ignores a link that is no longer
// current.
func (ts *tabTable) changeTab(l *link, p wire.TabChangedParams) {
	var starts []AdapterStart
	isChanged := false
	defer func() { // runs after the lock is released
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
	_, isKnown := ts.tabs[p.TabID]
	switch {
	case p.Tab == nil:
		ts.removeTab(p.TabID)
		delete(ts.beforeReturn, p.TabID)
	case !isKnown && len(ts.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some are ignored")
	default:
		p.Tab.TabID = p.TabID
		t := inbound.CleanTab(*p.Tab)
		ts.storeTab(t)
		starts = listAdapterStarts(t, ts.name)
	}
	isChanged = true
}

// removeDocument removes a document that an error has reported as gone before its
// tab.changed arrived. Until tab.changed arrives, the tab counts as loading.
func (ts *tabTable) removeDocument(l *link, tabID int, documentID string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.beforeReturn, tabID)
	t, ok := ts.tabs[tabID]
	if !ok || ts.link != l || !showsDocument(t, documentID) {
		return
	}
	if t.DocumentID != documentID {
		t.Frames = slices.DeleteFunc(slices.Clone(t.Frames), func(f wire.FrameInfo) bool { return f.DocumentID == documentID })
		ts.storeTab(t)
		return
	}
	for _, p := range t.Plugins {
		t.Loading = append(t.Loading, p.Name)
	}
	t.DocumentID, t.Plugins, t.Frames = "", nil, nil
	ts.storeTab(t)
}

// keepDocuments keeps the documents that were live before the link was lost for
// settleTime: a restarted service worker lists its tabs before their pages have
// reported. The browser rejects a run in a document that is gone. The caller holds mu.
func (ts *tabTable) keepDocuments() {
	for id, t := range ts.tabs {
		if t.DocumentID == "" && len(t.Frames) == 0 {
			continue
		}
		if ts.beforeReturn == nil { // keeps older entries if the link was lost twice within settleTime
			ts.beforeReturn = map[int]wire.TabInfo{}
		}
		ts.beforeReturn[id] = t
	}
	if ts.beforeReturn == nil {
		return
	}
	generation := ts.generation
	ts.settleTimer = time.AfterFunc(settleTime, func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		if ts.generation == generation {
			ts.beforeReturn = nil
		}
	})
}

// findTab returns a tab, with its document from before a reconnect if needed. The result
// has no DocumentID if the tab is unknown or has no live document. The caller holds mu.
func (ts *tabTable) findTab(tabID int) wire.TabInfo {
	t := ts.tabs[tabID]
	if earlier, ok := ts.beforeReturn[tabID]; ok && t.DocumentID == "" && len(t.Frames) == 0 {
		return earlier
	}
	return t
}

// document is one document of a tab; the zero value if the tab has none.
type document struct {
	frameID    int
	documentID string
	url        string
	plugins    []wire.TabPlugin
}

// documentsOf returns the top document of a tab, whose ID may be empty, and the
// frames with live plugins.
func documentsOf(t wire.TabInfo) []document {
	documents := make([]document, 1, 1+len(t.Frames))
	documents[0] = document{0, t.DocumentID, t.URL, t.Plugins}
	for _, f := range t.Frames {
		documents = append(documents, document{f.FrameID, f.DocumentID, f.URL, f.Plugins})
	}
	return documents
}

// showsDocument reports whether a tab shows the document with this id.
func showsDocument(t wire.TabInfo, documentID string) bool {
	return documentID != "" && (t.DocumentID == documentID ||
		slices.ContainsFunc(t.Frames, func(f wire.FrameInfo) bool { return f.DocumentID == documentID }))
}

// markUnsynced records that the plugins have changed: until the browser has received
// them and has listed its tabs, it is unknown in which tabs they run.
func (ts *tabTable) markUnsynced() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.unsyncedSince, ts.isSynced, ts.hasListedTabs = time.Now(), false, false
}

// markSynced records that a plugin.sync has ended. markSynced ignores a link that is no
// longer current.
func (ts *tabTable) markSynced(l *link) {
	ts.mu.Lock()
	isCurrent := ts.link == l
	if isCurrent {
		ts.isSynced = true
		ts.syncCount++
	}
	ts.mu.Unlock()
	if isCurrent {
		ts.hub.tabChanges.publish(false)
	}
}

// syncWait returns how much longer a call may wait for the first sync of a
// browser that may have what the call wants.
func (ts *tabTable) syncWait(choice dispatch.TargetChoice) time.Duration {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.isSynced && ts.hasListedTabs || choice.Browser != "" && choice.Browser != ts.browserID && choice.Browser != ts.name {
		return 0
	}
	return ts.hub.opts.FirstBrowserWait - time.Since(ts.unsyncedSince)
}

// isSyncing reports whether a wanted browser has not received the plugins yet,
// or has not listed its tabs since.
func (ts *tabTable) isSyncing(choice dispatch.TargetChoice) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.link != nil && !(ts.isSynced && ts.hasListedTabs) && (choice.Browser == "" || choice.Browser == ts.browserID || choice.Browser == ts.name)
}

// storeTab stores a tab. If a plugin was live in its document and the next
// document is loading, store also stores the time. The caller holds mu.
func (ts *tabTable) storeTab(t wire.TabInfo) {
	earlier := ts.tabs[t.TabID]
	ts.tabs[t.TabID] = t
	switch {
	case t.DocumentID != "" || len(t.Loading)+len(t.Arriving) == 0:
		delete(ts.leftDocumentAt, t.TabID)
	case earlier.DocumentID != "":
		ts.leftDocumentAt[t.TabID] = time.Now()
	}
}

// removeTab removes a tab. The caller holds mu.
func (ts *tabTable) removeTab(tabID int) {
	delete(ts.tabs, tabID)
	delete(ts.leftDocumentAt, tabID)
}

// nextDocumentWait returns how much longer a call should wait for the next document of
// a tab. nextDocumentWait applies to a tab that was live a moment ago and ranks before
// all of live: an agent that caused a page to load means that page, not another tab.
// The wait ends after loadTimeout. The caller does not hold mu.
func (ts *tabTable) nextDocumentWait(choice dispatch.TargetChoice, live []rankedTarget) (remaining time.Duration) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link == nil {
		return 0
	}
	for id, leftAt := range ts.leftDocumentAt {
		t := ts.findTab(id)
		p := rankedTarget{lastAccessedMs: t.LastAccessedMs, visibility: visibilityClass(t), Target: ts.newTarget(t, documentsOf(t)[0])}
		if t.DocumentID != "" || !slices.Contains(t.Loading, choice.Plugin) && !slices.Contains(t.Arriving, choice.Plugin) || !choice.Allows(p.Target) {
			continue
		}
		isBest := !slices.ContainsFunc(live, func(other rankedTarget) bool {
			if !choice.Allows(other.Target) || other.Readiness == dispatch.NotReady {
				return false
			}
			other.Readiness = p.Readiness
			return compareTargets(other, p) < 0
		})
		if isBest {
			remaining = max(remaining, loadTimeout-time.Since(leftAt))
		}
	}
	return remaining
}

// tabChanges wakes the calls that wait for a tab.
type tabChanges struct {
	mu            sync.Mutex // guards all fields below
	changed       chan struct{}
	hasListedTabs bool // a browser has listed its tabs
}

// nextChange returns a channel that is closed at the next change.
func (n *tabChanges) nextChange() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.changed == nil {
		n.changed = make(chan struct{})
	}
	return n.changed
}

// publish wakes the waiting calls; isFullList is true if a browser has listed all its
// tabs.
func (n *tabChanges) publish(isFullList bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hasListedTabs = n.hasListedTabs || isFullList
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// hasListed reports whether a browser has ever listed its tabs.
func (n *tabChanges) hasListed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hasListedTabs
}
