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

// callerGate blocks calls between plugins that the user has not allowed.
type callerGate struct{ p *Policy }

func (callerGate) Name() string { return "caller" }

func (g callerGate) Decide(in dispatch.CallInfo) dispatch.Verdict {
	if in.Caller == nil {
		return dispatch.Verdict{}
	}
	if in.Caller.Plugin != in.Tool.Plugin {
		return g.checkCall(in.Caller.Plugin, in.Tool.Plugin)
	}
	otherTab := in.TabID != in.Caller.TabID || in.Browser != in.Caller.Browser
	if otherTab && g.isRestricted(in.Caller.Plugin) {
		return refusedCall(fmt.Sprintf("The plugin %s starts after the page's scripts, so its tools may not call tools in other tabs", in.Caller.Plugin),
			lateAccessCommand(in.Caller.Plugin))
	}
	return dispatch.Verdict{}
}

// isRestricted reports whether a plugin is restricted or not loaded; see
// [Policy.IsRestricted].
func (g callerGate) isRestricted(name string) bool {
	one, ok := g.p.set().Plugin(name)
	return !ok || g.p.IsRestricted(one)
}

// checkCall blocks a call between two plugins that is not allowed.
func (g callerGate) checkCall(caller, called string) dispatch.Verdict {
	allowed := g.p.State(caller).mayCall(called)
	restricted := g.isRestricted(caller)
	allow := fmt.Sprintf("`opentabs plugin permission %s --allow-calls-to %s`", caller, called)
	switch {
	case restricted && !allowed:
		return refusedCall(fmt.Sprintf("The plugin %s may not call tools of the plugin %s, and it starts after the page's scripts", caller, called),
			allow+" and "+lateAccessCommand(caller))
	case restricted:
		return refusedCall(fmt.Sprintf("The plugin %s starts after the page's scripts, so it may not call other plugins", caller), lateAccessCommand(caller))
	case !allowed:
		return refusedCall(fmt.Sprintf("The plugin %s may not call tools of the plugin %s", caller, called), allow)
	}
	return dispatch.Verdict{}
}

// lateAccessCommand returns the command that gives a plugin late access.
func lateAccessCommand(name string) string {
	return fmt.Sprintf("`opentabs plugin permission %s --late-access on`", name)
}

// refusedCall returns a denial with a text for the agent and one for the user.
func refusedCall(fact, command string) dispatch.Verdict {
	v := dispatch.NewBlockVerdict(wire.ErrDenied, "%s. The user can allow it with %s in a terminal, or in the opentabs side panel. Do not retry it before; ask the user", fact, command)
	v.UserText = fmt.Sprintf("%s. To allow it, run %s, or use the side panel.", fact, command)
	return v
}

// Resolve returns [Registry.Resolve] restricted to plugins that the calling plugin
// may call. The caller does not learn which tools other plugins have.
func (e *Enforcer) Resolve(r *plugin.Registry) func(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
	return func(parent dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
		tool, args, err := r.Resolve(parent, name, args)
		if err == nil {
			return tool, args, nil // the gate blocks the call, so that the refusal is recorded
		}
		called := pluginOf(parent, name)
		if called == parent.Plugin {
			return tool, args, err
		}
		gate := callerGate{e.policy}
		if _, known := e.policy.set().Plugin(called); known || gate.isRestricted(parent.Plugin) {
			if v := gate.checkCall(parent.Plugin, called); v.Block != nil {
				return dispatch.Tool{}, nil, v.Block
			}
		}
		return tool, args, err
	}
}

// After implements dispatch.After.
func (g callerGate) After(in dispatch.CallInfo, e dispatch.EndedCall) {
	if by := in.Caller; by != nil && by.Plugin != in.Tool.Plugin && e.View.ErrorCode == wire.ErrDenied &&
		!g.p.State(by.Plugin).mayCall(in.Tool.Plugin) && g.p.refused.add(by.Plugin, in.Tool.Plugin) {
		go g.p.file.Notify() // surfaces show it
	}
}

const (
	// maxRefused is the most refused targets that are kept for one calling plugin.
	maxRefused = 20
	// maxRefusing is the most calling plugins that are kept.
	maxRefusing = 200
)

// refusedCalls are the refused calls between plugins, which surfaces offer to allow. A
// refusedCalls is safe for concurrent use.
type refusedCalls struct {
	mu sync.Mutex // guards by
	// by maps calling plugins to the plugins that they tried to call.
	by map[string][]string
}

// add records a call. add reports false if the call is not new, or the record is full.
func (r *refusedCalls) add(caller, called string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string][]string{}
	}
	known := r.by[caller]
	if slices.Contains(known, called) || len(known) == maxRefused || known == nil && len(r.by) == maxRefusing {
		return false
	}
	r.by[caller] = append(known, called)
	return true
}

// Refused returns the plugins that a plugin has tried to call without permission since
// the daemon started, sorted.
func (p *Policy) Refused(name string) []string {
	s := p.State(name)
	p.refused.mu.Lock()
	defer p.refused.mu.Unlock()
	var all []string
	for _, called := range p.refused.by[name] {
		if !s.mayCall(called) {
			all = append(all, called)
		}
	}
	slices.Sort(all)
	return all
}

// pluginOf returns the plugin of a tool that a tool of parent calls by this name.
func pluginOf(parent dispatch.Tool, name string) string {
	if called, _, ok := strings.Cut(name, "__"); ok {
		return called
	}
	return parent.Plugin
}
