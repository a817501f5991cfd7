package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/wire"
)

// callerGate blocks a nested call from one plugin to another, unless the user has allowed
// such calls.
type callerGate struct{ p *Policy }

func (callerGate) Name() string { return "caller" }

func (g callerGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	if callInfo.Caller == nil {
		return dispatch.Verdict{}
	}
	if callInfo.Caller.Plugin != callInfo.Tool.Plugin {
		return g.checkCall(callInfo.Caller.Plugin, callInfo.Tool.Plugin)
	}
	otherTab := callInfo.TabID != callInfo.Caller.TabID || callInfo.Browser != callInfo.Caller.Browser
	if otherTab && g.isRestricted(callInfo.Caller.Plugin) {
		return newRefusalVerdict(fmt.Sprintf("The plugin %s starts after the page's scripts, so its tools may not call tools in other tabs", callInfo.Caller.Plugin),
			formatLateAccessCommand(callInfo.Caller.Plugin))
	}
	return dispatch.Verdict{}
}

func (g callerGate) isRestricted(name string) bool {
	loadedPlugin, ok := g.p.currentPlugins().Plugin(name)
	return !ok || g.p.IsRestricted(loadedPlugin)
}

func (g callerGate) checkCall(caller, calledPlugin string) dispatch.Verdict {
	isAllowed := g.p.State(caller).mayCall(calledPlugin)
	isRestricted := g.isRestricted(caller)
	allowCommand := fmt.Sprintf("`opentabs plugin permission %s --allow-calls-to %s`", caller, calledPlugin)
	switch {
	case isRestricted && !isAllowed:
		return newRefusalVerdict(fmt.Sprintf("The plugin %s may not call tools of the plugin %s, and it starts after the page's scripts", caller, calledPlugin),
			allowCommand+" and "+formatLateAccessCommand(caller))
	case isRestricted:
		return newRefusalVerdict(fmt.Sprintf("The plugin %s starts after the page's scripts, so it may not call other plugins", caller), formatLateAccessCommand(caller))
	case !isAllowed:
		return newRefusalVerdict(fmt.Sprintf("The plugin %s may not call tools of the plugin %s", caller, calledPlugin), allowCommand)
	}
	return dispatch.Verdict{}
}

func formatLateAccessCommand(name string) string {
	return fmt.Sprintf("`opentabs plugin permission %s --late-access on`", name)
}

func newRefusalVerdict(errorSentence, command string) dispatch.Verdict {
	return dispatch.NewBlockVerdict(wire.ErrDenied,
		fmt.Sprintf("%s. The user can allow it with %s in a terminal, or in the opentabs side panel. Do not retry it before; ask the user", errorSentence, command),
		fmt.Sprintf("%s. To allow it, run %s, or use the side panel.", errorSentence, command))
}

// Resolve wraps [Registry.Resolve] and hides the tools of plugins that the calling plugin is
// not allowed to call.
func (e *Enforcer) Resolve(r *plugin.Registry) func(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
	return func(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
		tool, args, err := r.Resolve(parent, name, args)
		if err == nil {
			return tool, args, nil // callerGate blocks the call, so that the refusal is recorded
		}
		calledPlugin := parsePluginName(parent, name)
		if builtinTool, ok := e.policy.currentPlugins().Tool(name); ok && builtinTool.Plugin.IsBuiltin() {
			calledPlugin = builtinTool.Plugin.Name
		}
		if calledPlugin == parent.Plugin {
			return tool, args, err
		}
		gate := callerGate{e.policy}
		if _, isPlugin := e.policy.currentPlugins().Plugin(calledPlugin); isPlugin || gate.isRestricted(parent.Plugin) {
			if v := gate.checkCall(parent.Plugin, calledPlugin); v.BlockError != nil {
				return dispatch.Tool{}, nil, v.BlockError
			}
		}
		return tool, args, err
	}
}

// The method AfterCall implements [dispatch.AfterHook].
func (g callerGate) AfterCall(callInfo dispatch.CallInfo, e dispatch.EndedCall) {
	if caller := callInfo.Caller; caller != nil && caller.Plugin != callInfo.Tool.Plugin && e.View.ErrorCode == wire.ErrDenied &&
		!g.p.State(caller.Plugin).mayCall(callInfo.Tool.Plugin) && g.p.refusedCalls.add(caller.Plugin, callInfo.Tool.Plugin) {
		go g.p.file.NotifyListeners()
	}
}

const (
	// maxRefusedPlugins is the maximum number of target plugins in the record of refused calls
	// of one calling plugin.
	maxRefusedPlugins = 20
	// maxRefusedCallers is the maximum number of calling plugins with recorded refusals.
	maxRefusedCallers = 200
)

// refusedCalls records which plugins tried to call which other plugins without
// permission. For each refused call, the side panel and the command line offer to allow
// calls from the calling plugin to the called plugin. A refusedCalls is safe for
// concurrent use.
type refusedCalls struct {
	mu                    sync.Mutex // the mutex guards the field calledPluginsByCaller
	calledPluginsByCaller map[string][]string
}

func (r *refusedCalls) add(caller, calledPlugin string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calledPluginsByCaller == nil {
		r.calledPluginsByCaller = map[string][]string{}
	}
	calledPlugins := r.calledPluginsByCaller[caller]
	if slices.Contains(calledPlugins, calledPlugin) || len(calledPlugins) == maxRefusedPlugins || calledPlugins == nil && len(r.calledPluginsByCaller) == maxRefusedCallers {
		return false
	}
	r.calledPluginsByCaller[caller] = append(calledPlugins, calledPlugin)
	return true
}

// RefusedPlugins returns the plugins that a plugin has tried to call without permission since the
// daemon started. Refused sorts the plugins by name.
func (p *Policy) RefusedPlugins(name string) []string {
	s := p.State(name)
	p.refusedCalls.mu.Lock()
	defer p.refusedCalls.mu.Unlock()
	var pluginNames []string
	for _, calledPlugin := range p.refusedCalls.calledPluginsByCaller[name] {
		if !s.mayCall(calledPlugin) {
			pluginNames = append(pluginNames, calledPlugin)
		}
	}
	slices.Sort(pluginNames)
	return pluginNames
}

func parsePluginName(parent dispatch.Tool, name string) string {
	if calledPlugin, _, ok := strings.Cut(name, "__"); ok {
		return calledPlugin
	}
	return parent.Plugin
}
