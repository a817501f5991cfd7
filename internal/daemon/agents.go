package daemon

import (
	"strings"

	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/internal/config"
	"opentabs/internal/permissions"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/mcpserver/gateway"
	"opentabs/wsbridge"
)

// CommandClient is the client name of `opentabs call` in MCP's initialize.
const CommandClient = dispatch.CommandNamePrefix + "call"

// mcpOptions returns the options of the MCP server. Jobs are enabled only if the
// settings allow calls of some client to become jobs.
func mcpOptions(
	s config.Settings, p *plugins, access permissions.Local, hub *wsbridge.Hub, calls *dispatch.Dispatcher, load *pluginLoading, log zerolog.Logger,
) mcpserver.Options {
	o := mcpserver.Options{
		Version: version.Version, Log: log, CallWatcher: calls, DisableForms: !s.Elicitation,
		Tabs: hub.CurrentTargets, Inspector: access, Ready: load.waitUntilLoaded,
		Refusals: p.enforcer.Refusals, PinnedTools: p.pins.Names,
		ListMode: listModes(s.Tools), ListsOutputSchemas: outputSchemaRules(s.OutputSchemas),
		NeedsApproval: func(t dispatch.Tool, c dispatch.Client) bool {
			return p.enforcer.Ask(dispatch.CallInfo{Tool: t, Client: c}).Suspend != nil
		},
	}
	if !s.Detach.IsNever() {
		o.Jobs = dispatch.NewJobs(calls, dispatch.JobOptions{})
		o.Detach = detachRules(s.Detach)
	}
	return o
}

// listModes returns a function with the tools that a client lists. Commands of opentabs
// list all tools, because they find their tool in the list.
func listModes(t config.Tools) func(client string) gateway.Mode {
	return func(client string) gateway.Mode {
		if strings.HasPrefix(client, dispatch.CommandNamePrefix) {
			return gateway.ListAll
		}
		return gateway.Mode(t.RuleFor(client))
	}
}

// outputSchemaRules returns a function that reports whether a client lists output
// schemas.
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

// detachRules returns a function with the rule by which the calls of a client become
// jobs. Calls of `opentabs call` never become jobs, because the user waits for the
// result.
func detachRules(d config.Detach) func(client string) mcpserver.Detach {
	return func(client string) mcpserver.Detach {
		if client == CommandClient {
			return mcpserver.Detach{}
		}
		rule := d.RuleFor(client)
		return mcpserver.Detach{BeforeTimeout: rule.Auto, After: rule.After}
	}
}
