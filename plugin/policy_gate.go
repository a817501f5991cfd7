package plugin

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/timetext"
	"opentabs/wire"
)

// Gates are the policy's gates: review, caller, permission, limit.
func (p *Policy) Gates() []dispatch.Gate {
	return []dispatch.Gate{reviewGate{p}, callerGate{p}, permissionGate{p}, limitGate{p}}
}

// Before counts the calls of limited tools.
func (p *Policy) Before() []dispatch.Before { return []dispatch.Before{limitGate{p}} }

// After forgets what was allowed for one call, and notes which plugins tried to call
// which.
func (p *Policy) After() []dispatch.After { return []dispatch.After{permissionGate{p}, callerGate{p}} }

// Ask returns what review, caller and permission say of a call now: a Block, a Suspend, or
// nothing if it may run.
func (p *Policy) Ask(in dispatch.Info) dispatch.Verdict {
	for _, gate := range []dispatch.Gate{reviewGate{p}, callerGate{p}} {
		if v := gate.Decide(in); v.Block != nil {
			return v
		}
	}
	return permissionGate{p}.Decide(in)
}

// Refusals returns what says why no call of a tool or prompt of the plugin runs as
// things are: the plugin is not reviewed, or the tool is switched off. It returns
// nil for one that runs, or for which the user is asked.
func (p *Policy) Refusals(name string) func(t dispatch.Tool) *wire.CallError {
	s := p.State(name)
	return func(t dispatch.Tool) *wire.CallError {
		switch {
		case !s.Reviewed:
			return reviewGate{p}.refusal(name, s).Block
		case s.permissionOf(t) == wire.PermissionOff:
			return permissionGate{p}.off(t, s).Block
		}
		return nil
	}
}

// toolKey names a tool among its plugin's; a prompt of the same name is another.
func toolKey(t dispatch.Tool) string {
	if t.Prompt {
		return "prompt " + t.Name
	}
	return t.Name
}

// permissionOf is what the file says of a tool or prompt. Prompts have no
// permission of their own.
func (s State) permissionOf(t dispatch.Tool) wire.Permission {
	if t.Prompt {
		return s.Effective
	}
	return s.Tool(t.Name)
}

// reviewGate lets only calls of plugins through whose present content a person
// has reviewed.
type reviewGate struct{ p *Policy }

func (reviewGate) Name() string { return "review" }

func (g reviewGate) Decide(in dispatch.Info) dispatch.Verdict {
	name := in.Tool.Plugin
	s := g.p.State(name)
	if s.Reviewed {
		return dispatch.Verdict{}
	}
	return g.refusal(name, s)
}

// refusal says why a plugin does not count as reviewed.
func (g reviewGate) refusal(name string, s State) dispatch.Verdict {
	why := fmt.Sprintf("the person has not reviewed the plugin %s yet", name)
	switch {
	case g.p.file.current().problem != nil:
		return blocked(wire.ErrNotReviewed, "the file of permissions cannot be read, so no plugin counts as reviewed; `opentabs plugin permission` in a terminal tells the person what is wrong with it")
	case s.Review != nil:
		why = fmt.Sprintf("the plugin %s has changed since the person reviewed it%s", name, when(s.Review.At))
	}
	return blocked(wire.ErrNotReviewed, "%s, so none of its tools run; the person reviews it with `opentabs plugin review %s` in a terminal, or in the side panel", why, name)
}

// permissionGate asks the person, or refuses, as the permission says.
type permissionGate struct{ p *Policy }

func (permissionGate) Name() string { return "permission" }

func (g permissionGate) Decide(in dispatch.Info) dispatch.Verdict {
	s := g.p.State(in.Tool.Plugin)
	if !s.Reviewed {
		return dispatch.Verdict{} // the review gate says why
	}
	permission := s.permissionOf(in.Tool)
	if permission == wire.PermissionOff {
		return g.off(in.Tool, s)
	}
	if _, ok := g.p.Approval(in); ok {
		return dispatch.Verdict{}
	}
	scopes := []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways}
	if in.Tool.Prompt { // there is nowhere to write it down
		scopes = scopes[:3]
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: in.Tool.PluginName, Scopes: scopes,
		Resume: dispatch.ResumePassDecision, // context.decision
		Reason: whoWants(in) + " wants to run " + in.Tool.FullName() + onBehalf(in),
	}}
}

// whoWants names who makes the call: the client, or the calling plugin with the
// tab and the site that its tool runs in.
func whoWants(in dispatch.Info) string {
	if by := in.Caller; by != nil {
		where := fmt.Sprintf("tab %d", by.TabID)
		if by.Origin != "" {
			where += ", " + by.Origin
		}
		return fmt.Sprintf("The plugin %s (%s)", by.Plugin, where)
	}
	who := in.Client.String()
	if who == "" {
		return "An agent"
	}
	if in.Client.Via != "" { // the first words are the server's, not the client's
		who = strings.ToUpper(who[:1]) + who[1:]
	}
	return who
}

// onBehalf names the calls that led to a nested one; empty for any other call.
func onBehalf(in dispatch.Info) string {
	by := in.Caller
	if by == nil {
		return ""
	}
	text := ", called by its tool " + by.Tool
	if len(by.Above) > 0 {
		text += " for " + strings.Join(by.Above, " for ")
	}
	return text + " for " + cmp.Or(in.Client.String(), "an agent")
}

// off says that a tool is switched off, and which switch it is.
func (permissionGate) off(t dispatch.Tool, s State) dispatch.Verdict {
	name := t.Plugin
	what, set := "the plugin "+name, s.Set
	if own := s.Tools[t.Name]; !t.Prompt && own.Permission != "" {
		name = t.FullName()
		what, set = "the tool "+name, own.Mark
	}
	return blocked(wire.ErrDenied, "the person has switched %s off%s; the person switches it on with `opentabs plugin permission %s ask` in a terminal, or in the side panel", what, when(set.At), name)
}

// Decided implements dispatch.Decider: it keeps what the person allowed.
func (g permissionGate) Decided(in dispatch.Info, _ dispatch.Ticket, r dispatch.Resolution) {
	tool := in.Tool
	change := Change{Kind: "decision", Plugin: tool.Plugin, Tool: tool.Name, CallID: in.CallID, Client: in.Client.String(), Caller: in.Caller, Allow: r.Allow, By: r.By}
	if !r.Allow {
		g.p.opts.Record(change)
		return
	}
	one := grant{
		Approval: Approval{Scope: r.Scope, Mark: Mark{By: r.By, At: r.At.UTC()}},
		caller:   in.Caller.PluginName(), client: in.Client.Identity(), session: in.Client.Session, hash: g.p.hashOf(tool.Plugin),
	}
	switch r.Scope {
	case wire.ScopeSession:
		one.Until = r.At.Add(maxSession)
		g.p.grants.add(tool.Plugin, toolKey(tool), one)
	case wire.ScopeTime:
		change.For = r.For
		one.Until = r.At.Add(change.For)
		g.p.grants.add(tool.Plugin, toolKey(tool), one)
	case wire.ScopeAlways:
		g.always(tool, one)
	default:
		one.Scope = wire.ScopeOnce
	}
	change.Scope = one.Scope
	g.p.grants.allow(in.CallID, one.Approval)
	g.p.opts.Record(change)
	if one.Scope != wire.ScopeOnce { // other calls may be waiting for the same
		go g.p.file.tell()
	}
}

// always writes down that a tool runs without a question for one caller. Where
// that is not possible it holds until the server ends.
func (g permissionGate) always(t dispatch.Tool, one grant) {
	var err error
	if !t.Prompt {
		err = g.p.allowAlways(t.Plugin, t.Name, AlwaysAllowed{Client: one.client, Caller: one.caller, Mark: one.Mark})
	}
	if t.Prompt || err != nil {
		g.p.opts.Log.Warn().Err(err).Str("tool", t.FullName()).Msg("what the person allowed for always could not be written down, so it holds until the server ends")
		g.p.grants.add(t.Plugin, toolKey(t), one)
	}
}

// After implements dispatch.After.
func (g permissionGate) After(in dispatch.Info, _ dispatch.Ended) { g.p.grants.forget(in.CallID) }

// Approval returns why a call may run, if it may. It can be asked until the
// policy's After hook has run.
func (p *Policy) Approval(in dispatch.Info) (Approval, bool) {
	s := p.State(in.Tool.Plugin)
	hash := ""
	if s.Review != nil {
		hash = s.Review.Hash
	}
	if a, ok := p.grants.find(in, hash); ok {
		return a, true
	}
	own := s.Tools[in.Tool.Name]
	if in.Tool.Prompt {
		own = ToolStanding{}
	}
	if s.permissionOf(in.Tool) != wire.PermissionAuto {
		for _, one := range own.Allowed {
			if s.Reviewed && one.Client == in.Client.Identity() && one.Caller == in.Caller.PluginName() {
				return Approval{Scope: wire.ScopeAlways, Mark: one.Mark}, true
			}
		}
		return Approval{}, false
	}
	mark := s.Set
	if own.Permission != "" {
		mark = own.Mark
	}
	return Approval{Scope: wire.ScopeAlways, Mark: mark}, true
}

// limitGate holds how often a tool may run. As a gate it refuses before the
// person is asked; as a hook it counts.
type limitGate struct{ p *Policy }

func (limitGate) Name() string { return "limit" }

func (g limitGate) Decide(in dispatch.Info) dispatch.Verdict {
	return dispatch.Verdict{Block: g.check(in, false)}
}

// Before implements dispatch.Before.
func (g limitGate) Before(in dispatch.Info) *wire.CallError { return g.check(in, true) }

func (g limitGate) check(in dispatch.Info, take bool) *wire.CallError {
	limit := g.p.file.current().view.plugins[in.Tool.Plugin].Tools[in.Tool.Name].Limit
	if in.Tool.Prompt || limit == (Limit{}) {
		return nil
	}
	wait := g.p.meters.wait(in.Tool.FullName(), limit, take)
	if wait <= 0 {
		return nil
	}
	return blocked(wire.ErrRateLimited, "the person lets %s run %d times in %s and it has; the next call may run in %s",
		in.Tool.FullName(), limit.Calls, timetext.Short(limit.Per), (wait + time.Second - 1).Truncate(time.Second)).Block
}

func blocked(code wire.ErrorCode, format string, args ...any) dispatch.Verdict {
	return dispatch.Verdict{Block: &wire.CallError{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// when tells a day, if it is known.
func when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " (on " + at.Local().Format(time.DateOnly) + ")"
}
