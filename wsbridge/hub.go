package wsbridge

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/wire"
)

// The times of a hub whose options do not name others.
const (
	DefaultGrace     = 10 * time.Second
	DefaultDeadAfter = wire.SilentMs * time.Millisecond
	DefaultFirstWait = 3 * time.Second
)

// Adapters is where a hub gets plugins from. Its methods are safe for
// concurrent use.
type Adapters interface {
	// List returns every plugin that a browser should have. It may wait until the
	// plugins are loaded.
	List() []wire.PluginInfo
	// Hashes returns the hash of each of them by name, as far as they are loaded.
	Hashes() map[string]string
	// Code returns the code of a plugin whose info names this script. It returns
	// an error if the plugin has another one by now.
	Code(name, script string) (wire.PluginCodeParams, error)
}

// Calls is what side panels show, stop and decide about. *dispatch.Dispatcher
// implements it.
type Calls interface {
	// Cancel ends a call as cancelled, for a reason or none; it reports false if
	// there is none.
	Cancel(callID, by, reason string) bool
	// Decide settles what a suspended call waits for; the error is a sentence.
	Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.Decision, error)
	// Find returns one call, with its activities.
	Find(callID string) (dispatch.View, bool)
	// Calls returns the calls that run or wait, oldest first, then the last
	// that ended, newest first.
	Calls() []dispatch.View
	// Follow returns a follower of all events from now on.
	Follow(dispatch.FollowOptions) *dispatch.Follower
}

var _ Calls = (*dispatch.Dispatcher)(nil)

// Policy is what side panels show and set of what agents may do. Its methods
// are safe for concurrent use; by is the surface, and an error is a sentence for
// the person.
type Policy interface {
	// Plugins returns all plugins with their permissions and settings, and those
	// that can't be loaded.
	Plugins() ([]wire.PluginView, []wire.FailedView)
	// SetPermission sets the permission of a plugin, or of its tool if that is not
	// empty; an empty permission takes the tool's own away.
	SetPermission(plugin, tool string, permission wire.Permission, by string) error
	// Review says that a person has reviewed what of the plugin has this hash.
	Review(plugin, hash string, permission wire.Permission, by string) error
	// ChangeSettings sets settings of a plugin by key; null takes one away.
	ChangeSettings(plugin string, values map[string]json.RawMessage, by string) error
	// SetOpening says whether calls may open the plugin's page.
	SetOpening(plugin string, allowed bool, by string) error
	// SetCalls says whether the tools of the plugin may call those of another one.
	SetCalls(plugin, other string, allowed bool, by string) error
	// SetLateAccess says whether a plugin that starts late gets its secret settings
	// and may call other plugins.
	SetLateAccess(plugin string, allowed bool, by string) error
}

// Options set a hub up.
type Options struct {
	// Key is what server and browser each prove to know before anything else is
	// sent; it is never sent. Required, no default: New panics if it is empty.
	Key string
	// Origins are the origins that may connect, exactly as the browser sends
	// them, such as "chrome-extension://<id>". Default none: nobody may connect.
	Origins []string
	// Version is the server's version, told to browsers. Default "".
	Version string
	// Log takes one line for each connection and each fault; lines about a call
	// have its id in the field "call". Default: nothing is logged.
	Log zerolog.Logger
	// Adapters is where plugins come from. Default: there are none.
	Adapters Adapters
	// Host returns the name of the host's code. Default: there is none.
	Host func() string
	// Fetch returns what a browser asks for by plugin.fetch; its error is a
	// sentence. Default: there is no code to fetch.
	Fetch func(wire.PluginFetchParams) (wire.PluginFetchResult, error)
	// Settings returns the settings of all plugins that have any, for the
	// documents in which they are live; after a change call Sync. Default: none
	// has.
	Settings func() []wire.PluginSettingsParams
	// RunsIn says whether a plugin may run in a document with this URL; frame says
	// that it is not the top document of its tab. What a browser claims beyond that
	// gets no call. Default: what browsers claim is believed.
	RunsIn func(plugin, url string, frame bool) bool
	// Logs takes what adapters have logged, with the id and the name of the
	// browser, in order for each browser. It must not block. Default: it is
	// dropped.
	Logs func(browserID, browserName string, p wire.PluginLogParams)
	// Started takes what browsers say of adapters in documents, again and again,
	// and must not block for long. Default: it is dropped.
	Started func(Start)
	// Calls is what side panels show. Default: nothing, until SetCalls.
	Calls Calls
	// Policy is what side panels show and set. Default: there are no plugins to
	// show, and what a panel sets is refused.
	Policy Policy
	// Grace is how long a lost link may be away before its runs end with
	// link_lost. Default 10 s.
	Grace time.Duration
	// DeadAfter is how long at most nothing at all may arrive before a link counts
	// as lost, and three quarters of it how long at least. A browser that is
	// silent for half of it is pinged. Default 10 s; Chrome stops a service worker
	// that gets no message for 30 s.
	DeadAfter time.Duration
	// FirstWait is how long after New a call waits for the first browser to
	// come. Default 3 s; negative means not at all.
	FirstWait time.Duration
}

// Hub is the set of connected browsers. Make one with New; it is safe for
// concurrent use.
type Hub struct {
	opts     Options
	nonce    func() string // makes the nonce of one connection
	started  time.Time
	links    sync.WaitGroup // one for each connection that is being served
	tabs     tabNews
	refusals refusals

	syncing sync.Mutex // held by Sync, so that the newest list of plugins is stored last

	mu       sync.Mutex // guards all below; taken before any other lock but syncing
	browsers map[string]*browser
	serving  map[*link]struct{}
	greeting []*link // those in their handshake, oldest first
	calls    Calls
	hashes   map[string]string // the current hash of each plugin, by name
	waiting  int               // calls that wait for a person
	closed   bool
}

var _ dispatch.Bridge = (*Hub)(nil)

// New returns a hub without browsers. It panics if o.Key is empty.
func New(o Options) *Hub {
	if o.Key == "" {
		panic("wsbridge: Options.Key is empty")
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.DeadAfter <= 0 {
		o.DeadAfter = DefaultDeadAfter
	}
	if o.FirstWait == 0 {
		o.FirstWait = DefaultFirstWait
	}
	o.Origins = slices.Clone(o.Origins)
	h := &Hub{
		opts:     o,
		nonce:    rand.Text,
		started:  time.Now(),
		browsers: map[string]*browser{},
		serving:  map[*link]struct{}{},
		calls:    o.Calls,
	}
	h.hashes = h.currentHashes()
	return h
}

// SetCalls sets what side panels show and stop. Panels that are open already
// see it when they are opened anew.
func (h *Hub) SetCalls(c Calls) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = c
}

// Handler returns the handler of the WebSocket's path. It answers 405, 403,
// 426 or 400 with a sentence to whoever may not connect.
func (h *Hub) Handler() http.Handler { return http.HandlerFunc(h.serveHTTP) }

// Sync tells every browser that the plugins, their permissions or their settings
// have changed. It does not wait.
func (h *Hub) Sync() {
	h.syncing.Lock()
	defer h.syncing.Unlock()
	hashes := h.currentHashes()
	h.mu.Lock()
	defer h.mu.Unlock()
	news := false
	for name, hash := range hashes {
		news = news || h.hashes[name] != hash
	}
	h.hashes = hashes
	for l := range h.serving {
		l.wantSync()
		l.wantPlugins()
	}
	if !news {
		return
	}
	for _, b := range h.browsers {
		b.unsettle()
	}
}

// Waiting tells every browser how many calls wait for a person. It does not
// wait; of two calls of it at once either may count.
func (h *Hub) Waiting(calls int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = calls
	for l := range h.serving {
		l.tellWaiting(calls)
	}
}

// plugins returns the plugins that browsers should have.
func (h *Hub) plugins() []wire.PluginInfo {
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

// WantPlugins has side panels show the plugins again.
func (h *Hub) WantPlugins() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.serving {
		l.wantPlugins()
	}
}

// BrowserInfo is one browser as status pages show it.
type BrowserInfo struct {
	// ID is stable for one browser profile, Name is what the person calls it.
	ID   string `json:"id"`
	Name string `json:"name"`
	// ExtensionVersion is the version of its extension.
	ExtensionVersion string `json:"extension_version"`
	// Connected is false while the link is lost and may still come back.
	Connected bool `json:"connected"`
	// Since is when its link came up, or when it was lost.
	Since time.Time `json:"since"`
	// Inject is how it gets adapters into pages; empty before it has said.
	Inject wire.InjectMode `json:"inject,omitempty"`
	// Running counts the runs that it has not ended.
	Running int `json:"running"`
	// Tabs are its tabs that match a plugin, by id.
	Tabs []wire.TabInfo `json:"tabs,omitempty"`
	// Syncs is how often it was brought up to date with the plugins and their
	// settings since it was first seen.
	Syncs int `json:"-"`
}

// Browsers returns the browsers that are connected or may still come back, by
// name, then id.
func (h *Hub) Browsers() []BrowserInfo {
	var out []BrowserInfo
	for _, b := range h.list() {
		out = append(out, b.info())
	}
	slices.SortFunc(out, func(a, b BrowserInfo) int {
		if n := strings.Compare(a.Name, b.Name); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// list returns the browsers in no order.
func (h *Hub) list() []*browser {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*browser, 0, len(h.browsers))
	for _, b := range h.browsers {
		out = append(out, b)
	}
	return out
}

func (h *Hub) find(id string) *browser {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.browsers[id]
}

// Close ends all connections, ends the runs that are left with shutdown,
// refuses new connections, and returns when nothing of the hub runs any more,
// after a second at the latest. It may be called more than once.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	for l := range h.serving {
		l.shut(websocket.StatusGoingAway, "opentabs is stopping")
	}
	var after []func()
	for id, b := range h.browsers {
		after = append(after, b.end(&wire.CallError{Code: wire.ErrShutdown, Message: "the server is stopping"})...)
		delete(h.browsers, id)
	}
	h.mu.Unlock()
	runAll(after)
	h.links.Wait()
}

// runAll calls what had to wait until no lock was held.
func runAll(after []func()) {
	for _, f := range after {
		f()
	}
}
