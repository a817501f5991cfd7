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
	tabHolds *TabHoldTable

	mu               sync.Mutex // the mutex guards all fields below
	currentTabs      map[string]tabKey
	browserNames     map[string]string
	openers          map[tabKey]string
	windowOpeners    map[windowKey]string
	listedWindows    map[windowKey]browserWindow
	downloadStarters map[downloadKey]string
}

func newTabs(tabHolds *TabHoldTable) *tabTable {
	return &tabTable{tabHolds: tabHolds, currentTabs: map[string]tabKey{}, browserNames: map[string]string{}, openers: map[tabKey]string{}, windowOpeners: map[windowKey]string{}, listedWindows: map[windowKey]browserWindow{},
		downloadStarters: map[downloadKey]string{}}
}

// clientKey returns the session of a client, or the client's name if all clients with its name share one session.
func clientKey(c dispatch.Client) string {
	if c.Session == "" || c.IsSessionShared {
		return c.Identity()
	}
	return c.Session
}

// The current tab is the calling tool's tab, or the tab that the client opened or selected last. The dispatcher calls
// currentTabOf as [dispatch.Options].CurrentTab.
func (t *tabTable) currentTabOf(c dispatch.Call) (browser string, tabID int) {
	if c.Caller != nil {
		return c.Caller.Browser, c.Caller.TabID
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	currentTab := t.currentTabs[clientKey(c.Client)]
	if currentTab.tabID != 0 && wire.MatchesBrowser(c.Browser, currentTab.browser, t.browserNames[currentTab.browser]) {
		return c.Browser, currentTab.tabID
	}
	return currentTab.browser, currentTab.tabID
}

func tabOfCall(callInfo dispatch.CallInfo) tabKey {
	return tabKey{callInfo.Target.Browser, callInfo.Target.TabID}
}

func (t *tabTable) isOpenedByClient(callInfo dispatch.CallInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openers[tabOfCall(callInfo)] == clientKey(callInfo.Client) && callInfo.Target.TabID != 0
}

func (t *tabTable) recordTabChange(callInfo dispatch.CallInfo, tabID int) {
	var args struct {
		Action string `json:"action"`
	}
	_ = json.Unmarshal(callInfo.Args, &args)
	key, changedTab := clientKey(callInfo.Client), tabKey{callInfo.Target.Browser, tabID}
	if callInfo.Tool.Name == toolTabs && args.Action == "close" {
		t.tabHolds.forgetTab(tabOfCall(callInfo))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.browserNames[callInfo.Target.Browser] = callInfo.Target.BrowserName
	switch {
	case callInfo.Tool.Name == toolWindows && args.Action == "new":
		t.currentTabs[key] = changedTab
		if len(t.openers) < maxTabs {
			t.openers[changedTab] = key
		}
	case callInfo.Tool.Name != toolTabs:
	case args.Action == "close":
		closedTab := tabOfCall(callInfo)
		delete(t.openers, closedTab)
		for client, currentTab := range t.currentTabs {
			if currentTab == closedTab {
				delete(t.currentTabs, client)
			}
		}
	case tabID != 0 && args.Action != "list":
		t.currentTabs[key] = changedTab
		if args.Action == "new" && len(t.openers) < maxTabs {
			t.openers[changedTab] = key
		}
	}
}

// If a page opens a tab during a client's acting call, the tab belongs to the client, like a tab that the client opened
// with browser_tabs.
func (t *tabTable) recordOpenedTabs(callInfo dispatch.CallInfo, tabIDs []int) {
	if !isActingCall(callInfo) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tabID := range tabIDs {
		if len(t.openers) < maxTabs {
			t.openers[tabKey{callInfo.Target.Browser, tabID}] = clientKey(callInfo.Client)
		}
	}
}

func (t *tabTable) endSession(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.currentTabs, session)
	maps.DeleteFunc(t.openers, func(_ tabKey, key string) bool { return key == session })
	maps.DeleteFunc(t.windowOpeners, func(_ windowKey, key string) bool { return key == session })
	maps.DeleteFunc(t.downloadStarters, func(_ downloadKey, key string) bool { return key == session })
}

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

func (t *tabTable) recordDownload(callInfo dispatch.CallInfo, id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.downloadStarters) >= maxDownloads {
		clear(t.downloadStarters)
	}
	t.downloadStarters[downloadKey{callInfo.Target.Browser, id}] = clientKey(callInfo.Client)
}

func (t *tabTable) isDownloadOfClient(callInfo dispatch.CallInfo, id int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.downloadStarters[downloadKey{callInfo.Target.Browser, id}] == clientKey(callInfo.Client)
}

func (t *tabTable) listDownloads(callInfo dispatch.CallInfo, listedDownloads []listedDownload) []string {
	lines := []string{}
	for _, d := range listedDownloads {
		if t.isDownloadOfClient(callInfo, d.ID) {
			lines = append(lines, d.Text)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "You have started no download.")
	}
	return lines
}

const maxShownPages = 10_000

// If the client has already seen a page, the results of later calls in the tab omit the page's
// address and title.
type shownPages struct {
	mu    sync.Mutex // the mutex guards the field pages
	pages map[clientTab]pageInfo
}

// clientTab identifies a tab together with a client that uses the tab.
type clientTab struct {
	client string
	tab    tabKey
}

func newShownPages() *shownPages { return &shownPages{pages: map[clientTab]pageInfo{}} }

// The method record ignores nested calls, because the client may never see their results.
func (s *shownPages) record(callInfo dispatch.CallInfo, tabID int, shownPage pageInfo) (isAlreadyShown bool) {
	if callInfo.Caller != nil {
		return false
	}
	key := clientTab{clientKey(callInfo.Client), tabKey{callInfo.Target.Browser, tabID}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages[key] == shownPage {
		return true
	}
	if len(s.pages) >= maxShownPages {
		clear(s.pages)
	}
	s.pages[key] = shownPage
	return false
}

func (s *shownPages) endSession(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.pages, func(shownTab clientTab, _ pageInfo) bool { return shownTab.client == session })
}
