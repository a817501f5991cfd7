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
	// maxTabs limits how many tabs of one browser are stored.
	maxTabs = 10_000
	// loadTimeout limits how long a call waits for a tab that is loading.
	loadTimeout = 12 * time.Second
	// codeTimeout limits how long a call waits until the browser has added plugin code to a tab.
	codeTimeout = 15 * time.Second
	// reconnectedTabsTime limits how long the hub waits until the worker of a reconnected browser has
	// found the pages that still run adapters.
	reconnectedTabsTime = 2 * time.Second
)

// tabTable stores the tabs of one browser, and whether the browser has the current plugins.
// tabTable keeps the tabs while the link to the browser is lost.
type tabTable struct {
	hub       *Hub
	browserID string

	mu   sync.Mutex // the mutex guards all fields below
	name string
	link *link // the field link is nil while the link is lost
	tabs map[int]wire.TabInfo
	// unsyncedSince is the time of the last event after which the browser may lack the current plugins: the browser
	// connected with a new boot ID, or the plugins changed. A browser counts as synced once it has received the plugins
	// (isSynced) and then listed its tabs (hasListedTabs).
	unsyncedSince                           time.Time
	isSynced, hasListedTabs                 bool
	requestedSyncNumber, answeredSyncNumber int
	syncCount                               int
	hasLoggedPageOutsideSites               bool
	// tabsBeforeReconnect has the tabs with live documents from before a reconnect, keyed by tab ID.
	// tabsBeforeReconnect is cleared after reconnectedTabsTime.
	tabsBeforeReconnect  map[int]wire.TabInfo
	reconnectedTabsTimer *time.Timer
	// The field generation counts how often the browser's link was established or lost.
	generation int
	// navigationTimes maps the ID of a tab to the time when the tab left a document with a live plugin.
	navigationTimes map[int]time.Time
}

func (ts *tabTable) connect(l *link, name string, isNew bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if isNew {
		clear(ts.tabs)
		clear(ts.navigationTimes)
		ts.tabsBeforeReconnect = nil
		ts.startSync()
	}
	ts.name = name
	ts.setLink(l)
	ts.keepTabsBeforeReconnect()
}

func (ts *tabTable) disconnect() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.setLink(nil)
}

// The caller of setLink holds tabTable.mu.
func (ts *tabTable) setLink(l *link) {
	if ts.reconnectedTabsTimer != nil {
		ts.reconnectedTabsTimer.Stop()
		ts.reconnectedTabsTimer = nil
	}
	ts.link = l
	ts.generation++
}

func (ts *tabTable) listTabs() (tabs []wire.TabInfo, syncCount int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.SortedFunc(maps.Values(ts.tabs), func(x, y wire.TabInfo) int { return x.TabID - y.TabID }), ts.syncCount
}

func (ts *tabTable) hasTab(tabID int) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	_, ok := ts.tabs[tabID]
	return ok
}

func (ts *tabTable) isShowingDocument(tabID int, documentID string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return tabShowsDocument(ts.findTab(tabID), documentID)
}

// A list of tabs that arrives on a replaced link is ignored.
func (ts *tabTable) replaceTabs(l *link, tabs []wire.TabInfo) {
	var startReports []AdapterStartReport
	isChanged := false
	defer func() { // this function runs after the lock is released
		if isChanged {
			ts.hub.tabChanges.Publish(true)
		}
		ts.hub.reportAdapterStarts(startReports)
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
	ts.hasListedTabs = ts.hasListedTabs || ts.answeredSyncNumber == ts.requestedSyncNumber
	missingTabs := maps.Clone(ts.tabs)
	for _, t := range tabs {
		delete(missingTabs, t.TabID)
		t = inbound.CleanTab(t)
		ts.storeTab(t)
		startReports = append(startReports, listAdapterStarts(t, ts.name)...)
	}
	for id := range missingTabs {
		ts.removeTab(id)
	}
	isChanged = true
}

// A changed tab that is reported on a replaced link is ignored.
func (ts *tabTable) applyTabChange(l *link, p wire.TabChangedParams) {
	var startReports []AdapterStartReport
	isChanged := false
	defer func() { // this function runs after the lock is released
		if isChanged {
			ts.hub.tabChanges.Publish(false)
		}
		ts.hub.reportAdapterStarts(startReports)
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
		delete(ts.tabsBeforeReconnect, p.TabID)
	case !isKnown && len(ts.tabs) >= maxTabs:
		l.log.Warn().Int("kept", maxTabs).Msg("too many tabs; some are ignored")
	default:
		p.Tab.TabID = p.TabID
		t := inbound.CleanTab(*p.Tab)
		ts.storeTab(t)
		startReports = listAdapterStarts(t, ts.name)
	}
	isChanged = true
}

// After removeDocument, the hub treats the tab as loading until the browser sends tab.changed for the tab.
func (ts *tabTable) removeDocument(l *link, tabID int, documentID string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.tabsBeforeReconnect, tabID)
	t, ok := ts.tabs[tabID]
	if !ok || ts.link != l || !tabShowsDocument(t, documentID) {
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

// A restarted service worker lists its tabs before the pages have reported their adapters. If a document no longer
// exists after the reconnect, the browser rejects calls in the document. The caller of keepTabsBeforeReconnect holds
// tabTable.mu.
func (ts *tabTable) keepTabsBeforeReconnect() {
	for id, t := range ts.tabs {
		if t.DocumentID == "" && len(t.Frames) == 0 {
			continue
		}
		if ts.tabsBeforeReconnect == nil { // if the link is lost twice in a short time, the older list is kept
			ts.tabsBeforeReconnect = map[int]wire.TabInfo{}
		}
		ts.tabsBeforeReconnect[id] = t
	}
	if ts.tabsBeforeReconnect == nil {
		return
	}
	generation := ts.generation
	ts.reconnectedTabsTimer = time.AfterFunc(reconnectedTabsTime, func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		if ts.generation == generation {
			ts.tabsBeforeReconnect = nil
		}
	})
}

// Until a reconnected browser has reported the tab's documents, findTab returns the state from before the reconnect.
// The DocumentID is empty if the tab is unknown or has no live document. The caller of findTab holds tabTable.mu.
func (ts *tabTable) findTab(tabID int) wire.TabInfo {
	t := ts.tabs[tabID]
	if previousTab, ok := ts.tabsBeforeReconnect[tabID]; ok && t.DocumentID == "" && len(t.Frames) == 0 {
		return previousTab
	}
	return t
}

// The type document is a document that a tab or one of its frames shows. The zero value
// represents a tab without a document.
type document struct {
	frameID    int
	documentID string
	url        string
	plugins    []wire.TabPlugin
}

func listDocuments(t wire.TabInfo) []document {
	documents := make([]document, 1, 1+len(t.Frames))
	documents[0] = document{0, t.DocumentID, t.URL, t.Plugins}
	for _, f := range t.Frames {
		documents = append(documents, document{f.FrameID, f.DocumentID, f.URL, f.Plugins})
	}
	return documents
}

func tabShowsDocument(t wire.TabInfo, documentID string) bool {
	return documentID != "" && (t.DocumentID == documentID ||
		slices.ContainsFunc(t.Frames, func(f wire.FrameInfo) bool { return f.DocumentID == documentID }))
}

func (ts *tabTable) markUnsynced() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.startSync()
}

// The caller of startSync holds tabTable.mu.
func (ts *tabTable) startSync() {
	ts.unsyncedSince, ts.isSynced, ts.hasListedTabs = time.Now(), false, false
	ts.requestedSyncNumber++
}

// The caller must call currentSyncNumber before it reads the plugins, and later pass the number to recordSyncAnswer and
// markSynced.
func (ts *tabTable) currentSyncNumber() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.requestedSyncNumber
}

func (ts *tabTable) recordSyncAnswer(l *link, syncTarget int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.link == l {
		ts.answeredSyncNumber = syncTarget
	}
}

func (ts *tabTable) markSynced(l *link, syncTarget int) {
	ts.mu.Lock()
	isCurrent := ts.link == l && ts.requestedSyncNumber == syncTarget
	if isCurrent {
		ts.isSynced = true
		ts.syncCount++
	}
	ts.mu.Unlock()
	if isCurrent {
		ts.hub.tabChanges.Publish(false)
	}
}

// The caller of remainingSyncTime holds tabTable.mu.
func (ts *tabTable) remainingSyncTime(targetChoice dispatch.TargetChoice) time.Duration {
	if ts.isSynced && ts.hasListedTabs || !targetChoice.AllowsBrowser(ts.browserID, ts.name) {
		return 0
	}
	return ts.hub.opts.MaxFirstBrowserWait - time.Since(ts.unsyncedSince)
}

// The caller of isSyncing holds tabTable.mu.
func (ts *tabTable) isSyncing(targetChoice dispatch.TargetChoice) bool {
	return ts.link != nil && !(ts.isSynced && ts.hasListedTabs) && targetChoice.AllowsBrowser(ts.browserID, ts.name)
}

// The caller of storeTab holds tabTable.mu.
func (ts *tabTable) storeTab(t wire.TabInfo) {
	previousTab := ts.tabs[t.TabID]
	ts.tabs[t.TabID] = t
	switch {
	case t.DocumentID != "" || len(t.Loading)+len(t.ArrivingPlugins) == 0:
		delete(ts.navigationTimes, t.TabID)
	case previousTab.DocumentID != "":
		ts.navigationTimes[t.TabID] = time.Now()
	}
}

// The caller of removeTab holds tabTable.mu.
func (ts *tabTable) removeTab(tabID int) {
	delete(ts.tabs, tabID)
	delete(ts.navigationTimes, tabID)
}

// The caller of findNavigatingTabs holds tabTable.mu.
func (ts *tabTable) findNavigatingTabs(targetChoice dispatch.TargetChoice) (navigatingTabs []navigatingTab) {
	if ts.link == nil {
		return nil
	}
	for id, navigationTime := range ts.navigationTimes {
		t := ts.findTab(id)
		p := rankedTarget{lastAccessedAtMs: t.LastAccessedMs, visibilityClass: inbound.VisibilityClass(t), Target: ts.newTarget(t, listDocuments(t)[0])}
		isLoading := slices.Contains(t.Loading, targetChoice.Plugin) || slices.Contains(t.ArrivingPlugins, targetChoice.Plugin)
		if t.DocumentID == "" && isLoading && targetChoice.Allows(p.Target) {
			navigatingTabs = append(navigatingTabs, navigatingTab{p, navigationTime})
		}
	}
	return navigatingTabs
}
