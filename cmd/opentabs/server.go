package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/extension"
	"opentabs/internal/audit"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/memory"
	"opentabs/internal/pluginlog"
	"opentabs/internal/scriptcheck"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/plugin"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// The parts of a shutdown, which together stay below 3 s.
const (
	callsPatience   = time.Second
	streamsPatience = 500 * time.Millisecond
)

// server holds all parts of the running server together; nothing else sees
// more than one of them.
type server struct {
	dirs     config.Dirs
	settings config.Settings
	log      zerolog.Logger
	started  time.Time
	address  string
	// loaded is closed when the plugins are loaded, as far as they can be.
	loaded chan struct{}

	registry *plugin.Registry
	values   *plugin.Values
	policy   *plugin.Policy
	audit    *audit.Log
	logs     *pluginlog.Log
	dev      *developing
	adapters *adapters
	hub      *wsbridge.Hub
	calls    *dispatch.Dispatcher
	mcp      *mcpserver.Server
	clients  *clienttoken.Store
	api      *httpapi.API
}

// newServer builds the parts from the inside out: plugins, browsers, calls,
// agents, HTTP. The plugins are loaded by [server.load].
func newServer(dirs config.Dirs, s config.Settings, token, address string, log zerolog.Logger) (*server, error) {
	v := &server{dirs: dirs, settings: s, log: log, started: time.Now(), address: address, loaded: make(chan struct{})}
	v.audit = audit.Open(dirs.State, audit.Options{Log: log})
	v.logs = pluginlog.Open(dirs.State, pluginlog.Options{Log: log, Secrets: func() []string { return v.values.Secrets(v.registry.Set()) }})
	told := plugin.PolicyOptions{
		Log: log, Warn: func(sentence string) { log.Error().Msg(sentence) },
		Record: func(c plugin.Change) { v.audit.Write(changeRecord(c)) },
	}
	v.values = plugin.NewValues(dirs.State, told)
	if err := v.values.Mend(); err != nil {
		log.Error().Err(err).Msg("a damaged file of settings could not be put aside; no plugin has settings")
	}
	checked := scriptcheck.New(dirs, log)
	v.registry = plugin.NewRegistry(plugin.NewStore(dirs.State, plugin.StoreOptions{
		Check: checked.Check, Passed: checked.HasPassed, IndexKey: indexKey(dirs),
	}), log)
	v.registry.UseValues(v.values)
	if err := discover(v.registry, s, os.Getenv); err != nil {
		log.Warn().Err(err).Msg("plugins that npm has installed are not listed")
	}
	v.dev = &developing{set: v.registry.Set, changed: v.syncBrowsers, log: log, held: map[string]*heldOpen{}}
	told.Trusted = v.dev.permission
	v.policy = plugin.NewPolicy(dirs.State, v.registry.Set, told)
	if err := v.policy.Mend(); err != nil {
		log.Error().Err(err).Msg("a damaged file of permissions could not be put aside; nothing is reviewed")
	}
	v.dev.policy = v.policy
	v.registry.OnChange(v.dev.reviewLater)
	v.adapters = newAdapters(v.registry, v.policy, dirs, log)
	v.adapters.checked = checked
	v.adapters.dev, v.adapters.loaded = v.dev, v.loaded
	origins := []string{"chrome-extension://" + extension.ID()}
	v.hub = wsbridge.New(wsbridge.Options{
		Key: config.BrowserKey(token), Origins: origins, Version: version.Version, Log: log, Adapters: v.adapters,
		Host: v.adapters.Host, Fetch: v.adapters.Fetch,
		Policy: policyAPI{v.policy, v.registry}, Settings: v.pageSettings, RunsIn: v.runsIn,
		Started: v.noteStart,
		Logs:    func(_, browser string, p wire.PluginLogParams) { v.logs.Add(browser, p) },
	})
	v.calls = dispatch.New(v.hub, v.dispatchOptions())
	v.hub.SetCalls(v.calls)
	v.mcp = mcpserver.New(v.calls, v.registry, v.agentOptions())
	v.clients = clienttoken.Open(dirs.ClientsFile())
	if warning, err := v.clients.Mend(); err != nil || warning != "" {
		log.Error().Err(err).Msg(cmp.Or(warning, "the damaged file of client tokens could not be put aside; no client can connect over HTTP"))
	}
	v.clients.OnRemoved(v.mcp.Revoke)
	v.api = httpapi.New(httpapi.Options{
		Token: token, Clients: v.clients, Origins: origins, Log: log,
		Health:    httpapi.Health{OK: true, Version: version.Version, PID: os.Getpid()},
		Calls:     v.calls,
		Logs:      v.logs,
		Status:    v.status,
		Ready:     v.ready,
		Reload:    v.reload,
		Develop:   v.dev.begin,
		ReloadTab: v.hub.ReloadTab,
		Policy:    policyAPI{v.policy, v.registry},
		MCP:       knownClients(v.mcp.Handler()),
		Browsers:  v.hub.Handler(),
		Stdio:     v.mcp.ServeStdio,
	})
	v.policy.OnChange(v.permissionsChanged)
	v.values.OnChange(v.settingsChanged)
	v.registry.Faults().OnChange(v.hub.WantPlugins)
	return v, nil
}

// knownClients hands on to the MCP server who sent a request: a client on /mcp, or
// a command on httpapi.CommandPath.
func knownClients(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := mcpserver.Credential{Via: dispatch.ViaCommandLine}
		if name := httpapi.CallerOf(r.Context()).Client; name != "" {
			known = mcpserver.Credential{Via: dispatch.ViaToken, Token: name}
		}
		next.ServeHTTP(w, r.WithContext(mcpserver.WithCredential(r.Context(), known)))
	})
}

// settingsChanged follows a change of settings: plugins work in the sites that
// those name, and pages have them.
func (v *server) settingsChanged() {
	if err := v.reload(); err != nil {
		v.log.Error().Err(err).Msg("the plugins could not be read after their settings changed")
	}
}

// pageSettings are the settings of the plugins that may run, for their documents.
func (v *server) pageSettings() []wire.PluginSettingsParams {
	var all []wire.PluginSettingsParams
	for _, one := range v.registry.Set().Plugins() {
		if len(one.Settings) > 0 && v.policy.Runs(one) {
			all = append(all, wire.PluginSettingsParams{Name: one.Name, Settings: v.values.ForPage(one, v.policy.IsRestricted(one))})
		}
	}
	return all
}

// runsIn says whether a plugin may run in a document.
func (v *server) runsIn(name, url string, frame bool) bool {
	one, ok := v.registry.Set().Plugin(name)
	return ok && one.MatchesURL(url) && (!frame || one.Frames)
}

// permissionsChanged follows a change of permissions: pages get the code of
// plugins that may run and of no others, and calls that wait for what is allowed
// by now go on.
func (v *server) permissionsChanged() {
	v.syncBrowsers()
	v.mcp.PolicyChanged()
	v.settleWaiting()
}

func (v *server) dispatchOptions() dispatch.Options {
	s := v.settings
	o := dispatch.Options{
		Idle: s.IdleTimeout, MaxIdle: s.MaxIdleTimeout, Hard: s.HardTimeout, SuspendLimit: s.DecisionTimeout, ProgressInterval: s.ProgressInterval,
		MaxRunning: s.MaxRunning, MaxWaiting: s.MaxWaiting, MaxResultBytes: s.MaxResultBytes,
		Gates:       append(v.policy.Gates(), v.values.Gate(v.registry.Set), v.policy.SecretsGate(v.values), v.registry.Faults().Gate(v.registry.Set)),
		Before:      v.policy.Before(),
		MayOpen:     v.policy.MayOpen,
		FailureNote: func(t dispatch.Tool) (forAgent, forUser string) { return v.policy.FailureNote(t, v.values) },
		After:       append([]dispatch.After{auditor{v.audit, v.policy}}, v.policy.After()...),
		Waiting:     v.hub.Waiting,
		Resolve:     v.policy.Resolve(v.registry), Log: v.log,
	}
	if o.ProgressInterval == 0 { // dispatch takes 0 for its default
		o.ProgressInterval = -1
	}
	return o
}

// reload reads the plugins anew and tells the browsers. Agents are told by the
// MCP server, which follows the registry.
func (v *server) reload() error {
	if err := v.registry.Reload(); err != nil {
		return err
	}
	v.syncBrowsers()
	return nil
}

// syncBrowsers tells the browsers of the plugins, and of the files that hold
// their adapters.
func (v *server) syncBrowsers() {
	if err := v.adapters.writeFiles(); err != nil {
		v.log.Warn().Err(err).Msg("the adapters could not be written into the extension's folder")
	}
	v.hub.Sync()
}

// serve serves until ctx ends, and then shuts down in an order in which every
// call is told how it ended.
func (v *server) serve(ctx context.Context, listener net.Listener) error {
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	h := httpapi.NewServer(v.api, v.log.With().Str("part", "http").Logger())
	h.BaseContext = func(net.Listener) context.Context { return base }
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(listener) }()
	// A shutdown does not wait for it: each file that it writes is whole or absent.
	go v.load()
	go v.policy.Watch(base)
	go v.watchPlugins(base)
	var spreading sync.WaitGroup
	spreading.Go(v.spreadLogs)
	go v.values.Watch(base)
	go v.clients.Watch(base)
	go memory.Keep(base)
	var err error
	select {
	case <-ctx.Done():
		v.log.Info().Msg("shutting down")
	case err = <-failed:
	}
	v.shutdown(ctx, h, stop)
	v.logs.Close()
	spreading.Wait()
	v.audit.Close()
	v.clients.Close()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// shutdown ends the calls first, so that clients get their errors, then the
// streams on which they came, then the browsers.
func (v *server) shutdown(ctx context.Context, h *http.Server, stop context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	within := func(d time.Duration, part string, end func(context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		if err := end(ctx); err != nil {
			v.log.Warn().Err(err).Str("part", part).Msg("did not end by itself")
		}
	}
	v.calls.Shutdown()
	within(callsPatience, "agents", v.mcp.Shutdown)
	within(streamsPatience, "streams", v.api.Shutdown)
	within(streamsPatience, "requests", h.Shutdown)
	stop()
	if err := h.Close(); err != nil {
		v.log.Warn().Err(err).Msg("close the connections")
	}
	v.hub.Close()
	within(callsPatience, "calls", v.calls.Drain) // jobs end with no request
}

// status is what /status shows.
func (v *server) status() httpapi.Status {
	s, used := v.settings, memory.Used()
	status := httpapi.Status{
		Version: version.Version, Protocol: wire.Version, PID: os.Getpid(), Address: v.address,
		Started: v.started.UTC(), UptimeMs: time.Since(v.started).Milliseconds(),
		Home: httpapi.Home{Config: v.dirs.Config, State: v.dirs.State},
		Limits: httpapi.Limits{
			IdleMs: s.IdleTimeout.Milliseconds(), HardMs: s.HardTimeout.Milliseconds(),
			ProgressIntervalMs: s.ProgressInterval.Milliseconds(), MaxResultBytes: s.MaxResultBytes, MaxRunning: s.MaxRunning,
			MaxWaiting: s.MaxWaiting,
		},
		Memory: httpapi.Memory{HeapBytes: used.HeapBytes, SystemBytes: used.SystemBytes, Goroutines: runtime.NumGoroutine()},
		// A list that is empty is [] in JSON, not null.
		Browsers: []httpapi.Browser{}, Plugins: []httpapi.Plugin{},
		Failed: []httpapi.FailedPlugin{}, Clients: []httpapi.MCPClient{},
	}
	for _, c := range v.calls.Calls() {
		switch c.Status {
		case wire.StatusRunning:
			status.Calls.Running++
		case wire.StatusPending:
			status.Calls.Pending++
		}
	}
	for _, b := range v.hub.Browsers() {
		status.Browsers = append(status.Browsers, httpapi.Browser{
			ID: b.ID, Name: b.Name, Version: b.ExtensionVersion, Connected: b.Connected, Since: b.Since,
			Running: b.Running, Inject: b.Inject, Tabs: append([]wire.TabInfo{}, b.Tabs...),
		})
	}
	for _, c := range v.mcp.Clients() {
		// Its id works as a password, so it is not shown.
		status.Clients = append(status.Clients, httpapi.MCPClient{
			Client: c.Token, Via: string(c.Via), Name: c.Name, Version: c.Version, Transport: c.Transport, Since: c.Since,
		})
	}
	set := v.registry.Set()
	for _, p := range set.Plugins() {
		one := policyAPI{v.policy, v.registry}.status(p)
		one.State = v.hub.Where(p.Name).State()
		status.Plugins = append(status.Plugins, one)
	}
	status.Permissions = v.policy.Problems()
	for _, f := range set.Failed() {
		status.Failed = append(status.Failed, failedPlugin(f))
	}
	return status
}

func (a policyAPI) status(p *plugin.Plugin) httpapi.Plugin {
	state := a.policy.State(p.Name)
	status := httpapi.Plugin{
		Name: p.Name, DisplayName: p.DisplayName, Version: p.Version, Source: string(p.Source), Package: p.Package, Dir: p.Dir, Hash: p.Hash,
		Matches: append([]string{}, p.Matches...), Tools: []string{},
		Reviewed: state.Reviewed, Permission: state.Effective, Changed: state.Review != nil && !state.Reviewed,
	}
	for _, t := range p.Tools {
		status.Tools = append(status.Tools, t.FullName())
	}
	for _, s := range a.registry.Values().Missing(p) {
		status.Needs = append(status.Needs, s.Key)
	}
	if state.Reviewed {
		status.Calls = state.CallsTo()
	}
	status.Late, status.LateAccess = p.StartsLate(), state.HasLateAccess()
	status.Recommended = a.recommended(p)
	status.Fault = a.fault(p)
	return status
}

// fault is why the plugin does not start in browsers.
func (a policyAPI) fault(p *plugin.Plugin) *httpapi.Fault {
	f, broken := a.registry.Faults().Of(p)
	if !broken {
		return nil
	}
	return &httpapi.Fault{Text: f.Text(), Problem: f.Problem, Site: f.Site, Browser: f.Browser, At: f.At}
}

func failedPlugin(f plugin.Failure) httpapi.FailedPlugin {
	return httpapi.FailedPlugin{Name: f.Name, Path: f.Path, Error: f.Err.Error()}
}

// noteStart keeps what a browser says of an adapter that is there now.
func (v *server) noteStart(s wsbridge.Start) {
	one, ok := v.registry.Set().Plugin(s.Plugin)
	switch {
	case !ok || one.Hash != s.Hash:
	case s.Problem == "":
		v.registry.Faults().Started(one)
	default:
		v.registry.Faults().Failed(one, s.Problem, s.URL, s.Browser)
	}
}
