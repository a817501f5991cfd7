package daemon

import (
	"os"
	"runtime"
	"time"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/memory"
	"opentabs/internal/permissions"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// statusReporter collects what GET /status returns.
type statusReporter struct {
	home     *home.Home
	address  string
	started  time.Time
	registry *catalog.Catalog
	policy   *policy.Policy
	access   permissions.Local
	hub      *wsbridge.Hub
	calls    *dispatch.Dispatcher
	mcp      *mcpserver.Server
	heldTabs func() []browser.HeldTab
}

func (r statusReporter) status() httpapi.Status {
	s, memoryUse := r.home.Settings, memory.Used()
	status := httpapi.Status{
		Version: version.Version, Protocol: wire.Version, PID: os.Getpid(), Address: r.address,
		Started: r.started.UTC(), UptimeMs: time.Since(r.started).Milliseconds(),
		Home: httpapi.Home{Config: r.home.Config, State: r.home.State},
		Limits: httpapi.Limits{
			IdleMs: s.IdleTimeout.Milliseconds(), HardMs: s.HardTimeout.Milliseconds(),
			ProgressIntervalMs: s.ProgressInterval.Milliseconds(), MaxResultBytes: s.MaxResultBytes, MaxRunning: s.MaxRunning,
			MaxWaiting: s.MaxWaiting,
		},
		Memory: httpapi.Memory{HeapBytes: memoryUse.HeapBytes, SystemBytes: memoryUse.SystemBytes, Goroutines: runtime.NumGoroutine()},
		// An empty list is [] in JSON, not null.
		Browsers: []httpapi.Browser{}, Plugins: []httpapi.Plugin{},
		Failed: []httpapi.FailedPlugin{}, Clients: []httpapi.MCPClient{},
	}
	for _, c := range r.calls.Calls() {
		switch c.Status {
		case wire.StatusRunning:
			status.Calls.Running++
		case wire.StatusPending:
			status.Calls.Pending++
		}
	}
	heldTabs := r.heldTabs()
	for _, b := range r.hub.Browsers() {
		status.Browsers = append(status.Browsers, httpapi.Browser{
			ID: b.ID, Name: b.Name, Version: b.ExtensionVersion, Connected: b.Connected, Since: b.LinkChangedAt,
			Running: b.RunCount, InjectMode: b.InjectMode, Tabs: append([]wire.TabInfo{}, b.Tabs...), HeldTabs: heldTabsOf(heldTabs, b.ID),
		})
	}
	for _, c := range r.mcp.Clients() {
		// The session id is left out of the status, because the id works as a password.
		status.Clients = append(status.Clients, httpapi.MCPClient{
			Client: c.Token, Credential: string(c.Kind), Name: c.Name, Version: c.Version, Transport: c.Transport, Since: c.ConnectedSince,
			Tools: string(r.mcp.ListModeOf(c)),
		})
	}
	set := r.registry.Set()
	for _, p := range set.Plugins() {
		pluginStatus := r.access.Status(p)
		pluginStatus.State = r.hub.CurrentTargets(p.Name).State()
		status.Plugins = append(status.Plugins, pluginStatus)
	}
	status.Permissions = r.policy.Problems()
	for _, f := range set.Failed() {
		status.Failed = append(status.Failed, permissions.FailedStatus(f))
	}
	return status
}

// heldTabsOf returns the tabs of a browser that clients hold.
func heldTabsOf(heldTabs []browser.HeldTab, browserID string) (held []httpapi.HeldTab) {
	for _, t := range heldTabs {
		if t.Browser == browserID {
			held = append(held, httpapi.HeldTab{TabID: t.TabID, Site: t.Site, Client: t.Client, Until: t.Until.UTC()})
		}
	}
	return held
}
