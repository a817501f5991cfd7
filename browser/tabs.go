package browser

import (
	"encoding/json"
	"maps"
	"sync"

	"opentabs/dispatch"
)

// maxTabs is the maximum number of tabs that are remembered as opened by clients.
const maxTabs = 10_000

// tab identifies a tab.
type tab struct {
	browser string
	tabID   int
}

// tabTable remembers which tabs the clients have opened and selected.
type tabTable struct {
	holds *Holds

	mu sync.Mutex // guards all fields below
	// currentTabs is the tab that each client opened or selected last, by clientKey.
	currentTabs map[string]tab
	// openers are the clients that have opened tabs.
	openers map[tab]string
	// windowOpeners are the clients that have opened windows.
	windowOpeners map[window]string
	// listedWindows are the windows as browser_windows listed them last.
	listedWindows map[window]browserWindow
	// downloadStarters are the clients that have started downloads.
	downloadStarters map[download]string
}

// newTabs returns a tabTable without clients.
func newTabs(holds *Holds) *tabTable {
	return &tabTable{holds: holds, currentTabs: map[string]tab{}, openers: map[tab]string{}, windowOpeners: map[window]string{}, listedWindows: map[window]browserWindow{},
		downloadStarters: map[download]string{}}
}

// clientKey returns the key of a client: its session, or its name if all clients of this
// name share a session.
func clientKey(c dispatch.Client) string {
	if c.Session == "" || c.IsSessionShared {
		return c.Identity()
	}
	return c.Session
}

// currentTabOf returns the tab in which a call runs that names none: the tab of the calling
// tool, or the tab that the client opened or selected last. currentTabOf is for
// [dispatch.Options].
func (t *tabTable) currentTabOf(c dispatch.Call) (browser string, tabID int) {
	if c.Caller != nil {
		return c.Caller.Browser, c.Caller.TabID
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	current := t.currentTabs[clientKey(c.Client)]
	return current.browser, current.tabID
}

func tabOfCall(callInfo dispatch.CallInfo) tab {
	return tab{callInfo.Target.Browser, callInfo.Target.TabID}
}

// isOpenedByClient reports whether the client of a call opened the tab of the call.
func (t *tabTable) isOpenedByClient(callInfo dispatch.CallInfo) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.openers[tabOfCall(callInfo)] == clientKey(callInfo.Client) && callInfo.Target.TabID != 0
}

// recordTabChange notes the tab that a call opened, selected or closed.
func (t *tabTable) recordTabChange(callInfo dispatch.CallInfo, tabID int) {
	var args struct {
		Action string `json:"action"`
	}
	_ = json.Unmarshal(callInfo.Args, &args) // the arguments match the schema of the tool
	key, changed := clientKey(callInfo.Client), tab{callInfo.Target.Browser, tabID}
	if callInfo.Tool.Name == toolTabs && args.Action == "close" {
		t.holds.forget(tabOfCall(callInfo))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
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

// endSession forgets what a session has opened, selected and started.
func (t *tabTable) endSession(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.currentTabs, session)
	maps.DeleteFunc(t.openers, func(_ tab, key string) bool { return key == session })
	maps.DeleteFunc(t.windowOpeners, func(_ window, key string) bool { return key == session })
	maps.DeleteFunc(t.downloadStarters, func(_ download, key string) bool { return key == session })
}

// maxDownloads is the maximum number of downloads that are remembered.
const maxDownloads = 10_000

// download identifies a download of a browser.
type download struct {
	browser    string
	downloadID int
}

// listedDownload is a download in the output of browser_downloads.
type listedDownload struct {
	ID int `json:"id"`
	// Text describes the download.
	Text string `json:"text"`
}

// recordDownload notes the download that a call started.
func (t *tabTable) recordDownload(callInfo dispatch.CallInfo, id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.downloadStarters) >= maxDownloads {
		clear(t.downloadStarters)
	}
	t.downloadStarters[download{callInfo.Target.Browser, id}] = clientKey(callInfo.Client)
}

// isDownloadOfClient reports whether the client of a call started a download.
func (t *tabTable) isDownloadOfClient(callInfo dispatch.CallInfo, id int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.downloadStarters[download{callInfo.Target.Browser, id}] == clientKey(callInfo.Client)
}

// listDownloads returns one line for each download that the client of a call started.
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

// maxShownPages is the maximum number of pages that are remembered.
const maxShownPages = 10_000

// shownPages remembers the address and the title of the page that each client saw last in
// each tab, because a result names the page only if the page changed.
type shownPages struct {
	mu    sync.Mutex // guards pages
	pages map[clientTab]page
}

// clientTab is a tab as one client uses it.
type clientTab struct {
	client string // the clientKey
	tab    tab
}

func newShownPages() *shownPages { return &shownPages{pages: map[clientTab]page{}} }

// record notes the page that the result of a call shows, and returns whether the client
// has already seen this address and title in this tab. The results of nested calls go to
// the calling tool, which may show its client nothing of them.
func (s *shownPages) record(callInfo dispatch.CallInfo, tabID int, shown page) (isKnown bool) {
	if callInfo.Caller != nil {
		return false
	}
	key := clientTab{clientKey(callInfo.Client), tab{callInfo.Target.Browser, tabID}}
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

// endSession forgets the pages that a session has seen.
func (s *shownPages) endSession(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.pages, func(seen clientTab, _ page) bool { return seen.client == session })
}
