package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch/hops"
	"opentabs/internal/httpjson"
	"opentabs/internal/loopback"
	"opentabs/wire"
)

// CommandPath is the path of the MCP endpoint for the opentabs command. Requests to
// CommandPath require the administrator token.
const CommandPath = "/cli/mcp"

// Options configure the API, and connect the routes to the other parts of the server.
// Every field whose comment states no default is required.
type Options struct {
	// Token is the administrator token, which is valid for every route except /mcp.
	Token string
	// Clients checks the tokens of MCP clients, which are valid for /mcp only. By
	// default, no client token is valid.
	Clients ClientTokens
	// The field Origins contains the origins of trusted extensions, such as
	// "chrome-extension://<id>". The server rejects a request whose Origin header names
	// neither a trusted extension nor the server itself. By default, no extension is
	// trusted.
	Origins []string
	// Health is the response of /healthz, without the proof.
	Health Health
	Calls  Calls
	// Records reads the recorded calls. By default, no calls are recorded.
	Records Records
	// UndoCall starts a call that undoes the call with the given ID. If UndoCall fails,
	// its error message is a sentence for the user. By default, no call can be undone.
	UndoCall func(callID string) (UndoResponse, error)
	// WaitUntilLoaded blocks until the plugins are loaded. If loading takes too long, WaitUntilLoaded returns
	// an error with a text for the user. Requests for /status and the routes below /plugins
	// call WaitUntilLoaded first. By default, requests do not wait for the plugins.
	WaitUntilLoaded func(ctx context.Context) error
	// Status returns the response of /status.
	Status func() Status
	// Stop starts the shutdown of the server, and returns before the shutdown has
	// completed.
	Stop func()
	// Reload reloads all plugins from disk.
	Reload func() error
	// StartDevelopment puts the plugin in a folder into development mode until the caller
	// calls endDevelopment. In development mode, every version of the plugin counts as
	// reviewed. The argument dir is an absolute path. If the plugin has no permission, StartDevelopment sets the given
	// permission.
	StartDevelopment func(dir string, permission wire.Permission) (endDevelopment func(), err error)
	// ReloadTab reloads the tab with the given ID. The argument browser is the ID or name of
	// the tab's browser. If browser is empty, exactly one browser must have a tab with this ID.
	ReloadTab func(ctx context.Context, browser string, tabID int) error
	// ReleaseTab ends an MCP client's control of a tab, and returns the name of the
	// client. The argument browser is the ID or name of the tab's browser. If browser is
	// empty, exactly one browser must have a tab with this ID.
	ReleaseTab func(browser string, tabID int) (client string, err error)
	// PingBrowser returns the duration of a round trip to the extension in a connected
	// browser.
	PingBrowser func(ctx context.Context, browserID string) (time.Duration, error)
	// BrowserNames reads and changes the names of browsers, and the default browsers of
	// clients.
	BrowserNames BrowserNames
	// Policy reads and changes the permissions and settings of plugins.
	Policy Policy
	// Metrics serves /metrics.
	Metrics http.Handler
	// Logs reads the log entries of adapters.
	Logs Logs
	// MCP serves /mcp and CommandPath. For a request to /mcp, [CallerOf] returns the MCP
	// client. Browsers serves /ws, the WebSocket of the extension.
	MCP      http.Handler
	Browsers http.Handler
	// Stdio serves one MCP session of newline-delimited JSON on a connection of /stdio. If
	// the MCP client sent its token, [CallerOf] returns the client. Stdio returns when ctx
	// ends, or at the end of the input.
	Stdio func(ctx context.Context, inputReader io.Reader, outWriter io.Writer) error
	// Heartbeat is the time without events after which an event stream sends a comment. A
	// comment keeps the connection of an idle event stream open. By default, Heartbeat is 15
	// s.
	Heartbeat time.Duration
	// The field Log receives one line for each failed connection of /stdio. By default,
	// failed connections are not logged.
	Log zerolog.Logger
}

// API is the [http.Handler] of all routes of the opentabs server.
type API struct {
	options        Options
	guard          *requestGuard
	guardedHandler http.Handler
	stdio          *stdioRoute
	eventStreams   *eventStreams
	writeSlots     writeSlots
}

// New returns a handler that serves all routes with the given options.
func New(o Options) *API {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.Records == nil {
		o.Records = emptyRecords{}
	}
	if o.UndoCall == nil {
		o.UndoCall = func(string) (UndoResponse, error) { return UndoResponse{}, errors.New("no call can be undone here") }
	}
	g := newGuard(o.Token, o.Clients, o.Origins)
	a := &API{options: o, stdio: &stdioRoute{serve: o.Stdio, guard: g, log: o.Log}, eventStreams: newStreams(o.Heartbeat), writeSlots: newWriteSlots()}
	a.guard = g
	mux := http.NewServeMux()
	for path, methods := range a.routeTable() {
		allowedMethods := make([]string, 0, len(methods))
		for method, serve := range methods {
			if path == "/status" || strings.HasPrefix(path, "/plugins/") {
				serve = a.serveWhenReady(serve)
			}
			mux.Handle(method+" "+path, g.requireToken(serve))
			allowedMethods = append(allowedMethods, method)
		}
		mux.Handle(path, g.requireToken(rejectOtherMethods(allowedMethods)))
	}
	mux.HandleFunc("GET /healthz", a.serveHealth)
	mux.HandleFunc("/healthz", rejectOtherMethods([]string{http.MethodGet}))
	mux.Handle(CommandPath, g.requireToken(o.MCP))
	mux.Handle("/", g.requireToken(http.HandlerFunc(serveNotFound)))
	// The guard precedes the mux, because the mux answers some requests itself, such as
	// redirects.
	clientHandler := g.requireClient(o.MCP)
	a.guardedHandler = g.requireLocal(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" { // most requests are for /mcp, and the comparison is faster than the mux
			clientHandler.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return a
}

func (a *API) routeTable() map[string]map[string]http.HandlerFunc {
	get := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{http.MethodGet: h}
	}
	post := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{http.MethodPost: h}
	}
	calls, policy := callRoutes{a.options.Calls, a.options.Records, a.options.UndoCall}, policyRoutes{a.options.Policy}
	tabs := tabRoutes{a.options.ReloadTab, a.options.ReleaseTab}
	return map[string]map[string]http.HandlerFunc{
		"/status":                    get(a.serveStatus),
		"/calls":                     get(calls.serveList),
		"/calls/{id}":                get(calls.serveCall),
		"/calls/{id}/cancel":         post(calls.cancel),
		"/calls/{id}/undo":           post(calls.undo),
		"/calls/{id}/decide":         post(calls.serveDecision),
		"/metrics":                   get(func(w http.ResponseWriter, r *http.Request) { a.options.Metrics.ServeHTTP(w, r) }),
		"/events":                    get(eventRoute{a.options.Calls, a.eventStreams, a.writeSlots}.serveEvents),
		"/logs":                      get(logRoute{a.options.Logs, a.eventStreams}.serveLogs),
		"/tabs/{id}/reload":          post(tabs.serveReload),
		"/tabs/{id}/release":         post(tabs.serveRelease),
		"/browsers":                  get(a.serveBrowsers),
		"/browsers/ping":             post(a.servePing),
		"/browsers/name":             post(a.serveBrowserName),
		"/browsers/default":          post(a.serveBrowserDefault),
		"/browsers/forget":           post(a.serveBrowserForget),
		"/shutdown":                  post(a.serveShutdown),
		"/clients/reload":            post(handleReload(a.reloadClients)),
		"/plugins/reload":            post(handleReload(a.options.Reload)),
		"/plugins/develop":           get(developRoute{a.options.StartDevelopment, a.eventStreams}.serveDevelopment),
		"/plugins/enable":            post(policy.enablePlugins),
		"/plugins/disable":           post(policy.disablePlugins),
		"/plugins/{name}/permission": {http.MethodGet: policy.servePermissions, http.MethodPost: handleChange(policy.setPermission)},
		"/plugins/{name}/review":     post(handleChange(policy.storeReview)),
		"/plugins/{name}/limit":      post(handleChange(policy.setLimit)),
		"/plugins/{name}/opening":    post(handleChange(policy.setMayOpenTab)),
		"/plugins/{name}/calls":      post(handleChange(policy.setCalls)),
		"/plugins/{name}/late":       post(handleChange(policy.setLateStartAccess)),
		"/plugins/{name}/settings":   {http.MethodGet: policy.serveSettings, http.MethodPost: handleChange(policy.changeSettings)},
		"/plugins/{name}/forget":     post(handleChange(policy.forgetGrants)),
		"/sites":                     {http.MethodGet: policy.serveSites, http.MethodPost: policy.setSite},
		"/stdio":                     get(a.stdio.upgradeToStdio),
		// The command `go tool pprof` expects the path /debug/pprof.
		"/debug/pprof/{name}": get(serveProfile),
	}
}

// ServeHTTP serves a request. The guard checks requests for all routes except /ws, which
// authenticates with its own handshake.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ws" {
		a.options.Browsers.ServeHTTP(w, r)
		return
	}
	if r.Header[hops.Header] != nil {
		r = r.WithContext(hops.NewContext(r.Context()))
	}
	a.guardedHandler.ServeHTTP(w, r)
}

// Shutdown ends all event streams, and the input of all MCP sessions on /stdio. Shutdown
// returns when the MCP sessions on /stdio have written their last responses, or when ctx
// ends.
func (a *API) Shutdown(ctx context.Context) error {
	a.eventStreams.stop()
	return a.stdio.drainConns(ctx)
}

// ClientTokens checks the tokens of MCP clients. *clienttoken.Store implements this
// interface.
type ClientTokens interface {
	// Enter returns the name of the MCP client that has the token, or ok = false for an
	// unknown token. The returned context ends when the user removes the client's token. At
	// the end of the client's request, the caller of Enter must call the returned function
	// endRequest.
	Enter(ctx context.Context, token string) (name string, in context.Context, endRequest func(), ok bool)
	// Reload reads the tokens from disk again, and ends the requests of removed clients.
	Reload() error
}

func (a *API) reloadClients() error {
	if a.guard.clients == nil {
		return nil
	}
	return a.guard.clients.Reload()
}

func handleReload(reload func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := reload(); err != nil {
			httpjson.SendError(w, http.StatusInternalServerError, err.Error())
			return
		}
		writeConfirmationHeader(w)
	}
}

func rejectOtherMethods(allowedMethods []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", strings.Join(allowedMethods, ", "))
		httpjson.SendError(w, http.StatusMethodNotAllowed, r.Method+" is not allowed here: use "+strings.Join(allowedMethods, " or "))
	}
}

func serveNotFound(w http.ResponseWriter, _ *http.Request) {
	httpjson.SendError(w, http.StatusNotFound, "there is nothing here: use /mcp, /healthz, /status, /calls, /calls/{id}, /calls/{id}/cancel, /calls/{id}/decide, /events, /logs, /plugins/reload or /plugins/{name}/permission")
}

func (a *API) serveHealth(w http.ResponseWriter, r *http.Request) {
	// Access-Control-Allow-Origin lets an extension from the Chrome Web Store, which has no host permission, read the
	// response.
	if origin := r.Header.Get("Origin"); slices.Contains(a.options.Origins, origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
	}
	h := a.options.Health
	if r.URL.Query().Has("challenge") {
		challenge := r.URL.Query().Get("challenge")
		if !isValidChallenge(challenge) {
			httpjson.SendError(w, http.StatusBadRequest, "the challenge is not 16 to 128 letters, digits, - and _: make it from random bytes")
			return
		}
		h.Proof = computeProof(a.options.Token, loopback.Port(r), challenge)
	}
	httpjson.Send(w, http.StatusOK, h)
}

func (a *API) serveWhenReady(serve http.HandlerFunc) http.HandlerFunc {
	if a.options.WaitUntilLoaded == nil {
		return serve
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.options.WaitUntilLoaded(r.Context()); err != nil {
			httpjson.SendError(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		serve(w, r)
	}
}

func (a *API) serveStatus(w http.ResponseWriter, _ *http.Request) {
	httpjson.Send(w, http.StatusOK, a.options.Status())
}
