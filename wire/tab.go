package wire

// TabPlugin is an adapter that is live in a document.
type TabPlugin struct {
	Name string `json:"name"`
	// Hash is that of the code that was evaluated in this document.
	Hash string `json:"hash"`
	// Ready is what the adapter last said of itself (isReady); absent while it has
	// not been asked.
	Ready *bool `json:"ready,omitempty"`
}

// BrokenPlugin is an adapter that failed to start in a document.
type BrokenPlugin struct {
	Name string `json:"name"`
	// Hash is that of the code that failed.
	Hash string `json:"hash"`
	// Problem is a sentence without an end that says why.
	Problem string `json:"problem"`
}

// FrameInfo is a frame of a tab in which an adapter is live. Its origin is that
// of the tab's top document.
type FrameInfo struct {
	FrameID    int         `json:"frameId"`
	URL        string      `json:"url"`
	DocumentID string      `json:"documentId"`
	Plugins    []TabPlugin `json:"plugins,omitempty"`
}

const (
	// LoadErrorNoAnswer is the LoadError of a tab whose site does not answer: Chrome
	// still waits.
	LoadErrorNoAnswer = "no_answer"
	// NoAnswerMs is how long a site may take to send the beginning of a page, in
	// milliseconds.
	NoAnswerMs = 8000
)

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
	// Frames are the frames in which plugins are live that want frames, in the
	// order of the document.
	Frames []FrameInfo `json:"frames,omitempty"`
	// Discarded is set if Chrome has unloaded the tab to save memory.
	Discarded bool `json:"discarded,omitempty"`
	// Unresponsive is set while the page does not answer, because a script
	// occupies it: no call can begin there.
	Unresponsive bool `json:"unresponsive,omitempty"`
	// Frozen is set while Chrome has suspended the page to save resources: nothing
	// runs in it.
	Frozen bool `json:"frozen,omitempty"`
	// Loading names plugins that match the tab, are not live in it, and may be
	// in a moment: its document is still loading.
	Loading []string `json:"loading,omitempty"`
	// Arriving names plugins that match the tab, are not live in it, and whose code
	// is on its way there.
	Arriving []string `json:"arriving,omitempty"`
	// NeedsReload names plugins that match the tab but were not there when its
	// document began, so they can't be trusted in it until a reload.
	NeedsReload []string `json:"needsReload,omitempty"`
	// Broken are the plugins whose adapter failed to start in the document.
	Broken []BrokenPlugin `json:"broken,omitempty"`
	// LoadError is Chrome's name of the network error whose error page the tab shows,
	// such as net::ERR_CONNECTION_REFUSED; empty while the tab loads again. It is
	// LoadErrorNoAnswer while the site has not answered for NoAnswerMs. A tab that was
	// opened for a call and led to another site, which can't be loaded, has the URL
	// that it was opened with.
	LoadError string `json:"loadError,omitempty"`
	// LoadFailedMs is when that load failed, in milliseconds since 1970 by the
	// browser's clock: it tells a second failure from the first.
	LoadFailedMs float64 `json:"loadFailedMs,omitempty"`
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

// TabOpenParams asks for a new tab, which does not take the focus.
type TabOpenParams struct {
	// URL is a http or https URL.
	URL string `json:"url"`
}

// TabOpenResult names the new tab.
type TabOpenResult struct {
	TabID int `json:"tabId"`
}

// TabLoadParams asks for a tab to be loaded anew, for a call that wants to run
// in it.
type TabLoadParams struct {
	TabID int `json:"tabId"`
	// Force has it loaded whatever could be lost: the user asks for it.
	Force bool `json:"force,omitempty"`
}

// TabLoadResult tells whether the tab loads now.
type TabLoadResult struct {
	// Loading is false if the person could lose something: the page is there and
	// has been used.
	Loading bool `json:"loading"`
}
