// Package daemon connects the parts of `opentabs serve`: plugins, browsers, calls, MCP clients and the HTTP API.
//
// The order of the shutdown lets every call get its result or error before the call's connection closes.
package daemon

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/extension"
	"opentabs/internal/audit"
	"opentabs/internal/browsernames"
	"opentabs/internal/browserprofile"
	"opentabs/internal/calldetails"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/filestore"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/metrics"
	"opentabs/internal/pairing"
	"opentabs/internal/panelplugins"
	"opentabs/internal/permissions"
	"opentabs/internal/pluginlog"
	"opentabs/internal/recorder"
	"opentabs/internal/timeouts"
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

// Daemon contains the parts of one daemon, such as its plugins, settings and browsers. The
// fields of Daemon are exported for `opentabs plugin test --browser`, which runs a separate
// daemon.
type Daemon struct {
	Registry      *catalog.Catalog
	Policy        *policy.Policy
	SettingValues *settings.Values
	Logs          *pluginlog.Log
	Hub           *wsbridge.Hub
	Calls         *dispatch.Dispatcher

	enforcer      *policy.Enforcer
	toolPins      *toolpins.PinnedTools
	log           zerolog.Logger
	pluginLoading *pluginLoadState
	// discoverGlobalPlugins finds the plugins that npm has installed globally.
	discoverGlobalPlugins func() error
	browser               *browserSync
	audit                 *audit.Log
	recorder              *recorder.Recorder
	// When the method Calls.WaitForHooks returns, the observers have received all ended calls.
	observers    observers
	panelPlugins *panelplugins.Plugins
	mcp          *mcpserver.Server
	clients      *clienttoken.Store
	timeouts     *timeouts.Store
	api          *httpapi.API
	// stopRequested has capacity 1 and receives a value when a client of the HTTP API
	// requests the shutdown.
	stopRequested chan struct{}
}

func extensionOrigins(settings config.Settings) []string {
	origins := []string{"chrome-extension://" + extension.ID()}
	for _, page := range settings.StoreExtensions.Pages() {
		origins = append(origins, "chrome-extension://"+page.ID)
	}
	return origins
}

// newDaemon repairs damaged files in the state directory, or ignores them and logs an error.
func newDaemon(h *home.Home, token, address string, log zerolog.Logger) *Daemon {
	startedTime := time.Now()
	origins := extensionOrigins(h.Settings)
	loading := newLoading()
	folders := newDevFolders()
	auditLog := audit.Open(h.State, log)

	p := newPlugins(h, folders, auditLog, log)
	logs := pluginlog.Open(h.State, pluginlog.Options{Log: log, Secrets: func() []string { return p.settingValues.SecretValues(p.registry.Set()) }, ResolveStack: p.stackResolver()})
	localPermissions := permissions.NewLocalPolicy(p.policy, p.registry)
	adapters := newAdapters(p, folders, h.Dirs, loading.done, log)
	names := openBrowserNames(h.Dirs, log)
	var mcp *mcpserver.Server // the variable mcp is set before the first browser connects
	var sessions *browser.Sessions
	records := openRecorder(h, p, auditLog, log)
	var pluginSync *browserSync // the variable pluginSync is set before the first browser connects
	panelPlugins := panelplugins.New(h, localPermissions, os.Getenv, func() error { return pluginSync.reload() })
	var calls *dispatch.Dispatcher // set before the first browser connects
	repeater := &callRepeater{findRecord: records.Find, plugins: p.registry.Set}
	details, pastCallUndoer := newCallDetailsSource(records, logs), newCallUndoer(p.registry.Set, records, h.Settings.RecordDays)
	hub := wsbridge.New(wsbridge.Options{
		Key: config.BrowserKey(token), Pairings: pairing.Open(h.PairingFile()), Origins: origins, Version: version.Version, Log: log, Adapters: adapters,
		HostScript: adapters.HostHash, FetchCode: adapters.Fetch,
		Policy: panelPlugins, Settings: p.pageSettings, CanPluginRunIn: p.canRunInDocument,
		ReceiveStart:      p.recordAdapterStart,
		ClientNames:       func() []string { return agentNames(mcp.Clients()) },
		ReadHistory:       records.ReadHistory,
		InspectCall:       details.Inspect,
		RepeatCall:        func(callID string) error { return repeater.repeatCall(callID) },
		UndoCall:          pastCallUndoer.undoForPanel,
		ReceiveLateAnswer: pastCallUndoer.receiveLateAnswer,
		FindEndedSessions: func(sessionIDs []string) []string { return sessions.FilterEnded(sessionIDs) },
		ChooseBrowserName: names.NameOf,
		OnBrowsersChange:  func() { mcp.HandlePolicyChange() },
		ReceiveLogs:       func(_, browser string, entries wire.PluginLogParams) { logs.Add(browser, entries) },
	})
	options := dispatchOptions(h.Settings, p, hub, callAuditor{auditLog, records, p.enforcer}, log)
	observers := newObservers(h.Getenv, func() metrics.Gauges { return countGauges(calls.Calls(), hub.Browsers()) }, log)
	options.AfterHooks = append(options.AfterHooks, observers.hooks()...)
	pastCallUndoer.addHooks(&options)
	files := filestore.Open(h.FilesDir())
	bridge, tabHolds, browserSessions := browser.Connect(browsernames.PreferDefaultBrowser(hub, names), &options, browser.Options{Rules: p.policy, OwnAddress: address, UploadFolders: h.Settings.UploadFolderList(), Files: files,
		Limits: browser.Limits{ActingCallsPerMinute: h.Settings.BrowserActionsPerMinute, PicturesPerMinute: h.Settings.BrowserScreenshotsPerMinute}, CapabilitiesOf: capabilitiesOf(hub.Browsers)})
	calls = dispatch.New(bridge, options)
	hub.SetCalls(calls)
	repeater.calls, repeater.targets, details.Find, details.TraceIDOf, details.UndoOf = calls, hub.CurrentTargets, calls.Find, observers.traceIDFunc(), pastCallUndoer.undoStateOf
	jobs := pastCallUndoer.connect(calls, repeater.chooseTab)
	hub.Holds.SetTabHolds(tabHolds)
	sessions = browserSessions
	sessions.OnEnd(hub.Holds.SendSessionEnded)
	tabHolds.OnChange(hub.Holds.Send)
	tabHolds.SetCalls(calls)
	pluginSync = &browserSync{p.registry, adapters, hub, log}
	development := newDevelopment(folders, p, pluginSync.run, log)
	timeoutStore := openTimeouts(h, log)
	agentOptions := mcpOptions(h.Settings, p, localPermissions, hub, calls, jobs, files, sessions.End, loading, timeoutStore, log)
	agentOptions.TraceSampler, agentOptions.Keys = observers.sampler(), pastCallUndoer.keys
	mcp = mcpserver.New(calls, p.registry.Registry, agentOptions)
	clients := openClients(h.Dirs, log)
	reporter := statusReporter{
		home: h, address: address, startedAt: startedTime, registry: p.registry, policy: p.policy, localPermissions: localPermissions, hub: hub, calls: calls, mcp: mcp, tabHolds: tabHolds, timeouts: timeoutStore,
	}
	stopRequested := make(chan struct{}, 1)
	api := httpapi.New(httpapi.Options{
		Token: token, Clients: clients, Origins: origins, Log: log,
		Health:           httpapi.Health{OK: true, Version: version.Version, PID: os.Getpid()},
		Calls:            calls,
		Records:          records,
		UndoCall:         pastCallUndoer.undoForCommand,
		Logs:             logs,
		Status:           reporter.status,
		WaitUntilLoaded:  loading.waitUntilLoaded,
		Stop:             func() { requestStop(stopRequested) },
		Reload:           pluginSync.reload,
		StartDevelopment: development.beginDevelopment,
		ReloadTab:        hub.ReloadTab,
		ReleaseTab:       reporter.releaseTab,
		PingBrowser:      hub.Probe.Ping,
		BrowserNames:     home.NewBrowserNames(names, reporter.connectedBrowserIDs, hub.Probe.Reconnect),
		Policy:           localPermissions,
		Metrics:          observers.metrics,
		MCP:              withCredential(mcp.Handler()),
		Browsers:         hub.Handler(),
		Stdio: func(ctx context.Context, inputReader io.Reader, outWriter io.Writer) error {
			return mcp.ServeStdio(withStdioCredential(ctx), inputReader, outWriter)
		},
	})
	d := &Daemon{
		Registry: p.registry, Policy: p.policy, SettingValues: p.settingValues, Logs: logs, Hub: hub, Calls: calls,
		enforcer: p.enforcer, toolPins: p.toolPins, log: log, pluginLoading: loading, discoverGlobalPlugins: func() error { return h.DiscoverGlobal(p.registry.Registry) }, browser: pluginSync, panelPlugins: panelPlugins, audit: auditLog, recorder: records, observers: observers, mcp: mcp, clients: clients, timeouts: timeoutStore, api: api, stopRequested: stopRequested,
	}
	p.registry.OnChange(development.reviewInBackground)
	p.registry.Faults().OnChange(hub.RefreshPlugins)
	p.policy.OnChange(d.onPermissionsChanged)
	p.toolPins.OnChange(mcp.NotifyToolListsChanged)
	timeoutStore.OnChange(mcp.NotifyToolListsChanged)
	p.settingValues.OnChange(d.settingsChanged)
	clients.OnRemoved(mcp.RevokeToken)
	return d
}

// The caller of newCallDetailsSource sets Find, TraceIDOf and UndoOf before the first browser connects.
func newCallDetailsSource(records *recorder.Recorder, logs *pluginlog.Log) *calldetails.Source {
	return &calldetails.Source{
		FindRecord: func(callID string) (dispatch.View, bool, error) {
			recordedEntry, ok, err := records.Find(callID)
			return recordedEntry.View, ok, err
		},
		ReadLog: logs.ReadPeriod,
	}
}

func requestStop(stopRequested chan<- struct{}) {
	select {
	case stopRequested <- struct{}{}:
	default:
	}
}

func openRecorder(h *home.Home, p *plugins, auditLog *audit.Log, log zerolog.Logger) *recorder.Recorder {
	return recorder.Open(h.State, recorder.Options{
		Days: h.Settings.RecordDays, Bytes: int64(h.Settings.RecordBytes), Arguments: h.Settings.RecordArguments, Results: h.Settings.RecordResults,
		Secrets: func() []string { return p.settingValues.SecretValues(p.registry.Set()) }, Log: log,
		OnInterruptedCall: func(call recorder.Record) { auditInterruptedCall(auditLog, call) },
	})
}

// openClients opens the store of client tokens, and renames a damaged token file.
func openClients(dirs config.Dirs, log zerolog.Logger) *clienttoken.Store {
	clients := clienttoken.Open(dirs.ClientsFile())
	if warning, err := clients.RepairFile(); err != nil || warning != "" {
		log.Error().Err(err).Msg(cmp.Or(warning, "the damaged file of client tokens could not be renamed; no client can connect over HTTP"))
	}
	return clients
}

// openBrowserNames opens the store of browser names, and renames a damaged file.
func openBrowserNames(dirs config.Dirs, log zerolog.Logger) *browsernames.Store {
	names, warning := browsernames.Open(dirs.BrowsersFile())
	if warning != "" {
		log.Error().Msg(warning)
	}
	machine := browserprofile.ThisMachine(runtime.GOOS, os.Getenv)
	names.SetDefaultNameFinder(func(browserID, sentName string) string {
		return machine.DefaultName(extension.ID(), browserID, sentName)
	})
	return names
}

func withCredential(nextHandler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := transport.Credential{Kind: dispatch.CredentialCommandLine}
		if name := httpapi.CallerOf(r.Context()).Client; name != "" {
			caller = transport.Credential{Kind: dispatch.CredentialToken, Token: name}
		}
		nextHandler.ServeHTTP(w, r.WithContext(transport.WithCredential(r.Context(), caller)))
	})
}

func withStdioCredential(ctx context.Context) context.Context {
	client := transport.Credential{Kind: dispatch.CredentialStdio}
	if name := httpapi.CallerOf(ctx).Client; name != "" {
		client = transport.Credential{Kind: dispatch.CredentialToken, Token: name}
	}
	return transport.WithCredential(ctx, client)
}

func dispatchOptions(s config.Settings, p *plugins, hub *wsbridge.Hub, auditor callAuditor, log zerolog.Logger) dispatch.Options {
	o := dispatch.Options{
		IdleLimit: s.IdleTimeout, MaxIdleLimit: s.MaxIdleTimeout, HardLimit: s.HardTimeout, SuspendLimit: s.DecisionTimeout, ProgressInterval: s.ProgressInterval,
		MaxRunningCalls: s.MaxRunning, MaxWaitingCalls: s.MaxWaiting, MaxResultBytes: s.MaxResultBytes,
		Gates:                append(p.enforcer.Gates(), p.settingValues.Gate(p.registry.Set), p.enforcer.SecretsGate(p.settingValues), p.registry.Faults().Gate(p.registry.Set)),
		BeforeHooks:          append(p.enforcer.BeforeHooks(), auditor),
		MayOpenTab:           p.policy.MayOpenPage,
		FailureNote:          func(t dispatch.Tool) (forAgent, forUser string) { return p.enforcer.FailureNote(t, p.settingValues) },
		AfterHooks:           append([]dispatch.AfterHook{auditor}, p.enforcer.AfterHooks()...),
		OpenCallHook:         auditor,
		OnWaitingCountChange: hub.SendWaitingCount,
		ResolveTool:          p.enforcer.Resolve(p.registry.Registry), Log: log,
	}
	if o.ProgressInterval == 0 { // 0 would select the default of package dispatch
		o.ProgressInterval = -1
	}
	return o
}

// A changed setting can add a site to a plugin's patterns, and pages have copies of the settings.
func (d *Daemon) settingsChanged() {
	if err := d.browser.reload(); err != nil {
		d.log.Error().Err(err).Msg("the plugins could not be reloaded after their settings changed")
	}
}

func (d *Daemon) onPermissionsChanged() {
	d.browser.run()
	d.mcp.HandlePolicyChange()
	d.Calls.RecheckGates()
}
