package daemon

import (
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/config"
	"opentabs/internal/permissions"
	"opentabs/internal/version"
	"opentabs/mcpserver"
	"opentabs/plugin/policy"
	"opentabs/wsbridge"
)

// CommandClient is the client name of `opentabs call` in MCP's initialize.
const CommandClient = dispatch.CommandNamePrefix + "call"

// mcpOptions returns the options of the MCP server. Jobs are enabled only if the
// settings allow calls of some client to become jobs.
func mcpOptions(
	s config.Settings, enforcer *policy.Enforcer, access permissions.Local, hub *wsbridge.Hub, calls *dispatch.Dispatcher, load *pluginLoading, log zerolog.Logger,
) mcpserver.Options {
	o := mcpserver.Options{
		Version: version.Version, Log: log, CallWatcher: calls, DisableForms: !s.Elicitation,
		Tabs: hub.CurrentTargets, Inspector: access, Ready: load.waitUntilLoaded,
		Refusals: enforcer.Refusals,
	}
	if !s.Detach.IsNever() {
		o.Jobs = dispatch.NewJobs(calls, dispatch.JobOptions{})
		o.Detach = detachRules(s.Detach)
	}
	return o
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
