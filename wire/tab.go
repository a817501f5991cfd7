package wire

// TabPlugin is an adapter that runs in a document.
type TabPlugin struct {
	Name string `json:"name"`
	// Hash is the hash of the adapter's code that runs in the document.
	Hash string `json:"hash"`
	// Ready is the last result of the adapter's isReady(). Ready is absent before the
	// first result.
	Ready *bool `json:"ready,omitempty"`
}

// BrokenPlugin is an adapter that failed to start in a document.
type BrokenPlugin struct {
	Name string `json:"name"`
	// Hash is the hash of the adapter's code that failed.
	Hash string `json:"hash"`
	// Problem is the reason why the adapter failed to start, a sentence without a
	// period.
	Problem string `json:"problem"`
}

// FrameInfo is a frame of a page in which an adapter runs. Each frame with an adapter
// has the same origin as the top document of its tab.
type FrameInfo struct {
	FrameID    int         `json:"frameId"`
	URL        string      `json:"url"`
	DocumentID string      `json:"documentId"`
	Plugins    []TabPlugin `json:"plugins,omitempty"`
}

const (
	// LoadErrorNoAnswer is the LoadError of a tab whose site does not respond, while
	// Chrome still waits for a response.
	LoadErrorNoAnswer = "no_answer"
	// LoadErrorNoAccess is the LoadError of a tab on a site to which the user has not
	// given the extension access.
	LoadErrorNoAccess = "no_access"
	// SiteTimeoutMs is how long a site may take to begin its response, in
	// milliseconds.
	SiteTimeoutMs = 8000
)

// TabInfo is a tab that matches at least one plugin.
type TabInfo struct {
	TabID    int    `json:"tabId"`
	WindowID int    `json:"windowId"`
	URL      string `json:"url"`
	Title    string `json:"title"`
	// Active is true if the window of the tab displays the tab.
	Active bool `json:"active"`
	// Focused is true if the window of the tab has the focus.
	Focused bool `json:"focused"`
	// LastAccessedMs is the time when the tab was last active, in milliseconds since
	// 1970.
	LastAccessedMs float64 `json:"lastAccessedMs"`
	// DocumentID is empty if no adapter runs in the tab.
	DocumentID string `json:"documentId,omitempty"`
	// Plugins are the adapters that run in the document.
	Plugins []TabPlugin `json:"plugins,omitempty"`
	// Frames are the frames in which adapters run, in document order.
	Frames []FrameInfo `json:"frames,omitempty"`
	// Discarded is true if Chrome has unloaded the tab to save memory.
	Discarded bool `json:"discarded,omitempty"`
	// Unresponsive is true while the page does not respond, because a script blocks it.
	// No call can begin in a page that does not respond.
	Unresponsive bool `json:"unresponsive,omitempty"`
	// Frozen is true while Chrome suspends the page to save resources. No script runs
	// in a frozen page.
	Frozen bool `json:"frozen,omitempty"`
	// Loading names the matching plugins that may start soon, because the document is
	// still loading.
	Loading []string `json:"loading,omitempty"`
	// ArrivingPlugins names the matching plugins that will start soon, because the
	// browser is adding their code to the document.
	ArrivingPlugins []string `json:"arriving,omitempty"`
	// NeedsReload names the matching plugins that run only after a reload, because they
	// were registered after the document loaded. Without a reload, scripts of the page
	// could tamper with JavaScript built-ins before the adapter starts.
	NeedsReload []string `json:"needsReload,omitempty"`
	// BrokenPlugins are the adapters that failed to start in the document.
	BrokenPlugins []BrokenPlugin `json:"broken,omitempty"`
	// LoadError is Chrome's name of the network error that the tab displays, such as
	// net::ERR_CONNECTION_REFUSED. LoadError is LoadErrorNoAnswer if the site has not
	// responded for SiteTimeoutMs, and empty while the tab loads again. LoadError is
	// LoadErrorNoAccess if the extension has no access to the site of the tab.
	//
	// A tab that was opened for a call may redirect to a site that can't be loaded. The
	// URL of such a tab remains the address with which the tab was opened.
	LoadError string `json:"loadError,omitempty"`
	// LoadFailedMs is the time of LoadError on the browser's clock, in milliseconds
	// since 1970. LoadFailedMs distinguishes a repeated failure from the first failure.
	LoadFailedMs float64 `json:"loadFailedMs,omitempty"`
}

// TabSyncParams lists all tabs of the browser that match plugins. TabSyncParams
// replaces the previous list.
type TabSyncParams struct {
	Tabs []TabInfo `json:"tabs,omitempty"`
}

// TabChangedParams reports a change of one tab. Tab is absent if the tab was closed
// or no longer matches a plugin.
type TabChangedParams struct {
	TabID int      `json:"tabId"`
	Tab   *TabInfo `json:"tab,omitempty"`
}

// TabOpenParams has the address of a tab to open. The new tab does not take the focus.
type TabOpenParams struct {
	// URL is an http or https URL.
	URL string `json:"url"`
}

// TabOpenResult identifies the new tab.
type TabOpenResult struct {
	TabID int `json:"tabId"`
}

// TabLoadParams identifies a tab to reload.
type TabLoadParams struct {
	TabID int `json:"tabId"`
	// IsForced is true to reload the tab even if the user loses unsaved input. The user
	// has requested or approved each forced reload.
	IsForced bool `json:"force,omitempty"`
}

// TabLoadResult reports whether the requested tab is being reloaded.
type TabLoadResult struct {
	// Loading is false if the user could lose work, because the page is loaded and the
	// user has interacted with it.
	Loading bool `json:"loading"`
}

// TabDescribeParams identifies a tab.
type TabDescribeParams struct {
	// TabID is absent for the tab that the user looks at: the active tab of the window
	// that had the focus last.
	TabID int `json:"tabId,omitempty"`
	// Inspect requests an inspection of the page. Inspect is absent if the server needs
	// no inspection.
	Inspect *TabInspection `json:"inspect,omitempty"`
}

// TabInspection requests the kinds of secret fields in a page: fields for passwords, card
// numbers and one-time codes.
type TabInspection struct {
	// Refs are the elements into which a browser tool will type.
	Refs []string `json:"refs,omitempty"`
	// Focused is true if the tool will type into the focused element.
	Focused bool `json:"focused,omitempty"`
}

// TabDescribeResult describes the tab of a tab.describe. Tab is absent if there is no
// such tab.
type TabDescribeResult struct {
	Tab *AnyTab `json:"tab,omitempty"`
}

// AnyTab is the current state of a tab, whether or not a plugin matches it.
type AnyTab struct {
	TabID int `json:"tabId"`
	// URL is the address of the document that the tab shows.
	URL   string `json:"url"`
	Title string `json:"title"`
	// DocumentID is the top document of the tab. DocumentID is empty if scripts of the
	// extension can't run there.
	DocumentID string `json:"documentId,omitempty"`
	// Problem is why scripts of the extension can't run in the tab, a sentence without
	// a period. Problem is absent if they can.
	Problem string `json:"problem,omitempty"`
	// Active is true if the window of the tab displays the tab.
	Active bool `json:"active"`
	// Secrets is the result of the TabInspection. Secrets is absent if no inspection was
	// requested or the page did not answer.
	Secrets *SecretFields `json:"secrets,omitempty"`
}

// SecretFields are the kinds of secret fields in a page: "password", "card" and "code".
type SecretFields struct {
	// Shown are the kinds of secret fields that are visible in the page.
	Shown []string `json:"shown,omitempty"`
	// Typed are the kinds of secret fields among the elements of a TabInspection.
	Typed []string `json:"typed,omitempty"`
}

// TabHoldsParams lists the tabs of the browser that clients use with browser tools.
// TabHoldsParams replaces the previously sent list.
type TabHoldsParams struct {
	Tabs []TabHold `json:"tabs,omitempty"`
}

// TabHold is a tab in which a client has acted with browser tools.
type TabHold struct {
	TabID int `json:"tabId"`
	// Client is the name of the MCP client that holds the tab.
	Client string `json:"client"`
	// Site is the origin of the page in which the client last acted: scheme, host and
	// port.
	Site string `json:"site"`
	// LeftMs is how long the client still holds the tab, in milliseconds.
	LeftMs float64 `json:"leftMs"`
	// IsTaken is true if the user has clicked or typed in the tab, so that the client no
	// longer holds the tab.
	IsTaken bool `json:"taken,omitempty"`
}

// TabUserInputParams identifies a tab in which the user clicked or typed.
type TabUserInputParams struct {
	TabID int `json:"tabId"`
}

// SessionEndedParams lists sessions of clients that have ended. A call of a browser tool
// names its session in the argument "_session".
type SessionEndedParams struct {
	Sessions []string `json:"sessions,omitempty"`
}

// SessionUsedParams lists the sessions for which the browser stores state.
type SessionUsedParams struct {
	Sessions []string `json:"sessions,omitempty"`
}

// TabReleaseParams identifies a tab in which the user stops the client.
type TabReleaseParams struct {
	TabID int `json:"tabId"`
}

// TabReleaseResult is empty. TabReleaseResult confirms that the server cancels the
// client's calls in the tab.
type TabReleaseResult struct{}
