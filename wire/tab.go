package wire

// TabPlugin is an adapter that is live in a document.
type TabPlugin struct {
	Name string `json:"name"`
	// Hash is that of the code that was evaluated in this document.
	Hash string `json:"hash"`
}

// TabInfo is one tab that at least one plugin matches.
type TabInfo struct {
	TabID    int    `json:"tabId"`
	WindowID int    `json:"windowId"`
	URL      string `json:"url"`
	Title    string `json:"title"`
	// Active is set for the tab that its window shows.
	Active bool `json:"active"`
	// Focused is set if its window has the focus.
	Focused bool `json:"focused"`
	// LastAccessedMs is when it was last active, in milliseconds since 1970.
	LastAccessedMs float64 `json:"lastAccessedMs"`
	// DocumentID is empty if no adapter is live in the tab.
	DocumentID string `json:"documentId,omitempty"`
	// Plugins are the adapters that are live in the document.
	Plugins []TabPlugin `json:"plugins,omitempty"`
	// Loading names plugins that match the tab, are not live in it, and may be
	// in a moment: its document is still loading.
	Loading []string `json:"loading,omitempty"`
	// NeedsReload names plugins that match the tab but were not there when its
	// document began, so they can't be trusted in it until a reload.
	NeedsReload []string `json:"needsReload,omitempty"`
}

// TabSyncParams replaces all the server knows of this browser's tabs.
type TabSyncParams struct {
	Tabs []TabInfo `json:"tabs,omitempty"`
}

// TabChangedParams tells of one tab. Tab is absent if the tab is gone or no
// longer matches.
type TabChangedParams struct {
	TabID int      `json:"tabId"`
	Tab   *TabInfo `json:"tab,omitempty"`
}

// TabLoadParams asks for a tab to be loaded anew, for a call that wants to run
// in it.
type TabLoadParams struct {
	TabID int `json:"tabId"`
}

// TabLoadResult tells whether the tab loads now.
type TabLoadResult struct {
	// Loading is false if the person could lose something: the page is there and
	// has been used.
	Loading bool `json:"loading"`
}
