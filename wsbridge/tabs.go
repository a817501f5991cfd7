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
	// loadTimeout limits how long a call waits for a tab that is loading.
	loadTimeout = 5 * time.Second
	// codeTimeout limits how long a call waits for plugin code that the browser is
	// adding to a tab.
	codeTimeout = 15 * time.Second
	// settleTime limits how long a reconnected browser may take to find the pages that
	// still run adapters.
	settleTime = 2 * time.Second
)

// tabTable has the tabs of one browser, and whether the browser has the current
// plugins. The tabs are kept while the link is lost.
type tabTable struct {
	hub       *Hub
	browserID string // the ID of the browser

	mu   sync.Mutex // mu guards all fields below
	name string     // the name of the browser
	link *link      // nil while the link is lost
	tabs map[int]wire.TabInfo
	// unsyncedSince is when the browser connected with a new boot ID, or when the
	// plugins changed. A browser is in sync when it has received the plugins (isSynced)
	// and then listed its tabs (hasListedTabs).
	unsyncedSince           time.Time
	isSynced, hasListedTabs bool
	// syncTarget counts the changes that set unsyncedSince. answeredTarget is the
	// syncTarget of the newest plugin.sync that the browser has answered. If the numbers
	// differ, a list of tabs may be based on older plugins.
	syncTarget, answeredTarget int
	// syncCount counts how often isSynced was set.
	syncCount int
	// hasReportedOutside is set once the browser has reported a plugin in a page outside
	// the plugin's sites.
	hasReportedOutside bool
	// beforeReturn has the live documents from before a reconnect, until
	// settleTime has passed.
	beforeReturn map[int]wire.TabInfo
	settleTimer  *time.Timer
	// generation counts the changes of the field link. A timer does nothing if
	// generation has changed since the timer was set.
	generation int
	// leftDocumentAt is when a tab left a document with a live plugin, by tab, while the
	// next document loads.
	leftDocumentAt map[int]time.Time
}

// connect makes l the link of the browser. A browser that restarted has lost its tabs.
// isNew is true for a restarted browser and for a browser that was never connected.
func (ts *tabTable) connect(l *link, name string, isNew bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if isNew {
		clear(ts.tabs)
		clear(ts.leftDocumentAt)
		ts.beforeReturn = nil
		ts.startSync()
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

// setLink sets the link and stops the timer of the previous link. The caller holds
// tabTable.mu.
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

// replaceTabs replaces all tabs of the browser. replaceTabs ignores the tabs of a link
// that is no longer current.
func (ts *tabTable) replaceTabs(l *link, tabs []wire.TabInfo) {
	var starts []AdapterStart
	isChanged := false
	defer func() { // the deferred function runs after the lock is released
		if isChanged {
			ts.hub.tabChanges.Publish(true)
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
	ts.hasListedTabs = ts.hasListedTabs || ts.answeredTarget == ts.syncTarget
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
	defer func() { // the deferred function runs after the lock is released
		if isChanged {
			ts.hub.tabChanges.Publish(false)
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

// removeDocument removes a document that is gone according to an error of a run, before
// a tab.changed arrives. The tab of a removed document counts as loading until a
// tab.changed arrives.
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

// keepDocuments keeps for settleTime the documents that were live before the link was
// lost. A restarted service worker lists its tabs before the pages have reported their
// adapters. The browser rejects a run in a kept document that no longer exists. The
// caller holds tabTable.mu.
func (ts *tabTable) keepDocuments() {
	for id, t := range ts.tabs {
		if t.DocumentID == "" && len(t.Frames) == 0 {
			continue
		}
		if ts.beforeReturn == nil { // keep older entries if the link was lost twice within settleTime
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

// findTab returns a tab. Until a reconnected browser has reported the documents of the
// tab, findTab returns the tab as it was before the reconnect. The returned tab has no
// DocumentID if the tab is unknown or has no live document. The caller holds tabTable.mu.
func (ts *tabTable) findTab(tabID int) wire.TabInfo {
	t := ts.tabs[tabID]
	if earlier, ok := ts.beforeReturn[tabID]; ok && t.DocumentID == "" && len(t.Frames) == 0 {
		return earlier
	}
	return t
}

// document is one document of a tab, or the zero value for a tab without a document.
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

// showsDocument reports whether a tab shows the document with the given ID.
func showsDocument(t wire.TabInfo, documentID string) bool {
	return documentID != "" && (t.DocumentID == documentID ||
		slices.ContainsFunc(t.Frames, func(f wire.FrameInfo) bool { return f.DocumentID == documentID }))
}

// markUnsynced records that the plugins have changed. After a change of the plugins,
// the browser receives the plugins and then lists the tabs in which the plugins run.
func (ts *tabTable) markUnsynced() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.startSync()
}

// startSync records that the browser does not have the current plugins. The caller has
// locked tabTable.mu.
func (ts *tabTable) startSync() {
	ts.unsyncedSince, ts.isSynced, ts.hasListedTabs = time.Now(), false, false
	ts.syncTarget++
}

// currentSyncTarget returns the number of the current plugins for markAnswered and
// markSynced. A caller must call currentSyncTarget before it reads the plugins.
func (ts *tabTable) currentSyncTarget() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.syncTarget
}

// markAnswered records that the browser has answered the plugin.sync with a syncTarget.
// markAnswered ignores a link that was replaced.
func (ts *tabTable) markAnswered(l *link, syncTarget int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link == l {
		ts.answeredTarget = syncTarget
	}
}

// markSynced records that the browser has received the plugins of a syncTarget.
// markSynced ignores a link that was replaced, and plugins that have changed since.
func (ts *tabTable) markSynced(l *link, syncTarget int) {
	ts.mu.Lock()
	isCurrent := ts.link == l && ts.syncTarget == syncTarget
	if isCurrent {
		ts.isSynced = true
		ts.syncCount++
	}
	ts.mu.Unlock()
	if isCurrent {
		ts.hub.tabChanges.Publish(false)
	}
}

// syncWait returns how much longer a call may wait for the first sync of a browser that
// the call allows.
func (ts *tabTable) syncWait(choice dispatch.TargetChoice) time.Duration {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.isSynced && ts.hasListedTabs || choice.Browser != "" && choice.Browser != ts.browserID && choice.Browser != ts.name {
		return 0
	}
	return ts.hub.opts.FirstBrowserWait - time.Since(ts.unsyncedSince)
}

// isSyncing reports whether a browser that the call allows has not received the plugins
// or has not listed its tabs.
func (ts *tabTable) isSyncing(choice dispatch.TargetChoice) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.link != nil && !(ts.isSynced && ts.hasListedTabs) && (choice.Browser == "" || choice.Browser == ts.browserID || choice.Browser == ts.name)
}

// storeTab stores a tab that the browser has reported. If the tab has left a document
// with a live plugin and is loading, storeTab also stores the time. The caller holds
// tabTable.mu.
func (ts *tabTable) storeTab(t wire.TabInfo) {
	earlier := ts.tabs[t.TabID]
	ts.tabs[t.TabID] = t
	switch {
	case t.DocumentID != "" || len(t.Loading)+len(t.ArrivingPlugins) == 0:
		delete(ts.leftDocumentAt, t.TabID)
	case earlier.DocumentID != "":
		ts.leftDocumentAt[t.TabID] = time.Now()
	}
}

// removeTab removes a tab of the browser from the tabTable. The caller holds
// tabTable.mu.
func (ts *tabTable) removeTab(tabID int) {
	delete(ts.tabs, tabID)
	delete(ts.leftDocumentAt, tabID)
}

// nextDocumentWait returns how much longer a call should wait for the next document of
// a tab. A call waits only for a tab that had a live plugin a moment ago and ranks
// before all live targets. An agent that made a tab load a page wants to use that page.
// The wait for the next document ends after loadTimeout. The caller must not hold
// tabTable.mu.
func (ts *tabTable) nextDocumentWait(choice dispatch.TargetChoice, live []rankedTarget) (remaining time.Duration) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link == nil {
		return 0
	}
	for id, leftAt := range ts.leftDocumentAt {
		t := ts.findTab(id)
		p := rankedTarget{lastAccessedMs: t.LastAccessedMs, visibility: inbound.VisibilityClass(t), Target: ts.newTarget(t, documentsOf(t)[0])}
		if t.DocumentID != "" || !slices.Contains(t.Loading, choice.Plugin) && !slices.Contains(t.ArrivingPlugins, choice.Plugin) || !choice.Allows(p.Target) {
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
