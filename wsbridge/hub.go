package wsbridge

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/wire"
	"opentabs/wsbridge/changes"
	"opentabs/wsbridge/refusallog"
	"opentabs/wsbridge/status"
	"opentabs/wsbridge/tabsignal"
)

// Defaults for the durations in Options.
const (
	defaultGracePeriod      = 10 * time.Second
	defaultFirstBrowserWait = 3 * time.Second
)

// Adapters provides the plugins of a hub. The methods of Adapters are safe for
// concurrent use.
type Adapters interface {
	// List returns every plugin that browsers should have. List may block until the
	// plugins are loaded.
	List() []wire.PluginInfo
	// Hashes returns the hash of each loaded plugin by name.
	Hashes() map[string]string
	// Code returns the code of a plugin, and returns an error if the plugin no longer
	// has the given script.
	Code(name, script string) (wire.PluginCodeParams, error)
}

// Calls provides the tool calls that side panels show, stop and decide about.
// *dispatch.Dispatcher implements it.
type Calls interface {
	// Cancel ends a call as cancelled, with an optional reason, and reports false if
	// there is no such call.
	Cancel(callID, surface, reason string) bool
	// Decide resolves the ticket of a suspended call. The error of Decide is a sentence.
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.DecisionResult, error)
	shape.Calls
	// Follow returns a follower that receives all later events of calls.
	Follow(dispatch.FollowOptions) *dispatch.Follower
}

var _ Calls = (*dispatch.Dispatcher)(nil)

// Options configure a hub.
type Options struct {
	// Key is the shared secret that server and browser prove to have before any other
	// frame. The shared secret Key is never sent. Required: New panics if Key is empty.
	Key string
	// Pairings stores the keys of paired browsers. By default, no browser is paired.
	Pairings Pairings
	// Origins are the origins that may connect, exactly as the browser sends them, such
	// as "chrome-extension://<id>". By default, the hub rejects every connection.
	Origins []string
	// Version is the server's version, sent to browsers. Default "".
	Version string
	// Log receives one log line for each connection and each fault of a browser. Log
	// lines about a call have the call's ID in the field "call". Default: no log.
	Log zerolog.Logger
	// Adapters provides the plugins that the hub sends to browsers. Default: no
	// plugins.
	Adapters Adapters
	// HostScript returns the name of the host's code. Default: no host.
	HostScript func() string
	// FetchCode returns the answer to plugin.fetch, or an error whose text is a
	// sentence. By default, the hub rejects every plugin.fetch.
	FetchCode func(wire.PluginFetchParams) (wire.PluginFetchResult, error)
	// Settings returns the settings of all plugins that have settings, for the
	// documents in which the plugins run. Call Hub.Sync after a change of settings.
	// Default: no settings.
	Settings func() []wire.PluginSettingsParams
	// MayRunIn reports whether a plugin may run in a document with this URL. The
	// parameter frame is true unless the document is the top document of a tab.
	// Documents for which MayRunIn returns false get no calls. By default,
	// calls can run in every document that a browser reports.
	MayRunIn func(plugin, url string, frame bool) bool
	// ReceiveLogs receives the log entries of adapters with the ID and the name of the
	// browser, in order for each browser. ReceiveLogs must not block. By default,
	// log entries are dropped.
	ReceiveLogs func(browserID, browserName string, p wire.PluginLogParams)
	// ReceiveStart receives each report of a browser about an adapter in a document,
	// including repeated reports. ReceiveStart must not block for long. By default,
	// reports about adapters are dropped.
	ReceiveStart func(AdapterStart)
	// Calls provides the tool calls that side panels show. By default, side panels show
	// no calls until SetCalls is called.
	Calls Calls
	// RepeatCall makes a recorded call again. By default, each call.repeat request is
	// rejected.
	RepeatCall func(callID string) error
	// UndoCall answers a call.undo of a side panel. By default, each call.undo is rejected.
	UndoCall func(wire.CallUndoParams) (wire.CallUndoResult, error)
	// ReceiveLate receives the answer of a page to a run that has ended, such as after a lost
	// link. The browser is authenticated, but may not have the call. Default: dropped.
	ReceiveLate func(browserID, runID string, answer dispatch.LateAnswer)
	// InspectCall answers a call.inspect request. By default, each call.inspect request is
	// rejected.
	InspectCall func(p wire.CallInspectParams) (wire.CallInspectResult, error)
	// ReadHistory returns the recorded calls for a browser's calls.history request. By
	// default, each calls.history request is rejected.
	ReadHistory func(browserID string, p wire.CallsHistoryParams) (wire.CallsHistoryResult, error)
	// Policy provides the permissions and settings that side panels show and change. By
	// default, side panels show no plugins, and changes are rejected.
	Policy changes.Policy
	// ClientNames returns the names of the connected MCP clients for side panels. By
	// default, side panels show no clients.
	ClientNames func() []string
	// EndedSessions returns which sessions have ended. By default, no session has ended.
	EndedSessions func(sessions []string) []string
	// OnBrowsersChange is called after a browser has connected, and after the grace
	// period of a lost browser has ended. By default, OnBrowsersChange is not called.
	OnBrowsersChange func()
	// NameBrowser returns the name under which users see a browser, and whether a user
	// chose the name. By default, users see the name that the browser sent.
	NameBrowser func(browserID, sentName string, isDefault bool) (name string, isGiven bool)
	// GracePeriod is how long a browser may stay disconnected before its runs end with
	// link_lost. Default 10 s.
	GracePeriod time.Duration
	// FirstBrowserWait limits how long after New a call waits for the first browser.
	// Default 3 s; a negative FirstBrowserWait means no wait.
	FirstBrowserWait time.Duration
}

// Hub is the set of connected browsers. Create a Hub with New. A Hub is safe for
// concurrent use.
type Hub struct {
	// Holds sends the held tabs and the ended sessions of clients to browsers.
	Holds HoldSender
	// Probe tests the links to browsers.
	Probe LinkProbe

	opts       Options
	newNonce   func() string // newNonce returns a new nonce for each connection
	startedAt  time.Time
	tabChanges tabsignal.Signal
	refusals   refusallog.Log
	registry   registry
	syncCount  atomic.Int64 // syncCount counts the calls of Sync

	mu               sync.Mutex // mu guards all fields below
	calls            Calls
	hashes           map[string]string // the current hash of each plugin, by name
	hashesSyncNumber int64             // the number of the Sync call that read hashes
}

var _ dispatch.Bridge = (*Hub)(nil)

// New returns a hub without browsers and panics if o.Key is empty.
func New(o Options) *Hub {
	if o.Key == "" {
		panic("wsbridge: Options.Key is empty")
	}
	if o.OnBrowsersChange == nil {
		o.OnBrowsersChange = func() {}
	}
	if o.RepeatCall == nil {
		o.RepeatCall = func(string) error { return errNoHistory }
	}
	if o.InspectCall == nil {
		o.InspectCall = func(wire.CallInspectParams) (r wire.CallInspectResult, err error) { return r, errNoHistory }
	}
	if o.UndoCall == nil {
		o.UndoCall = func(wire.CallUndoParams) (r wire.CallUndoResult, err error) { return r, errNoHistory }
	}
	if o.ReadHistory == nil {
		o.ReadHistory = func(string, wire.CallsHistoryParams) (r wire.CallsHistoryResult, err error) { return r, errNoHistory }
	}
	if o.EndedSessions == nil {
		o.EndedSessions = func([]string) []string { return nil }
	}
	if o.GracePeriod <= 0 {
		o.GracePeriod = defaultGracePeriod
	}
	if o.FirstBrowserWait == 0 {
		o.FirstBrowserWait = defaultFirstBrowserWait
	}
	o.Origins = slices.Clone(o.Origins)
	h := &Hub{
		opts:      o,
		newNonce:  rand.Text,
		startedAt: time.Now(),
		calls:     o.Calls,
	}
	h.registry = registry{hub: h, browsers: map[string]*browser{}, openLinksSet: map[*link]struct{}{}}
	h.Holds.hub, h.Probe.hub = h, h
	h.hashes = h.currentHashes()
	return h
}

// SetCalls sets the source of the tool calls that side panels show and stop. A side
// panel that was open before SetCalls must be reopened to show calls.
func (h *Hub) SetCalls(c Calls) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = c
}

// Handler returns the handler of the WebSocket's path. Handler answers 405, 403, 426 or
// 400 with a sentence if the peer may not connect.
func (h *Hub) Handler() http.Handler { return http.HandlerFunc(h.serveHTTP) }

// Sync notifies every browser that the plugins, their permissions or their settings
// have changed, and does not wait for the browsers.
func (h *Hub) Sync() {
	syncNumber := h.syncCount.Add(1)
	hashes := h.currentHashes()
	if h.hasChanged(hashes) {
		for _, b := range h.registry.listBrowsers() {
			b.tabs.markUnsynced() // mark browsers as unsynced before a tool call can see the new hashes
		}
	}
	h.mu.Lock()
	if syncNumber > h.hashesSyncNumber { // the condition is false if a later Sync has stored newer hashes
		h.hashes, h.hashesSyncNumber = hashes, syncNumber
	}
	h.mu.Unlock()
	for _, l := range h.registry.openLinks() {
		l.adapters.request()
		l.panel.requestPlugins()
	}
}

// hasChanged reports whether hashes has a new plugin or a new version of a plugin.
func (h *Hub) hasChanged(hashes map[string]string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, hash := range hashes {
		if h.hashes[name] != hash {
			return true
		}
	}
	return false
}

// hasPlugin reports whether the server has a plugin.
func (h *Hub) hasPlugin(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.hashes[name]
	return ok
}

// SendWaiting sends to every browser how many calls are waiting for the user, and does
// not block. If two calls of SendWaiting are concurrent, the number of either call may
// be sent last.
func (h *Hub) SendWaiting(calls int) { h.registry.setWaiting(calls) }

// RefreshPlugins refreshes the plugins in side panels.
func (h *Hub) RefreshPlugins() {
	for _, l := range h.registry.openLinks() {
		l.panel.requestPlugins()
	}
}

// Close ends all connections, ends the remaining runs with shutdown, and rejects new
// connections. Close returns when all goroutines of the hub have ended, after 1 s at
// most. Close may be called more than once.
func (h *Hub) Close() {
	h.registry.close(&wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"})
}

// listPlugins returns the plugins that browsers should have.
func (h *Hub) listPlugins() []wire.PluginInfo {
	if h.opts.Adapters == nil {
		return nil
	}
	return h.opts.Adapters.List()
}

// currentHashes returns the current hash of each plugin, by name.
func (h *Hub) currentHashes() map[string]string {
	if h.opts.Adapters == nil {
		return nil
	}
	return h.opts.Adapters.Hashes()
}

// Pairings stores the keys of browsers that were paired with a code. All methods of
// Pairings are safe for concurrent use.
type Pairings interface {
	// Key returns the key with a wire.KeyID, or "" for an unknown wire.KeyID.
	Key(keyID string) (string, error)
	// Confirm records that the browser has proved possession of the key. The result
	// newKey is the key for the browser's next connections, or "" if the browser keeps
	// its key.
	Confirm(keyID, browserName string) (newKey string, err error)
}

// BrowserInfo describes one browser for `opentabs status` and similar pages.
type BrowserInfo = status.Browser

// Browsers returns the browsers that are connected or may still reconnect,
// sorted by name, then ID.
func (h *Hub) Browsers() []BrowserInfo {
	var browserInfos []BrowserInfo
	for _, b := range h.registry.listBrowsers() {
		browserInfos = append(browserInfos, h.registry.browserInfo(b))
	}
	slices.SortFunc(browserInfos, func(a, b BrowserInfo) int {
		if n := strings.Compare(a.Name, b.Name); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return browserInfos
}
