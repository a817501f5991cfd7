package browser

import (
	"encoding/json"
	"maps"
	"sync"

	"opentabs/dispatch"
	"opentabs/wire"
)

// maxTabs limits the number of tabs whose opener a tabTable stores.
const maxTabs = 10_000

// tabKey identifies a tab: the ID of its browser, and the ID of the tab in this browser.
type tabKey struct {
	browser string
	tabID   int
}

// tabTable stores which tabs, windows and downloads each client has opened or selected.
type tabTable struct {
	holds *Holds

	mu sync.Mutex // guards all fields below
	// currentTabs maps each clientKey to the tab that the client opened or selected last.
	currentTabs map[string]tabKey
	// browserNames maps the ID of each browser in currentTabs to the name of the browser.
	browserNames map[string]string
	// openers maps each tab to the client that has opened the tab.
	openers map[tabKey]string
	// windowOpeners maps each window to the client that has opened the window.
	windowOpeners map[windowKey]string
	// listedWindows are the windows in the last result of browser_windows.
	listedWindows map[windowKey]browserWindow
	// downloadStarters maps each download to the client that has started the download.
	downloadStarters map[downloadKey]string
}

func newTabs(holds *Holds) *tabTable {
	return &tabTable{holds: holds, currentTabs: map[string]tabKey{}, browserNames: map[string]string{}, openers: map[tabKey]string{}, windowOpeners: map[windowKey]string{}, listedWindows: map[windowKey]browserWindow{},
		downloadStarters: map[downloadKey]string{}}
}

// clientKey returns the key of a client: its session, or its name if all clients with
// this name share a session.
func clientKey(c dispatch.Client) string {
	if c.Session == "" || c.IsSessionShared {
		return c.Identity()
	}
	return c.Session
}

// currentTabOf returns the tab for a call without a tab ID. The current tab is the calling
// tool's tab, or the tab that the client opened or selected last. If the call names the
// browser of the current tab, currentTabOf returns the browser's name as in the call. The
// dispatcher calls currentTabOf as [dispatch.Options].CurrentTab.
func (t *tabTable) currentTabOf(c dispatch.Call) (browser string, tabID int) {
	if c.Caller != nil {
		return c.Caller.Browser, c.Caller.TabID
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	current := t.currentTabs[clientKey(c.Client)]
	if current.tabID != 0 && wire.MatchesBrowser(c.Browser, current.browser, t.browserNames[current.browser]) {
		return c.Browser, current.tabID
	}
	return current.browser, current.tabID
}

func tabOfCall(callInfo dispatch.CallInfo) tabKey {
	return tabKey{callInfo.Target.Browser, callInfo.Target.TabID}
}

// isOpenedByClient reports whether the tab in which a call runs was opened by the client
// of the call.
func (t *tabTable) isOpenedByClient(callInfo dispatch.CallInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openers[tabOfCall(callInfo)] == clientKey(callInfo.Client) && callInfo.Target.TabID != 0
}

// recordTabChange records the tab that a call has opened, selected or closed.
func (t *tabTable) recordTabChange(callInfo dispatch.CallInfo, tabID int) {
	var args struct {
		Action string `json:"action"`
	}
	_ = json.Unmarshal(callInfo.Args, &args) // the arguments match the schema of the tool
	key, changed := clientKey(callInfo.Client), tabKey{callInfo.Target.Browser, tabID}
	if callInfo.Tool.Name == toolTabs && args.Action == "close" {
		t.holds.forgetTab(tabOfCall(callInfo))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.browserNames[callInfo.Target.Browser] = callInfo.Target.BrowserName
	switch {
	case callInfo.Tool.Name == toolWindows && args.Action == "new":
		t.currentTabs[key] = changed
		if len(t.openers) < maxTabs {
			t.openers[changed] = key
		}
	case callInfo.Tool.Name != toolTabs:
	case args.Action == "close":
		closed := tabOfCall(callInfo)
		delete(t.openers, closed)
		for client, current := range t.currentTabs {
			if current == closed {
				delete(t.currentTabs, client)
			}
		}
	case tabID != 0 && args.Action != "list":
		t.currentTabs[key] = changed
		if args.Action == "new" && len(t.openers) < maxTabs {
			t.openers[changed] = key
		}
	}
}

// endSession removes the tabs, windows and downloads of a client session.
func (t *tabTable) endSession(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.currentTabs, session)
	maps.DeleteFunc(t.openers, func(_ tabKey, key string) bool { return key == session })
	maps.DeleteFunc(t.windowOpeners, func(_ windowKey, key string) bool { return key == session })
	maps.DeleteFunc(t.downloadStarters, func(_ downloadKey, key string) bool { return key == session })
}

// maxDownloads limits the number of downloads in a tabTable.
const maxDownloads = 10_000

// downloadKey identifies one download in one browser.
type downloadKey struct {
	browser    string
	downloadID int
}

// listedDownload is one download in the output of browser_downloads.
type listedDownload struct {
	ID int `json:"id"`
	// Text describes the download for an agent.
	Text string `json:"text"`
}

// recordDownload records which client has started a download.
func (t *tabTable) recordDownload(callInfo dispatch.CallInfo, id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.downloadStarters) >= maxDownloads {
		clear(t.downloadStarters)
	}
	t.downloadStarters[downloadKey{callInfo.Target.Browser, id}] = clientKey(callInfo.Client)
}

// isDownloadOfClient reports whether the client of a call has started a download.
func (t *tabTable) isDownloadOfClient(callInfo dispatch.CallInfo, id int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.downloadStarters[downloadKey{callInfo.Target.Browser, id}] == clientKey(callInfo.Client)
}

// listDownloads returns one line of text for each download that the client of a call has
// started.
func (t *tabTable) listDownloads(callInfo dispatch.CallInfo, listed []listedDownload) []string {
	lines := []string{}
	for _, d := range listed {
		if t.isDownloadOfClient(callInfo, d.ID) {
			lines = append(lines, d.Text)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "You have started no download.")
	}
	return lines
}

// maxShownPages limits the number of pages in shownPages.
const maxShownPages = 10_000

// If the client has already seen a page, the results of later calls in the tab omit the
// page's address and title. A tool's result omits the page if the client has already seen
// it.
type shownPages struct {
	mu    sync.Mutex // guards pages
	pages map[clientTab]pageInfo
}

// clientTab identifies a tab together with a client that uses the tab.
type clientTab struct {
	client string // the clientKey of the client
	tab    tabKey
}

func newShownPages() *shownPages { return &shownPages{pages: map[clientTab]pageInfo{}} }

// record stores the page in a call's result as the page that the client last saw in the tab.
// The result isKnown is true if shown is also the page that record stored last for this
// client and tab. record ignores nested calls, because the calling tool may hide the result
// from its client.
func (s *shownPages) record(callInfo dispatch.CallInfo, tabID int, shown pageInfo) (isKnown bool) {
	if callInfo.Caller != nil {
		return false
	}
	key := clientTab{clientKey(callInfo.Client), tabKey{callInfo.Target.Browser, tabID}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages[key] == shown {
		return true
	}
	if len(s.pages) >= maxShownPages {
		clear(s.pages)
	}
	s.pages[key] = shown
	return false
}

// endSession removes the record of the pages that a client session has seen.
func (s *shownPages) endSession(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.pages, func(seen clientTab, _ pageInfo) bool { return seen.client == session })
}
