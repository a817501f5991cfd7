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

const (
	defaultGracePeriod         = 10 * time.Second
	defaultMaxFirstBrowserWait = 5 * time.Second
)

// Adapters provides the plugins that the hub sends to all connected browsers. Implementations
// must be safe for concurrent use.
type Adapters interface {
	// List returns every plugin that browsers should have. List is allowed to block until the plugins
	// are loaded.
	List() []wire.PluginInfo
	// Hashes returns the content hash of each loaded plugin, keyed by plugin name.
	Hashes() map[string]string
}

// Calls provides the tool calls to side panels, which show and stop calls and send the user's
// decisions. The type dispatch.Dispatcher implements Calls.
type Calls interface {
	// Cancel cancels a call and records the optional reason. Cancel returns false if the call ID is unknown.
	Cancel(callID, surface, cancelReason string) bool
	// Decide records the user's decision about a suspended call. The text of a returned error
	// is a full sentence for the user.
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.DecisionResult, error)
	shape.Calls
	// Subscribe returns a subscriber that receives all later events of all calls.
	Subscribe(dispatch.SubscribeOptions) *dispatch.Subscriber
}

var _ Calls = (*dispatch.Dispatcher)(nil)

// Options configure a [Hub].
type Options struct {
	// Key is the secret key of the opentabs installation, which server and browser share. Server and browser each prove
	// that they have the key before any other frame is sent. The secret key itself is never sent over the connection.
	// Required: New panics if Key is empty.
	Key string
	// Pairings stores the keys of paired browsers. By default, no browser is paired.
	Pairings Pairings
	// The field Origins contains the HTTP origins from which the hub accepts connections, exactly
	// as the browser sends them, such as "chrome-extension://<id>". By default, the hub rejects
	// every connection.
	Origins []string
	// Version is the server's version, which is sent to browsers. The default of the
	// field Version is "".
	Version string
	// The field Log receives one line for each connection and for each protocol error of a
	// browser. Log lines about a call have the call's ID in the field "call". By default,
	// nothing is logged.
	Log zerolog.Logger
	// Adapters provides the plugins that the hub sends to browsers. By default, browsers
	// receive no plugins.
	Adapters Adapters
	// HostScript returns the ID of the host script, the code that runs adapters in pages. By
	// default, browsers receive no host script.
	HostScript func() string
	// FetchCode answers a browser's plugin.fetch request for code. The text of a returned error
	// is a full sentence. By default, the hub rejects every plugin.fetch request.
	FetchCode func(wire.PluginFetchParams) (wire.PluginFetchResult, error)
	// Settings returns the settings of all plugins that have settings. The hub sends the plugin
	// settings to browsers, where the plugins read them. The hub's owner must call Hub.Sync after
	// settings have changed. By default, browsers receive no settings.
	Settings func() []wire.PluginSettingsParams
	// CanPluginRunIn reports whether the user's settings let a plugin run in a document with the given URL.
	// The parameter frame is false for the top document of a tab and true for documents in frames. If
	// CanPluginRunIn returns false for a document, the document receives no calls of the plugin. By default,
	// calls can run in every document that a browser reports.
	CanPluginRunIn func(plugin, url string, frame bool) bool
	// ReceiveLogs receives the log entries of adapters, together with the ID and the name of
	// the browser. The hub passes on the log entries of one browser in the order in which they
	// arrived. ReceiveLogs must not block. By default, log entries are dropped.
	ReceiveLogs func(browserID, browserName string, p wire.PluginLogParams)
	// ReceiveStart is called for each report from a browser about the start, or the failed start, of an adapter in a
	// document. A browser can send a report more than once. ReceiveStart must not block for long. By default, reports
	// of adapter starts are dropped.
	ReceiveStart func(AdapterStartReport)
	// Calls provides the tool calls that side panels show. By default, side panels show no
	// calls until SetCalls is called.
	Calls Calls
	// RepeatCall runs a recorded call again. By default, the hub rejects every call.repeat request.
	RepeatCall func(callID string) error
	// UndoCall answers a side panel's call.undo request. By default, the hub rejects every
	// call.undo request.
	UndoCall func(wire.CallUndoParams) (wire.CallUndoResult, error)
	// ReceiveLateAnswer receives a page's result for a call that has already ended, for example after a lost
	// link. ReceiveLateAnswer must check the run ID, because a browser can send the ID of a call that ran in
	// another browser. By default, late results are dropped.
	ReceiveLateAnswer func(browserID, runID string, lateAnswer dispatch.LateAnswer)
	// InspectCall answers a side panel's call.inspect request. By default, the hub rejects
	// every call.inspect request.
	InspectCall func(p wire.CallInspectParams) (wire.CallInspectResult, error)
	// ReadHistory returns recorded calls for a side panel's calls.history request. By default,
	// the hub rejects every calls.history request.
	ReadHistory func(browserID string, p wire.CallsHistoryParams) (wire.CallsHistoryResult, error)
	// Policy is the interface through which side panels read and change permissions and
	// settings. By default, side panels show no plugins, and the hub rejects changes that a
	// side panel requests.
	Policy changes.Policy
	// ClientNames returns the names of the connected MCP clients for side panels. By default,
	// side panels show no calls before SetCalls is called.
	ClientNames func() []string
	// FindEndedSessions receives a list of MCP sessions, and returns the sessions that have ended. By
	// default, the hub treats every MCP session as active.
	FindEndedSessions func(sessions []string) []string
	// OnBrowsersChange is called after a browser connects, and after the grace period of a
	// disconnected browser ends. By default, OnBrowsersChange does nothing.
	OnBrowsersChange func()
	// ChooseBrowserName returns the name under which users see a browser, and whether a user chose that
	// name. If ChooseBrowserName is nil, the default is the name that the browser sent.
	ChooseBrowserName func(browserID, sentName string, isDefault bool) (name string, isGiven bool)
	// GracePeriod is how long a browser can stay disconnected before its calls fail with the error
	// code link_lost. The default of the field GracePeriod is 10 s.
	GracePeriod time.Duration
	// MaxFirstBrowserWait is how long after New a call can wait for the first browser to connect.
	// The default of the field MaxFirstBrowserWait is 5 s. A negative MaxFirstBrowserWait disables
	// the wait.
	MaxFirstBrowserWait time.Duration
}

// Hub manages the links to all connected browsers, and runs tool calls in the browsers. New
// creates a Hub. A Hub is safe for concurrent use.
type Hub struct {
	// Holds sends browsers the list of tabs that clients currently use with browser tools, and the
	// client sessions that ended.
	Holds TabHoldSender
	// Probe measures whether and how fast browsers respond over their links.
	Probe LinkDiagnostics

	opts       Options
	newNonce   func() string // newNonce returns a new random nonce for each connection
	startedAt  time.Time
	tabChanges tabsignal.TabChanges
	refusals   refusallog.Log
	registry   registry
	syncCount  atomic.Int64

	mu                     sync.Mutex // the mutex guards all fields below
	calls                  Calls
	hashes                 map[string]string
	pluginHashesSyncNumber int64
}

var _ dispatch.Bridge = (*Hub)(nil)

// New returns a hub without browsers. New panics if o.Key is empty.
func New(o Options) *Hub {
	if o.Key == "" {
		panic("wsbridge: Options.Key is empty")
	}
	if o.OnBrowsersChange == nil {
		o.OnBrowsersChange = func() {}
	}
	if o.RepeatCall == nil {
		o.RepeatCall = func(string) error { return errNoCallHistory }
	}
	if o.InspectCall == nil {
		o.InspectCall = func(wire.CallInspectParams) (r wire.CallInspectResult, err error) { return r, errNoCallHistory }
	}
	if o.UndoCall == nil {
		o.UndoCall = func(wire.CallUndoParams) (r wire.CallUndoResult, err error) { return r, errNoCallHistory }
	}
	if o.ReadHistory == nil {
		o.ReadHistory = func(string, wire.CallsHistoryParams) (r wire.CallsHistoryResult, err error) {
			return r, errNoCallHistory
		}
	}
	if o.FindEndedSessions == nil {
		o.FindEndedSessions = func([]string) []string { return nil }
	}
	if o.GracePeriod <= 0 {
		o.GracePeriod = defaultGracePeriod
	}
	if o.MaxFirstBrowserWait == 0 {
		o.MaxFirstBrowserWait = defaultMaxFirstBrowserWait
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

// SetCalls sets the source of the tool calls that side panels show and stop. A side panel that
// is already open when SetCalls is called shows calls only after it is reopened.
func (h *Hub) SetCalls(c Calls) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = c
}

// Handler returns the HTTP handler for the path of the WebSocket, /ws. If the handler rejects a
// request, it responds with status 400, 403, 405 or 426 and a sentence that explains the reason.
func (h *Hub) Handler() http.Handler { return http.HandlerFunc(h.serveHTTP) }

// Sync sends the plugins, permissions and settings to every browser that does not have their
// current versions. Sync does not wait for the browsers.
func (h *Hub) Sync() {
	syncNumber := h.syncCount.Add(1)
	hashes := h.currentHashes()
	if h.hasChanged(hashes) {
		for _, b := range h.registry.listBrowsers() {
			b.tabs.markUnsynced() // mark browsers as unsynced before any tool call can see the new hashes
		}
	}
	h.mu.Lock()
	if syncNumber > h.pluginHashesSyncNumber { // a concurrent, later Sync may already have stored newer hashes
		h.hashes, h.pluginHashesSyncNumber = hashes, syncNumber
	}
	h.mu.Unlock()
	for _, l := range h.registry.openLinks() {
		l.adapters.request()
		l.panel.requestPlugins()
	}
}

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

func (h *Hub) hasPlugin(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.hashes[name]
	return ok
}

// SendWaitingCount sends every browser the number of calls that are waiting for the user. SendWaitingCount
// does not block. The numbers of concurrent calls of SendWaitingCount are sent in any order.
func (h *Hub) SendWaitingCount(calls int) { h.registry.setWaitingCount(calls) }

// RefreshPlugins makes all open side panels show the current list of plugins.
func (h *Hub) RefreshPlugins() {
	for _, l := range h.registry.openLinks() {
		l.panel.requestPlugins()
	}
}

// Close closes all connections, fails the remaining calls with the error code shutdown, and rejects
// new connections. Close waits until all goroutines of the hub have ended, for at most 1 s. Close
// may be called more than once.
func (h *Hub) Close() {
	h.registry.close(&wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"})
}

func (h *Hub) listPlugins() []wire.PluginInfo {
	if h.opts.Adapters == nil {
		return nil
	}
	return h.opts.Adapters.List()
}

func (h *Hub) currentHashes() map[string]string {
	if h.opts.Adapters == nil {
		return nil
	}
	return h.opts.Adapters.Hashes()
}

// Pairings stores the keys of browsers that the user paired with a code. Implementations must
// be safe for concurrent use.
type Pairings interface {
	// Key returns the key for the given wire.KeyID, or "" if no pairing has that KeyID.
	Key(keyID string) (string, error)
	// Confirm records that the browser has proved that it has the key. Confirm returns a new
	// key for the browser's next connections, or "" if the browser keeps its key.
	Confirm(keyID, browserName string) (newKey string, err error)
}

// BrowserInfo describes one browser for status output such as `opentabs status`.
type BrowserInfo = status.Browser

// Browsers returns the connected browsers, and the disconnected browsers whose grace period has not
// ended. Browsers sorts the returned browsers by name, then by ID.
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
