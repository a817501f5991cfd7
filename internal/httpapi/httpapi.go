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

// CommandPath is the path of the MCP endpoint for opentabs commands. CommandPath
// requires the administrator's token.
const CommandPath = "/cli/mcp"

// Options are the parts of the server that the routes show. Clients, Origins, Heartbeat
// and Log are optional; all other fields are required and have no default.
type Options struct {
	// Token is the administrator's token, which is valid for every route except /mcp.
	Token string
	// Clients are the tokens of MCP clients, which are valid for /mcp only; default none.
	Clients ClientTokens
	// Origins are the origins that may send requests, such as
	// "chrome-extension://<id>"; default none. A request's Origin header must equal one
	// of Origins.
	Origins []string
	// Health is the response that /healthz sends.
	Health Health
	Calls  Calls
	// Records provides the recorded calls; default: no records.
	Records Records
	// UndoCall starts the call that undoes a call. The error is for the user. By default,
	// no call can be undone.
	UndoCall func(callID string) (StartedUndo, error)
	// Ready waits until the plugins are loaded. Ready returns an error for the user if
	// loading takes too long. /status and the routes below /plugins call Ready first.
	// By default, the routes assume that the plugins are loaded.
	Ready func(ctx context.Context) error
	// Status returns the response of /status.
	Status func() Status
	// Stop starts the shutdown of the server, and returns before the shutdown has ended.
	Stop func()
	// Reload reloads the plugins.
	Reload func() error
	// StartDevelopment marks the plugin in a folder, an absolute path, as in
	// development until end is called. A plugin without a permission gets the given
	// permission.
	StartDevelopment func(dir string, permission wire.Permission) (end func(), err error)
	// ReloadTab reloads the tab with the given ID in a browser. browser is an ID or a
	// name; empty means the only browser that has a tab with this ID.
	ReloadTab func(ctx context.Context, browser string, tabID int) error
	// ReleaseTab stops the client that uses a tab with browser tools, and returns the
	// name of the client. The parameter browser is the ID or name of a browser, or empty
	// for the only browser with the tab.
	ReleaseTab func(browser string, tabID int) (client string, err error)
	// PingBrowser returns the duration of a round trip to the browser with this ID, which
	// must be connected.
	PingBrowser func(ctx context.Context, browserID string) (time.Duration, error)
	// BrowserNames reads and changes the names of browsers.
	BrowserNames BrowserNames
	// Policy reads and changes permissions.
	Policy Policy
	// Metrics handles requests for /metrics.
	Metrics http.Handler
	// Logs gives access to the log entries of adapters.
	Logs Logs
	// MCP serves /mcp and CommandPath; for a request to /mcp, CallerOf returns the
	// client. Browsers serves /ws.
	MCP      http.Handler
	Browsers http.Handler
	// Stdio serves one MCP session of newline-delimited JSON on a separate connection
	// (/stdio). CallerOf returns the client of the session if the client has a token.
	// Stdio returns when in or ctx ends.
	Stdio func(ctx context.Context, in io.Reader, out io.Writer) error
	// Heartbeat is the time between two comments on a quiet stream of /events;
	// default 15 s.
	Heartbeat time.Duration
	// Log receives a line for each failed connection of /stdio. By default, failed
	// connections of /stdio are not logged.
	Log zerolog.Logger
}

// API is the handler of all routes.
type API struct {
	options        Options
	guard          *requestGuard
	guardedHandler http.Handler
	stdio          *stdioRoute
	streams        *streams
	turns          writeTurns
}

// New returns the handler of all routes.
func New(o Options) *API {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.Records == nil {
		o.Records = noRecords{}
	}
	if o.UndoCall == nil {
		o.UndoCall = func(string) (StartedUndo, error) { return StartedUndo{}, errors.New("no call can be undone here") }
	}
	g := newGuard(o.Token, o.Clients, o.Origins)
	a := &API{options: o, stdio: &stdioRoute{serve: o.Stdio, guard: g, log: o.Log}, streams: newStreams(o.Heartbeat), turns: newTurns()}
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
	// The guard is before the mux, because the mux answers some requests itself.
	clientHandler := g.requireClient(o.MCP)
	a.guardedHandler = g.requireLocal(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" { // the path of almost all requests needs no mux
			clientHandler.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return a
}

// routeTable returns the routes that require the administrator's token, by path and
// method.
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
		"/calls":                     get(calls.list),
		"/calls/{id}":                get(calls.serveCall),
		"/calls/{id}/cancel":         post(calls.cancel),
		"/calls/{id}/undo":           post(calls.undo),
		"/calls/{id}/decide":         post(calls.serveDecision),
		"/metrics":                   get(func(w http.ResponseWriter, r *http.Request) { a.options.Metrics.ServeHTTP(w, r) }),
		"/events":                    get(eventRoute{a.options.Calls, a.streams, a.turns}.serveEvents),
		"/logs":                      get(logRoute{a.options.Logs, a.streams}.serveLogs),
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
		"/plugins/develop":           get(developRoute{a.options.StartDevelopment, a.streams}.serveDevelopment),
		"/plugins/enable":            post(policy.enablePlugins),
		"/plugins/disable":           post(policy.disablePlugins),
		"/plugins/{name}/permission": {http.MethodGet: policy.servePermissions, http.MethodPost: handleChange(policy.setPermission)},
		"/plugins/{name}/review":     post(handleChange(policy.storeReview)),
		"/plugins/{name}/limit":      post(handleChange(policy.setLimit)),
		"/plugins/{name}/opening":    post(handleChange(policy.setOpening)),
		"/plugins/{name}/calls":      post(handleChange(policy.setCalls)),
		"/plugins/{name}/late":       post(handleChange(policy.setLateAccess)),
		"/plugins/{name}/settings":   {http.MethodGet: policy.serveSettings, http.MethodPost: handleChange(policy.changeSettings)},
		"/plugins/{name}/forget":     post(handleChange(policy.forgetGrants)),
		"/sites":                     {http.MethodGet: policy.serveSites, http.MethodPost: policy.setSite},
		"/stdio":                     get(a.stdio.serveUpgrade),
		// The command `go tool pprof` expects the path /debug/pprof.
		"/debug/pprof/{name}": get(serveProfile),
	}
}

// ServeHTTP serves a request; all routes except /ws are behind the guard.
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

// Shutdown ends the streams of /events and the input of the connections of /stdio.
// Until ctx ends, Shutdown waits for the sessions on /stdio to write their last
// responses.
func (a *API) Shutdown(ctx context.Context) error {
	a.streams.stop()
	return a.stdio.drainConns(ctx)
}

// ClientTokens are the tokens of MCP clients. *clienttoken.Store implements
// ClientTokens.
type ClientTokens interface {
	// Enter returns the name of the client with the token, and a context that ends when
	// the token is removed. leave must be called at the end of the request. For an
	// unknown token, ok is false.
	Enter(ctx context.Context, token string) (name string, in context.Context, leave func(), ok bool)
	// Reload reads the tokens again, and ends the requests of removed clients.
	Reload() error
}

// reloadClients reads the tokens again after a command has added or removed one.
func (a *API) reloadClients() error {
	if a.guard.clients == nil {
		return nil
	}
	return a.guard.clients.Reload()
}

// handleReload returns a handler that calls reload, and sends a confirmation or
// reload's error.
func handleReload(reload func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := reload(); err != nil {
			httpjson.SendError(w, http.StatusInternalServerError, err.Error())
			return
		}
		writeConfirmation(w)
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
	// An extension from a store may read the response only with this header, because the
	// extension has no permission for the server's host.
	if origin := r.Header.Get("Origin"); slices.Contains(a.options.Origins, origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
	}
	h := a.options.Health
	if r.URL.Query().Has("challenge") {
		challenge := r.URL.Query().Get("challenge")
		if !isChallenge(challenge) {
			httpjson.SendError(w, http.StatusBadRequest, "the challenge is not 16 to 128 letters, digits, - and _: make it from random bytes")
			return
		}
		h.Proof = computeProof(a.options.Token, loopback.Port(r), challenge)
	}
	httpjson.Send(w, http.StatusOK, h)
}

// serveWhenReady serves a request once the plugins are loaded.
func (a *API) serveWhenReady(serve http.HandlerFunc) http.HandlerFunc {
	if a.options.Ready == nil {
		return serve
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.options.Ready(r.Context()); err != nil {
			httpjson.SendError(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		serve(w, r)
	}
}

func (a *API) serveStatus(w http.ResponseWriter, _ *http.Request) {
	httpjson.Send(w, http.StatusOK, a.options.Status())
}
