package daemon

import (
	"strings"
	"time"

	"github.com/rs/zerolog"

	"opentabs/browser"
	"opentabs/dispatch"
	"opentabs/dispatch/joblist"
	"opentabs/internal/clients"
	"opentabs/internal/config"
	"opentabs/internal/filestore"
	"opentabs/internal/home"
	"opentabs/internal/permissions"
	"opentabs/internal/timeouts"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/mcpserver/gateway"
	"opentabs/wire"
	"opentabs/wsbridge"
)

// CallCommandClient is the client name that `opentabs call` sends in MCP's initialize
// request.
const CallCommandClient = dispatch.CommandNamePrefix + "call"

// learnedTimeouts adapts the store of client timeouts to mcpserver.LearnedTimeouts.
type learnedTimeouts struct{ store *timeouts.Store }

// Find returns the stored timeout of a client, and the time at which the timeout was
// stored.
func (l learnedTimeouts) Find(id clients.ID) (clients.Timeout, time.Time, bool) {
	e, ok := l.store.Find(id)
	return e.Timeout(), e.Since, ok
}

// RecordAbandonedCall stores the timeout of a client after the client has stopped waiting for a call.
func (l learnedTimeouts) RecordAbandonedCall(id clients.ID, g clients.AbandonedCall) {
	l.store.RecordAbandonedCall(id, g)
}

// openTimeouts renames a damaged file of client timeouts, and starts without stored timeouts.
func openTimeouts(h *home.Home, log zerolog.Logger) *timeouts.Store {
	store := timeouts.Open(h.State, func(warning string) { log.Error().Msg(warning) }, log)
	if err := store.Repair(); err != nil {
		log.Error().Err(err).Msg("the damaged file of client timeouts could not be renamed")
	}
	return store
}

// Jobs are enabled only if the settings let the calls of at least one client become jobs.
func mcpOptions(
	s config.Settings, p *plugins, localPermissions permissions.LocalPolicy, hub *wsbridge.Hub, calls *dispatch.Dispatcher, jobs *joblist.List, files *filestore.Store,
	onSessionEnd func(dispatch.Client), loading *pluginLoadState, timeoutStore *timeouts.Store,
	log zerolog.Logger,
) mcpserver.Options {
	o := mcpserver.Options{
		Version: version.Version, Log: log, CallWatcher: calls, Files: files, OnSessionEnd: onSessionEnd, DisableForms: !s.Elicitation,
		Tabs: hub.CurrentTargets, Inspector: localPermissions, WaitUntilLoaded: loading.waitUntilLoaded,
		RefusalFunc: makeCapabilityRefusals(p.enforcer.RefusalFunc, hub.Browsers), PinnedTools: p.toolPins.Names,
		ListMode: makeListModeFunc(s.Tools), ListsOutputSchemas: outputSchemaRules(s.OutputSchemas),
		NeedsApproval: func(t dispatch.Tool, c dispatch.Client) bool {
			return p.enforcer.CurrentVerdict(dispatch.CallInfo{Tool: t, Client: c}).Suspend != nil
		},
	}
	if !s.Detach.NeverDetaches() {
		o.Jobs = jobs
		o.Detach = makeDetachPolicyFunc(s.Detach)
		o.LearnedTimeouts = learnedTimeouts{timeoutStore}
	}
	return o
}

// Browser tools are refused if no connected browser has the optional Chrome permission that they need.
func makeCapabilityRefusals(
	makePolicyRefusals func(plugin string) func(dispatch.Tool) *wire.CallError, listBrowsers func() []wsbridge.BrowserInfo,
) func(plugin string) func(dispatch.Tool) *wire.CallError {
	return func(plugin string) func(dispatch.Tool) *wire.CallError {
		refusal := makePolicyRefusals(plugin)
		if plugin != browser.Name {
			return refusal
		}
		var capabilities []string
		for _, b := range listBrowsers() {
			capabilities = append(capabilities, b.Capabilities...)
		}
		return func(t dispatch.Tool) *wire.CallError {
			if err := refusal(t); err != nil {
				return err
			}
			return browser.CheckCapability(t.Name, capabilities)
		}
	}
}

func capabilitiesOf(listBrowsers func() []wsbridge.BrowserInfo) func(browserID string) []string {
	return func(browserID string) []string {
		for _, b := range listBrowsers() {
			if b.ID == browserID {
				return b.Capabilities
			}
		}
		return nil
	}
}

// Commands of opentabs list all tools, because a command looks up its tool in the list.
func makeListModeFunc(t config.Tools) func(client string) gateway.Mode {
	return func(client string) gateway.Mode {
		if strings.HasPrefix(client, dispatch.CommandNamePrefix) {
			return gateway.ListAllTools
		}
		return gateway.Mode(t.RuleFor(client))
	}
}

func outputSchemaRules(o config.OutputSchemas) func(client, version string) bool {
	return func(client, version string) bool {
		switch o.RuleFor(client) {
		case config.OutputSchemasOn:
			return true
		case config.OutputSchemasOff:
			return false
		}
		return clients.Of(client, version).UsesOutputSchemas()
	}
}

// Calls of `opentabs call` never become jobs, because the user waits for the result.
func makeDetachPolicyFunc(d config.DetachSetting) func(client string) mcpserver.DetachPolicy {
	return func(client string) mcpserver.DetachPolicy {
		if client == CallCommandClient {
			return mcpserver.DetachPolicy{}
		}
		rule := d.RuleFor(client)
		return mcpserver.DetachPolicy{DetachBeforeTimeout: rule.DetachesBeforeTimeout, After: rule.After}
	}
}
