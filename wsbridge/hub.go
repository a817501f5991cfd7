package wsbridge

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
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
	// Code returns the code of a plugin whose info names this script, and returns an
	// error if the script of the plugin has changed.
	Code(name, script string) (wire.PluginCodeParams, error)
}

// Calls provides what side panels show, stop and decide. *dispatch.Dispatcher
// implements it.
type Calls interface {
	// Cancel ends a call as cancelled, with an optional reason, and reports false if
	// there is no such call.
	Cancel(callID, surface, reason string) bool
	// Decide resolves the ticket of a suspended call. The error of Decide is a sentence.
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.DecisionResult, error)
	// Find returns one call with its activities.
	Find(callID string) (dispatch.View, bool)
	// Calls returns the unfinished calls, oldest first, then the last finished
	// ones, newest first.
	Calls() []dispatch.View
	// Follow returns a follower of all further events.
	Follow(dispatch.FollowOptions) *dispatch.Follower
}

var _ Calls = (*dispatch.Dispatcher)(nil)

// Policy provides the permissions and settings that side panels show and change. The
// methods of Policy are safe for concurrent use. The argument surface names the place
// of the user's decision, and an error is a sentence for the user.
type Policy interface {
	// Plugins returns all plugins with their permissions and settings, and the plugins
	// that failed to load.
	Plugins() ([]wire.PluginView, []wire.FailedPluginView)
	// SetPermission sets the permission of a plugin, or of one of its tools if tool is
	// not empty. An empty permission removes the tool's permission.
	SetPermission(plugin, tool string, permission wire.Permission, surface string) error
	// Review records that the user has reviewed the version of the plugin with this hash.
	Review(plugin, hash string, permission wire.Permission, surface string) error
	// ChangeSettings changes settings of a plugin by key; null removes a setting.
	ChangeSettings(plugin string, values map[string]json.RawMessage, surface string) error
	// SetOpening allows or forbids calls to open the plugin's page.
	SetOpening(plugin string, allowed bool, surface string) error
	// SetCalls allows or forbids the tools of the plugin to call the tools of another
	// plugin.
	SetCalls(plugin, other string, allowed bool, surface string) error
	// SetLateAccess allows or forbids a plugin that starts late to get its
	// secret settings and to call other plugins.
	SetLateAccess(plugin string, allowed bool, surface string) error
}

// Options configure a hub.
type Options struct {
	// Key is the shared secret that server and browser prove to have before any other
	// frame. Key is never sent. Required, no default: New panics if it is empty.
	Key string
	// Origins are the origins that may connect, exactly as the browser sends them, such
	// as "chrome-extension://<id>". Default none: every connection is rejected.
	Origins []string
	// Version is the server's version, sent to browsers. Default "".
	Version string
	// Log receives one line for each connection and each fault. Lines about a
	// call have its ID in the field "call". Default: no log.
	Log zerolog.Logger
	// Adapters provides the plugins. Default: no plugins.
	Adapters Adapters
	// HostScript returns the name of the host's code. Default: no host.
	HostScript func() string
	// FetchCode answers plugin.fetch; the text of its error is a sentence. Default:
	// every plugin.fetch is rejected.
	FetchCode func(wire.PluginFetchParams) (wire.PluginFetchResult, error)
	// Settings returns the settings of all plugins that have any, for the documents in
	// which they are live. Call Sync after a change. Default: no settings.
	Settings func() []wire.PluginSettingsParams
	// MayRunIn reports whether a plugin may run in a document with this URL; frame is
	// true for documents other than the top one of a tab. Documents for which MayRunIn
	// returns false get no calls. Default: every reported document is accepted.
	MayRunIn func(plugin, url string, frame bool) bool
	// ReceiveLogs receives the log entries of adapters with the ID and the name of the
	// browser, in order for each browser. Logs must not block. Default: entries are
	// dropped.
	ReceiveLogs func(browserID, browserName string, p wire.PluginLogParams)
	// ReceiveStart receives what browsers report about adapters in documents,
	// repeatedly. ReceiveStart must not block for long. Default: reports are dropped.
	ReceiveStart func(AdapterStart)
	// Calls provides what side panels show. Default: nothing, until SetCalls is called.
	Calls Calls
	// Policy provides what side panels show and change. Default: no plugins are
	// shown, and changes are rejected.
	Policy Policy
	// GracePeriod limits how long a lost link may be away before its runs end with
	// link_lost. Default 10 s.
	GracePeriod time.Duration
	// FirstBrowserWait limits how long after New a call waits for the first browser.
	// Default 3 s; negative means no wait.
	FirstBrowserWait time.Duration
}

// Hub is the set of connected browsers. Create a Hub with New. A Hub is safe for
// concurrent use.
type Hub struct {
	opts       Options
	newNonce   func() string // returns a new nonce for each connection
	startedAt  time.Time
	tabChanges tabChanges
	refusals   refusalLog
	registry   registry
	syncCount  atomic.Int64 // counts the calls of Sync

	mu               sync.Mutex // guards all fields below
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
	h.hashes = h.currentHashes()
	return h
}

// SetCalls sets what side panels show and stop. A panel that is already open must be
// reopened.
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
			b.tabs.markUnsynced() // before a tool call can see the new hashes
		}
	}
	h.mu.Lock()
	if syncNumber > h.hashesSyncNumber { // false if a later Sync has stored newer hashes
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

// BrowserInfo describes one browser for status pages.
type BrowserInfo struct {
	// ID is stable for one browser profile, Name is the user's name for it.
	ID   string `json:"id"`
	Name string `json:"name"`
	// ExtensionVersion is the version of the browser's extension.
	ExtensionVersion string `json:"extension_version"`
	// Connected is false while the link is lost and may still return.
	Connected bool `json:"connected"`
	// LinkChangedAt is when the link was established or lost.
	LinkChangedAt time.Time `json:"since"`
	// InjectMode is how the browser injects adapters into pages; empty until it
	// reports that.
	InjectMode wire.InjectMode `json:"inject,omitempty"`
	// RunCount counts the unfinished runs.
	RunCount int `json:"running"`
	// Tabs are the browser's tabs that match a plugin, by ID.
	Tabs []wire.TabInfo `json:"tabs,omitempty"`
	// SyncCount counts the completed syncs of plugins and settings.
	SyncCount int `json:"-"`
}

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
