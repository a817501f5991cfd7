// Package daemon composes the parts that `opentabs serve` runs: plugins, browsers,
// calls, agents and the HTTP API.
//
// No other package sees more than one part of the daemon. newDaemon builds each part
// after the parts that it needs. [Daemon.Serve] runs the parts, and ends them so that
// every call gets its result or error before its connection closes.
package daemon

import (
	"cmp"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/extension"
	"opentabs/internal/audit"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/permissions"
	"opentabs/internal/pluginlog"
	"opentabs/internal/toolpins"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/mcpserver/transport"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/plugin/settings"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// Daemon has the parts of one daemon, as built by newDaemon. The exported parts are for
// `opentabs plugin test --browser`, which runs a separate daemon.
type Daemon struct {
	Registry *catalog.Catalog
	Policy   *policy.Policy
	Values   *settings.Values
	Logs     *pluginlog.Log
	Hub      *wsbridge.Hub
	Calls    *dispatch.Dispatcher

	enforcer *policy.Enforcer
	pins     *toolpins.Pins
	log      zerolog.Logger
	loading  *pluginLoading
	browser  *browserSync
	audit    *audit.Log
	mcp      *mcpserver.Server
	clients  *clienttoken.Store
	api      *httpapi.API
}

// newDaemon builds a daemon that serves at address. Damaged files are repaired or
// ignored with an error in the log. [Daemon.Serve] loads the plugins.
func newDaemon(h *home.Home, token, address string, log zerolog.Logger) *Daemon {
	started := time.Now()
	origins := []string{"chrome-extension://" + extension.ID()}
	loading := newLoading()
	folders := newDevFolders()
	auditLog := audit.Open(h.State, log)

	p := newPlugins(h, folders, auditLog, log)
	logs := pluginlog.Open(h.State, pluginlog.Options{Log: log, Secrets: func() []string { return p.values.Secrets(p.registry.Set()) }})
	access := permissions.NewLocal(p.policy, p.registry)
	adapters := newAdapters(p, folders, h.Dirs, loading.done, log)
	hub := wsbridge.New(wsbridge.Options{
		Key: config.BrowserKey(token), Origins: origins, Version: version.Version, Log: log, Adapters: adapters,
		HostScript: adapters.Host, FetchCode: adapters.Fetch,
		Policy: access, Settings: p.pageSettings, MayRunIn: p.mayRunIn,
		ReceiveStart: p.recordStart,
		ReceiveLogs:  func(_, browser string, entries wire.PluginLogParams) { logs.Add(browser, entries) },
	})
	options := dispatchOptions(h.Settings, p, hub, auditLog, log)
	bridge, heldTabs := browser.Connect(hub, &options, browser.Options{Rules: p.policy, OwnAddress: address, UploadFolders: h.Settings.UploadFolderList()})
	calls := dispatch.New(bridge, options)
	hub.SetCalls(calls)
	sync := &browserSync{p.registry, adapters, hub, log}
	development := newDevelopment(folders, p, sync.run, log)
	mcp := mcpserver.New(calls, p.registry.Registry, mcpOptions(h.Settings, p, access, hub, calls, loading, log))
	clients := openClients(h.Dirs, log)
	reporter := statusReporter{
		home: h, address: address, started: started, registry: p.registry, policy: p.policy, access: access, hub: hub, calls: calls, mcp: mcp, heldTabs: heldTabs,
	}
	api := httpapi.New(httpapi.Options{
		Token: token, Clients: clients, Origins: origins, Log: log,
		Health:           httpapi.Health{OK: true, Version: version.Version, PID: os.Getpid()},
		Calls:            calls,
		Logs:             logs,
		Status:           reporter.status,
		Ready:            loading.waitUntilLoaded,
		Reload:           sync.reload,
		StartDevelopment: development.begin,
		ReloadTab:        hub.ReloadTab,
		Policy:           access,
		MCP:              withCredential(mcp.Handler()),
		Browsers:         hub.Handler(),
		Stdio:            mcp.ServeStdio,
	})
	d := &Daemon{
		Registry: p.registry, Policy: p.policy, Values: p.values, Logs: logs, Hub: hub, Calls: calls,
		enforcer: p.enforcer, pins: p.pins, log: log, loading: loading, browser: sync, audit: auditLog, mcp: mcp, clients: clients, api: api,
	}
	p.registry.OnChange(development.reviewLater)
	p.registry.Faults().OnChange(hub.RefreshPlugins)
	p.policy.OnChange(d.permissionsChanged)
	p.pins.OnChange(mcp.PinnedToolsChanged)
	p.values.OnChange(d.settingsChanged)
	clients.OnRemoved(mcp.RevokeToken)
	return d
}

// openClients opens the file of client tokens. openClients renames a damaged file.
func openClients(dirs config.Dirs, log zerolog.Logger) *clienttoken.Store {
	clients := clienttoken.Open(dirs.ClientsFile())
	if warning, err := clients.RepairFile(); err != nil || warning != "" {
		log.Error().Err(err).Msg(cmp.Or(warning, "the damaged file of client tokens could not be renamed; no client can connect over HTTP"))
	}
	return clients
}

// withCredential adds the authenticated caller of a request to its context for the
// MCP server: a client on /mcp, or a command on httpapi.CommandPath.
func withCredential(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := transport.Credential{Kind: dispatch.CredentialCommandLine}
		if name := httpapi.CallerOf(r.Context()).Client; name != "" {
			caller = transport.Credential{Kind: dispatch.CredentialToken, Token: name}
		}
		next.ServeHTTP(w, r.WithContext(transport.WithCredential(r.Context(), caller)))
	})
}

// dispatchOptions returns the limits, gates and hooks of calls.
func dispatchOptions(s config.Settings, p *plugins, hub *wsbridge.Hub, auditLog *audit.Log, log zerolog.Logger) dispatch.Options {
	o := dispatch.Options{
		IdleLimit: s.IdleTimeout, MaxIdleLimit: s.MaxIdleTimeout, HardLimit: s.HardTimeout, SuspendLimit: s.DecisionTimeout, ProgressInterval: s.ProgressInterval,
		MaxRunningCalls: s.MaxRunning, MaxWaitingCalls: s.MaxWaiting, MaxResultBytes: s.MaxResultBytes,
		Gates:           append(p.enforcer.Gates(), p.values.Gate(p.registry.Set), p.enforcer.SecretsGate(p.values), p.registry.Faults().Gate(p.registry.Set)),
		BeforeHooks:     p.enforcer.Before(),
		MayOpenTab:      p.policy.MayOpen,
		FailureNote:     func(t dispatch.Tool) (forAgent, forUser string) { return p.enforcer.FailureNote(t, p.values) },
		AfterHooks:      append([]dispatch.AfterHook{callAuditor{auditLog, p.policy, p.enforcer}}, p.enforcer.After()...),
		OnWaitingChange: hub.SendWaiting,
		ResolveTool:     p.enforcer.Resolve(p.registry.Registry), Log: log,
	}
	if o.ProgressInterval == 0 { // 0 selects dispatch's default
		o.ProgressInterval = -1
	}
	return o
}

// settingsChanged reloads the plugins: settings add sites to their patterns, and
// pages have a copy of the settings.
func (d *Daemon) settingsChanged() {
	if err := d.browser.reload(); err != nil {
		d.log.Error().Err(err).Msg("the plugins could not be reloaded after their settings changed")
	}
}

// permissionsChanged syncs the adapters of browsers with the plugins that may run,
// and decides the calls that wait for a permission.
func (d *Daemon) permissionsChanged() {
	d.browser.run()
	d.mcp.PolicyChanged()
	d.Calls.RecheckGates()
}
