package wire

// TabPlugin is an adapter that runs in a document.
type TabPlugin struct {
	Name string `json:"name"`
	// The field Hash is the PluginInfo.Hash of the adapter that runs in the document.
	Hash string `json:"hash"`
	// IsReady is the last result of the adapter's isReady(). The field IsReady is absent before
	// the first result.
	IsReady *bool `json:"ready,omitempty"`
}

// BrokenPlugin is an adapter that failed to start in a document.
type BrokenPlugin struct {
	Name string `json:"name"`
	// The field Hash is the PluginInfo.Hash of the adapter that failed to start.
	Hash string `json:"hash"`
	// Problem is a sentence without a period that explains why the adapter failed to start.
	Problem string `json:"problem"`
}

// FrameInfo is a child frame in which an adapter runs. Only child frames with the origin of
// the tab's top document can run an adapter.
type FrameInfo struct {
	FrameID    int         `json:"frameId"`
	URL        string      `json:"url"`
	DocumentID string      `json:"documentId"`
	Plugins    []TabPlugin `json:"plugins,omitempty"`
}

const (
	// LoadErrorNoAnswer is the load error of a tab while Chrome still waits for a site that
	// does not respond.
	LoadErrorNoAnswer = "no_answer"
	// LoadErrorNoAccess is the load error of a tab on a site to which the user has not given
	// the extension access.
	LoadErrorNoAccess = "no_access"
	// SiteTimeoutMs is the time within which a site must begin its response, in milliseconds.
	SiteTimeoutMs = 8000
)

// TabInfo describes a tab whose URL matches at least one plugin.
type TabInfo struct {
	TabID    int    `json:"tabId"`
	WindowID int    `json:"windowId"`
	URL      string `json:"url"`
	Title    string `json:"title"`
	// The field Active is true if the window of the tab displays the tab.
	Active bool `json:"active"`
	// The field Focused is true if the window of the tab has the focus.
	Focused bool `json:"focused"`
	// LastAccessedMs is the time when the tab was last active, in milliseconds since
	// 1970.
	LastAccessedMs float64 `json:"lastAccessedMs"`
	// DocumentID is Chrome's ID of the tab's top document, or empty if no adapter runs in the
	// tab.
	DocumentID string `json:"documentId,omitempty"`
	// The field Plugins contains the adapters that run in the tab's top document.
	Plugins []TabPlugin `json:"plugins,omitempty"`
	// The field Frames contains the child frames in which adapters run, in document
	// order.
	Frames []FrameInfo `json:"frames,omitempty"`
	// The field Discarded is true if Chrome has unloaded the tab to save memory.
	Discarded bool `json:"discarded,omitempty"`
	// The field Unresponsive is true while the page does not respond, because a script
	// keeps the page busy. No call can begin in a page that does not respond.
	Unresponsive bool `json:"unresponsive,omitempty"`
	// The field IsFrozen is true while Chrome suspends the page to save resources. No
	// script runs in a frozen page.
	IsFrozen bool `json:"frozen,omitempty"`
	// The field Loading names the matching plugins that have not started yet because the document is
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
	// net::ERR_CONNECTION_REFUSED. LoadError can be a name that Chrome does not define:
	// LoadErrorNoAnswer (no response within SiteTimeoutMs) or LoadErrorNoAccess (the extension
	// has no access to the site). LoadError is empty while the tab reloads.
	//
	// If opentabs opened a tab for a call and the page redirects to a site that can't be
	// loaded, TabInfo.URL is the address before the redirect.
	LoadError string `json:"loadError,omitempty"`
	// LoadFailedMs is the time at which LoadError occurred, in milliseconds since 1970 by
	// the browser's clock. Two failures of the same tab differ in LoadFailedMs even if
	// their LoadError is equal.
	LoadFailedMs float64 `json:"loadFailedMs,omitempty"`
}

// TabSyncParams lists all tabs of the browser that match plugins. Each tab.sync
// notification replaces the list of the previous notification.
type TabSyncParams struct {
	Tabs []TabInfo `json:"tabs,omitempty"`
}

// TabChangedParams reports that one tab changed. Tab is absent if the tab was closed or no longer matches a plugin.
type TabChangedParams struct {
	TabID int      `json:"tabId"`
	Tab   *TabInfo `json:"tab,omitempty"`
}

// TabOpenParams requests that the browser open a new tab in the background, without
// focusing the tab.
type TabOpenParams struct {
	// URL is the http or https URL to open in the new tab.
	URL string `json:"url"`
}

// TabOpenResult contains the ID of the tab that the browser opened.
type TabOpenResult struct {
	TabID int `json:"tabId"`
}

// TabLoadParams requests a reload of a tab.
type TabLoadParams struct {
	TabID int `json:"tabId"`
	// IsForced is true to reload the tab even if the user loses unsaved input. Only a reload
	// that the user requested or approved is forced.
	IsForced bool `json:"force,omitempty"`
}

// TabLoadResult reports whether the browser reloads the requested tab.
type TabLoadResult struct {
	// The field Loading is false if the browser refuses to reload the tab because the user
	// interacted with the page and could lose work.
	Loading bool `json:"loading"`
}

// TabDescribeParams requests the current state of one tab, with or without a plugin.
type TabDescribeParams struct {
	// TabID is the ID of the requested tab. If TabID is absent, the active tab of the last
	// focused window is requested.
	TabID int `json:"tabId,omitempty"`
	// Inspect asks the browser to search the page for secret fields. The field Inspect is
	// absent if the browser need not search the page.
	Inspect *TabInspection `json:"inspect,omitempty"`
}

// TabInspection asks which kinds of secret fields a page has: for passwords, card numbers
// or one-time codes.
type TabInspection struct {
	// The field Refs identifies the elements into which a browser tool will type.
	Refs []string `json:"refs,omitempty"`
	// The field Focused is true if the browser tool will type into the focused element.
	Focused bool `json:"focused,omitempty"`
}

// TabDescribeResult answers a tab.describe. Tab is absent if the requested tab does not
// exist.
type TabDescribeResult struct {
	Tab *AnyTab `json:"tab,omitempty"`
}

// AnyTab is the current state of a tab, whether or not a plugin matches the tab's URL.
type AnyTab struct {
	TabID int `json:"tabId"`
	// URL is the address of the document in the tab.
	URL   string `json:"url"`
	Title string `json:"title"`
	// DocumentID is Chrome's ID of the top document, or empty if the extension can't run
	// scripts in the tab.
	DocumentID string `json:"documentId,omitempty"`
	// Problem is a sentence without a period that explains why the extension can't run scripts
	// in the tab. The field Problem is absent if the extension can run scripts in the tab.
	Problem string `json:"problem,omitempty"`
	// The field Active is true if the window of the tab displays the tab.
	Active bool `json:"active"`
	// Secrets lists the kinds of secret fields that the requested TabInspection found.
	// The field Secrets is absent if the server requested no inspection, or if the page
	// did not answer.
	Secrets *SecretFields `json:"secrets,omitempty"`
}

// SecretFields are the kinds of secret fields in a page: "password", "card" and "code".
type SecretFields struct {
	// The field Shown contains the kinds of secret fields that are visible in the page.
	Shown []string `json:"shown,omitempty"`
	// The field Typed contains the kinds of secret fields among the elements into which the
	// browser tool will type.
	Typed []string `json:"typed,omitempty"`
}

// TabHoldsParams lists the tabs that MCP clients use with browser tools. Each tab.holds
// notification replaces the list of the previous notification.
type TabHoldsParams struct {
	Tabs []TabHold `json:"tabs,omitempty"`
}

// TabHold is a tab that an MCP client reserves by acting in the tab with browser tools.
type TabHold struct {
	TabID int `json:"tabId"`
	// Client is the name of the MCP client that reserves the tab.
	Client string `json:"client"`
	// Site is the origin (scheme, host and port) of the page in which the client last acted.
	Site string `json:"site"`
	// LeftMs is the remaining time of the client's reservation of the tab, in milliseconds.
	LeftMs float64 `json:"leftMs"`
	// IsTakenBack is true if the user clicked or typed in the tab, which ends the client's
	// reservation.
	IsTakenBack bool `json:"taken,omitempty"`
}

// TabUserInputParams reports that the user clicked or typed in a tab.
type TabUserInputParams struct {
	TabID int `json:"tabId"`
}

// SessionEndedParams lists the IDs of MCP sessions that have ended. In a call of a browser
// tool, the argument "_session" is the ID of the MCP session.
type SessionEndedParams struct {
	Sessions []string `json:"sessions,omitempty"`
}

// SessionUsedParams lists the IDs of MCP sessions for which the browser stores state.
type SessionUsedParams struct {
	Sessions []string `json:"sessions,omitempty"`
}

// TabReleaseParams reports that the user wants the MCP client to stop using a tab.
type TabReleaseParams struct {
	TabID int `json:"tabId"`
}

// TabReleaseResult is an empty object that confirms that the server cancels the client's
// calls in a tab.
type TabReleaseResult struct{}
