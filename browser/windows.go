package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"opentabs/dispatch"
)

// windowKey identifies one window of one browser.
type windowKey struct {
	browser  string
	windowID int
}

// browserWindow is one window in the output of browser_windows.
type browserWindow struct {
	WindowID  int         `json:"windowId"`
	State     string      `json:"state"`
	IsFocused bool        `json:"focused"`
	Left      int         `json:"left"`
	Top       int         `json:"top"`
	Width     int         `json:"width"`
	Height    int         `json:"height"`
	Tabs      []listedTab `json:"tabs"`
}

func (w browserWindow) description() string {
	return w.describe(func(t listedTab) string { return quoteTitle(t.Title) })
}

func (w browserWindow) describe(titleOf func(listedTab) string) string {
	summary := fmt.Sprintf("%d tabs", len(w.Tabs))
	if len(w.Tabs) == 1 {
		summary = "1 tab"
	}
	for _, t := range w.Tabs {
		if t.Active {
			summary += fmt.Sprintf(", in front %s (%s)", titleOf(t), siteOrScheme(t.URL))
		}
	}
	return summary
}

func (w browserWindow) tabIDs() []int {
	ids := []int{}
	for _, t := range w.Tabs {
		ids = append(ids, t.TabID)
	}
	return ids
}

func siteOrScheme(address string) string {
	if isWebAddress(address) {
		return originOf(address)
	}
	return schemeOf(address)
}

const maxListedWindows = 1000

func (t *tabTable) recordWindows(callInfo dispatch.CallInfo, windows []browserWindow, windowID int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if windowID != 0 && len(t.windowOpeners) < maxListedWindows {
		t.windowOpeners[windowKey{callInfo.Target.Browser, windowID}] = clientKey(callInfo.Client)
	}
	if windows == nil {
		return
	}
	for listedWindow := range t.listedWindows {
		if listedWindow.browser == callInfo.Target.Browser {
			delete(t.listedWindows, listedWindow)
		}
	}
	for _, w := range windows[:min(len(windows), maxListedWindows)] {
		t.listedWindows[windowKey{callInfo.Target.Browser, w.WindowID}] = w
	}
}

func (t *tabTable) listedWindow(browser string, windowID int) (browserWindow, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, ok := t.listedWindows[windowKey{browser, windowID}]
	return w, ok
}

func (t *tabTable) isWindowOfClient(callInfo dispatch.CallInfo, windowID int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key, id := clientKey(callInfo.Client), windowKey{callInfo.Target.Browser, windowID}
	return t.windowOpeners[id] == key && !slices.ContainsFunc(t.listedWindows[id].Tabs, func(windowTab listedTab) bool {
		return t.openers[tabKey{id.browser, windowTab.TabID}] != key
	})
}

// A closable tab either was in the list of windows that the user last saw, or belongs to the client that opened the
// window.
func (t *tabTable) closableTabs(browser string, windowID int) []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := windowKey{browser, windowID}
	ids := t.listedWindows[id].tabIDs()
	if key := t.windowOpeners[id]; key != "" {
		for openedTab, opener := range t.openers {
			if openedTab.browser == browser && opener == key {
				ids = append(ids, openedTab.tabID)
			}
		}
	}
	return ids
}

// closableTabsArgument is the name of the argument that lists the tabs that browser_windows
// is allowed to close together with their window. Tabs that were added to the window after
// the user's approval must stay open.
const closableTabsArgument = "_closableTabs"

func windowIDOf(args json.RawMessage) int {
	var windowArgs struct {
		WindowID int `json:"windowId"`
	}
	_ = json.Unmarshal(args, &windowArgs)
	return windowArgs.WindowID
}

func (s resultBuilder) listWindows(callInfo dispatch.CallInfo, windows []browserWindow) []string {
	var lines []string
	for _, w := range windows {
		state := w.State
		if w.IsFocused {
			state += ", focused"
		}
		if s.tabs.isWindowOfClient(callInfo, w.WindowID) {
			state += ", opened by you"
		}
		ids := strings.Trim(strings.ReplaceAll(fmt.Sprint(w.tabIDs()), " ", ", "), "[]")
		lines = append(lines, fmt.Sprintf("window %d (%s) %d x %d at %d, %d: %s; tab IDs %s", w.WindowID, state, w.Width, w.Height, w.Left, w.Top, w.describe(s.titleForAgent), ids))
	}
	return lines
}
