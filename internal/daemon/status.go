package daemon

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/memory"
	"opentabs/internal/permissions"
	"opentabs/internal/timeouts"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/mcpserver/transport"
	"opentabs/plugin/catalog"
	"opentabs/plugin/policy"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// statusReporter collects the response of GET /status.
type statusReporter struct {
	home             *home.Home
	address          string
	startedAt        time.Time
	registry         *catalog.Catalog
	policy           *policy.Policy
	localPermissions permissions.LocalPolicy
	hub              *wsbridge.Hub
	calls            *dispatch.Dispatcher
	mcp              *mcpserver.Server
	tabHolds         *browser.TabHoldTable
	timeouts         *timeouts.Store
}

func (r statusReporter) status() httpapi.Status {
	s, memoryUse := r.home.Settings, memory.ReadUse()
	serverStatus := httpapi.Status{
		Version: version.Version, Protocol: wire.Version, PID: os.Getpid(), Address: r.address,
		Started: r.startedAt.UTC(), UptimeMs: time.Since(r.startedAt).Milliseconds(),
		Home: httpapi.Home{Config: r.home.Config, State: r.home.State},
		Limits: httpapi.Limits{
			IdleTimeoutMs: s.IdleTimeout.Milliseconds(), HardTimeoutMs: s.HardTimeout.Milliseconds(),
			ProgressIntervalMs: s.ProgressInterval.Milliseconds(), MaxResultBytes: s.MaxResultBytes, MaxRunning: s.MaxRunning,
			MaxWaiting: s.MaxWaiting,
		},
		Memory: httpapi.Memory{HeapBytes: memoryUse.HeapBytes, SystemBytes: memoryUse.SystemBytes, Goroutines: runtime.NumGoroutine()},
		// An empty list must be [] in JSON, not null.
		Browsers: []httpapi.Browser{}, Plugins: []httpapi.Plugin{},
		Failed: []httpapi.FailedPlugin{}, Clients: []httpapi.MCPClient{},
	}
	for _, c := range r.calls.Calls() {
		switch {
		case c.Waiting != nil && c.Waiting.Kind == wire.TicketUser:
			serverStatus.Calls.WaitingForYou++
		case c.Waiting != nil:
			serverStatus.Calls.WaitingForApproval++
		case c.Status == wire.StatusRunning:
			serverStatus.Calls.Running++
		case !c.Status.HasEnded():
			serverStatus.Calls.Queued++
		}
	}
	heldTabs := r.tabHolds.HeldTabs()
	for _, b := range r.hub.Browsers() {
		serverStatus.Browsers = append(serverStatus.Browsers, httpapi.Browser{
			ID: b.ID, Name: b.Name, Version: b.ExtensionVersion, PairingKeyID: b.PairingKeyID, Connected: b.Connected, Since: b.LinkChangedAt,
			Running: b.RunCount, InjectMode: b.InjectMode, Tabs: append([]wire.TabInfo{}, b.Tabs...), HeldTabs: tabsHeldInBrowser(heldTabs, b.ID),
		})
	}
	if refusedHello := r.hub.Probe.RefusedHello(); refusedHello.ReasonText != "" {
		serverStatus.RefusedExtension = &httpapi.RefusedExtension{Text: refusedHello.ReasonText, At: refusedHello.At.UTC()}
	}
	for _, try := range r.hub.Probe.UnpairedAttempts() {
		serverStatus.UnpairedBrowsers = append(serverStatus.UnpairedBrowsers, httpapi.UnpairedBrowser{KeyID: try.KeyID, LastAttemptAt: try.At.UTC()})
	}
	for _, c := range r.mcp.Clients() {
		// The session ID is omitted from the status, because it works like a password.
		serverStatus.Clients = append(serverStatus.Clients, httpapi.MCPClient{
			Client: c.Token, Credential: string(c.Kind), Name: c.Name, Version: c.Version, Transport: c.Transport, Since: c.ConnectedSince,
			Tools: string(r.mcp.ListModeOf(c)), Timeout: r.clientTimeout(c),
		})
	}
	pluginSet := r.registry.Set()
	for _, p := range pluginSet.Plugins() {
		pluginStatus := r.localPermissions.Status(p)
		pluginStatus.State = r.hub.CurrentTargets(p.Name).State()
		serverStatus.Plugins = append(serverStatus.Plugins, pluginStatus)
	}
	serverStatus.Permissions = r.policy.Problems()
	for _, f := range pluginSet.Failed() {
		serverStatus.Failed = append(serverStatus.Failed, permissions.NewFailedPlugin(f))
	}
	return serverStatus
}

func (r statusReporter) clientTimeout(c transport.ClientInfo) *httpapi.ClientTimeout {
	if e, ok := r.timeouts.Find(clients.ID{Name: c.Name, Version: c.Version}); ok {
		source := httpapi.TimeoutSourceLearned
		if e.IsSetByUser {
			source = httpapi.TimeoutSourceUser
		}
		return &httpapi.ClientTimeout{LimitMs: e.TimeoutMs, ProgressRestarts: e.ProgressRestarts, Source: source}
	}
	profile := clients.Of(c.Name, c.Version)
	t := profile.TransportTimeout(c.Transport == transport.TransportHTTP)
	if !profile.IsKnown() || t.Limit == 0 {
		return nil
	}
	return &httpapi.ClientTimeout{LimitMs: t.Limit.Milliseconds(), ProgressRestarts: t.ProgressRestarts, Source: httpapi.TimeoutSourceTable}
}

func (r statusReporter) connectedBrowserIDs() (ids []string) {
	for _, b := range r.hub.Browsers() {
		if b.Connected {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func (r statusReporter) releaseTab(browser string, tabID int) (client string, err error) {
	var browserIDs []string
	for _, b := range r.hub.Browsers() {
		isNamed := browser == "" || wire.MatchesBrowser(browser, b.ID, b.Name)
		for _, heldTab := range tabsHeldInBrowser(r.tabHolds.HeldTabs(), b.ID) {
			if isNamed && heldTab.TabID == tabID {
				browserIDs = append(browserIDs, b.ID)
			}
		}
	}
	switch len(browserIDs) {
	case 0:
		return "", fmt.Errorf("no client uses tab %d: `opentabs status` lists the tabs that clients use", tabID)
	case 1:
		return r.tabHolds.Release(browserIDs[0], tabID, httpapi.CommandLine)
	}
	return "", fmt.Errorf("clients use a tab %d in several browsers: name one with --browser", tabID)
}

func tabsHeldInBrowser(heldTabs []browser.HeldTab, browserID string) (tabsInBrowser []httpapi.HeldTab) {
	for _, t := range heldTabs {
		if t.Browser == browserID {
			tabsInBrowser = append(tabsInBrowser, httpapi.HeldTab{TabID: t.TabID, Site: t.Site, Client: t.Client, EndsAt: t.EndsAt.UTC(), IsTakenBack: t.IsTakenBack})
		}
	}
	return tabsInBrowser
}
