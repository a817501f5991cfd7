package main

import (
	"opentabs/dispatch"
	"opentabs/internal/config"
	"opentabs/internal/version"
	"opentabs/mcpserver"
)

// agentOptions say how agents are served. Jobs are there only if a client may
// have some.
func (v *server) agentOptions() mcpserver.Options {
	o := mcpserver.Options{
		Version: version.Version, Log: v.log, Watch: v.calls, NoForms: !v.settings.Elicitation,
		Tabs: v.hub.Where, Inspector: policyAPI{v.policy, v.registry}, Ready: v.ready,
		Refusals: v.policy.Refusals,
	}
	if !v.settings.Detach.Never() {
		o.Jobs = dispatch.NewJobs(v.calls, dispatch.JobOptions{})
		o.Detach = detachOf(v.settings.Detach)
	}
	return o
}

// callClient is how the command calls itself to the server.
const callClient = "opentabs call"

// detachOf is what a setting says of each client. The command call waits for its
// result as long as its person does.
func detachOf(d config.Detach) func(client string) mcpserver.Detach {
	return func(client string) mcpserver.Detach {
		if client == callClient {
			return mcpserver.Detach{}
		}
		rule := d.For(client)
		return mcpserver.Detach{Auto: rule.Auto, After: rule.After}
	}
}
