package policy

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/humanize"
	"opentabs/wire"
)

// Enforcer applies a [Policy] to calls. Pass its gates and hooks to the dispatcher in
// its options. Enforcer is safe for concurrent use.
type Enforcer struct {
	policy *Policy
	meters meters
}

// NewEnforcer returns the enforcer of a policy.
func NewEnforcer(p *Policy) *Enforcer { return &Enforcer{policy: p} }

// Gates returns the gates for review, calling plugin, permission and limit, in this
// order.
func (e *Enforcer) Gates() []dispatch.Gate {
	return []dispatch.Gate{reviewGate{e.policy}, callerGate{e.policy}, permissionGate{e.policy}, limitGate{e.policy, &e.meters}}
}

// Before returns the hook that counts the calls of limited tools.
func (e *Enforcer) Before() []dispatch.BeforeHook {
	return []dispatch.BeforeHook{limitGate{e.policy, &e.meters}}
}

// After returns the hooks that drop permissions for one call and note refused calls
// between plugins.
func (e *Enforcer) After() []dispatch.AfterHook {
	return []dispatch.AfterHook{permissionGate{e.policy}, callerGate{e.policy}}
}

// Ask returns the verdict of review, calling plugin and permission on a call now: a
// Block, a Suspend, or neither if the call may run.
func (e *Enforcer) Ask(in dispatch.CallInfo) dispatch.Verdict {
	for _, gate := range []dispatch.Gate{reviewGate{e.policy}, callerGate{e.policy}} {
		if v := gate.Decide(in); v.Block != nil {
			return v
		}
	}
	return permissionGate{e.policy}.Decide(in)
}

// Refusals returns a function that returns why no call of a plugin's tool or prompt
// runs now: the plugin is not reviewed, or the tool is off. The function returns nil
// for a tool that runs or that needs an approval.
func (e *Enforcer) Refusals(name string) func(t dispatch.Tool) *wire.CallError {
	s := e.policy.State(name)
	return func(t dispatch.Tool) *wire.CallError {
		switch {
		case !s.Reviewed:
			return reviewGate{e.policy}.refusalFor(name, s).Block
		case s.permissionOf(t) == wire.PermissionOff:
			return permissionGate{e.policy}.offVerdict(t, s).Block
		}
		return nil
	}
}

// toolKey returns a key that is unique among the tools and prompts of a plugin.
func toolKey(t dispatch.Tool) string {
	if t.Prompt {
		return "prompt " + t.Name
	}
	return t.Name
}

// permissionOf returns the permission of a tool or prompt. Prompts have the permission
// of their plugin.
func (s State) permissionOf(t dispatch.Tool) wire.Permission {
	if t.Prompt {
		return s.Effective
	}
	return s.Tool(t.Name)
}

// reviewGate blocks calls of plugins whose current content is not reviewed.
type reviewGate struct{ p *Policy }

func (reviewGate) Name() string { return "review" }

func (g reviewGate) Decide(in dispatch.CallInfo) dispatch.Verdict {
	name := in.Tool.Plugin
	s := g.p.State(name)
	if s.Reviewed {
		return dispatch.Verdict{}
	}
	return g.refusalFor(name, s)
}

// refusalFor returns why a plugin does not count as reviewed.
func (g reviewGate) refusalFor(name string, s State) dispatch.Verdict {
	why := fmt.Sprintf("the user has not reviewed the plugin %s yet", name)
	switch {
	case g.p.file.Current().Problem != nil:
		return dispatch.NewBlockVerdict(wire.ErrNotReviewed, "the file of permissions cannot be read, so no plugin counts as reviewed; `opentabs plugin permission` in a terminal shows the user what is wrong with it")
	case s.Review != nil:
		why = fmt.Sprintf("the plugin %s has changed since the user reviewed it%s", name, humanize.OnDay(s.Review.At))
	}
	return dispatch.NewBlockVerdict(wire.ErrNotReviewed, "%s, so none of its tools run; the user reviews it with `opentabs plugin review %s` in a terminal, or in the side panel", why, name)
}

// permissionGate suspends calls that need approval and blocks calls of tools that are
// off.
type permissionGate struct{ p *Policy }

var _ dispatch.DecisionObserver = permissionGate{}

func (permissionGate) Name() string { return "permission" }

func (g permissionGate) Decide(in dispatch.CallInfo) dispatch.Verdict {
	s := g.p.State(in.Tool.Plugin)
	if !s.Reviewed {
		return dispatch.Verdict{} // the review gate blocks the call
	}
	permission := s.permissionOf(in.Tool)
	if permission == wire.PermissionOff {
		return g.offVerdict(in.Tool, s)
	}
	if _, ok := g.findApproval(in); ok {
		return dispatch.Verdict{}
	}
	scopes := []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways}
	if in.Tool.Prompt { // the file has no entries for prompts
		scopes = scopes[:3]
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: in.Tool.PluginName, Scopes: scopes, PassDecisionToTool: true,
		Reason: whoWants(in) + " wants to run " + in.Tool.FullName() + onBehalf(in),
	}}
}

// whoWants returns the caller for the approval request: the client, or the calling
// plugin with the tab and the site of its tool.
func whoWants(in dispatch.CallInfo) string {
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
	if in.Client.Credential != "" { // these words are the server's own
		who = strings.ToUpper(who[:1]) + who[1:]
	}
	return who
}

// onBehalf returns the calls that led to a nested call; empty for other calls.
func onBehalf(in dispatch.CallInfo) string {
	by := in.Caller
	if by == nil {
		return ""
	}
	text := ", called by its tool " + by.Tool
	if len(by.ParentTools) > 0 {
		text += " for " + strings.Join(by.ParentTools, " for ")
	}
	return text + " for " + cmp.Or(in.Client.String(), "an agent")
}

// offVerdict returns the verdict for a tool that is off, with the permission that turns it off.
func (permissionGate) offVerdict(t dispatch.Tool, s State) dispatch.Verdict {
	name := t.Plugin
	what, set := "the plugin "+name, s.Set
	if own := s.Tools[t.Name]; !t.Prompt && own.Permission != "" {
		name = t.FullName()
		what, set = "the tool "+name, own.Mark
	}
	return dispatch.NewBlockVerdict(wire.ErrDenied, "the user has turned %s off%s; the user turns it on with `opentabs plugin permission %s ask` in a terminal, or in the side panel", what, humanize.OnDay(set.At), name)
}

// ObserveDecision implements dispatch.Decider. Decided stores the permission that the user
// gave.
func (g permissionGate) ObserveDecision(in dispatch.CallInfo, _ dispatch.Ticket, r dispatch.Resolution) {
	tool := in.Tool
	change := Change{Kind: "decision", Plugin: tool.Plugin, Tool: tool.Name, CallID: in.CallID, Client: in.Client.String(), Caller: in.Caller, Allow: r.Allow, By: r.Surface}
	if !r.Allow {
		g.p.opts.Record(change)
		return
	}
	one := grant{
		Approval: Approval{Scope: r.Scope, Mark: Mark{By: r.Surface, At: r.DecidedAt.UTC()}},
		caller:   in.Caller.PluginName(), client: in.Client.Identity(), session: in.Client.Session, hash: g.contentHash(tool.Plugin),
	}
	switch r.Scope {
	case wire.ScopeSession:
		one.Until = r.DecidedAt.Add(maxSession)
		g.p.grants.add(tool.Plugin, toolKey(tool), one)
	case wire.ScopeTime:
		change.For = r.Duration
		one.Until = r.DecidedAt.Add(change.For)
		g.p.grants.add(tool.Plugin, toolKey(tool), one)
	case wire.ScopeAlways:
		g.rememberAlways(tool, one)
	default:
		one.Scope = wire.ScopeOnce
	}
	change.Scope = one.Scope
	g.p.grants.grantCall(in.CallID, one.Approval)
	g.p.opts.Record(change)
	if one.Scope != wire.ScopeOnce { // other calls may wait for the same permission
		go g.p.file.Notify()
	}
}

// rememberAlways stores that a tool runs without approval for one caller. If that fails, the
// permission lasts until the daemon exits.
func (g permissionGate) rememberAlways(t dispatch.Tool, one grant) {
	var err error
	if !t.Prompt {
		err = g.p.allowAlways(t.Plugin, t.Name, AlwaysAllowed{Client: one.client, Caller: one.caller, Mark: one.Mark})
	}
	if t.Prompt || err != nil {
		g.p.opts.Log.Warn().Err(err).Str("tool", t.FullName()).Msg("a permission for always could not be stored, so it lasts until the daemon exits")
		g.p.grants.add(t.Plugin, toolKey(t), one)
	}
}

// After implements dispatch.After.
func (g permissionGate) After(in dispatch.CallInfo, _ dispatch.EndedCall) {
	g.p.grants.forget(in.CallID)
}

// contentHash returns the hash of a plugin's content now; empty if it is not loaded.
func (g permissionGate) contentHash(name string) string {
	if one, ok := g.p.set().Plugin(name); ok {
		return one.ContentHash()
	}
	return ""
}

// Approval returns the permission that lets a call run; false if there is none.
// Approval works until the After hook of the call has run.
func (e *Enforcer) Approval(in dispatch.CallInfo) (Approval, bool) {
	return permissionGate{e.policy}.findApproval(in)
}

func (g permissionGate) findApproval(in dispatch.CallInfo) (Approval, bool) {
	s := g.p.State(in.Tool.Plugin)
	hash := ""
	if s.Review != nil {
		hash = s.Review.Hash
	}
	if a, ok := g.p.grants.find(in, hash); ok {
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

// limitGate enforces the limits of tools. As a gate it blocks calls before they need
// approval; as a hook it counts calls that run.
type limitGate struct {
	p      *Policy
	meters *meters
}

func (limitGate) Name() string { return "limit" }

func (g limitGate) Decide(in dispatch.CallInfo) dispatch.Verdict {
	return dispatch.Verdict{Block: g.check(in, false)}
}

// Before implements dispatch.Before.
func (g limitGate) Before(in dispatch.CallInfo) *wire.CallError { return g.check(in, true) }

func (g limitGate) check(in dispatch.CallInfo, countRun bool) *wire.CallError {
	limit := g.p.file.Current().View.plugins[in.Tool.Plugin].Tools[in.Tool.Name].Limit
	if in.Tool.Prompt || limit == (Limit{}) {
		return nil
	}
	wait := g.meters.untilAllowed(in.Tool.FullName(), limit, countRun)
	if wait <= 0 {
		return nil
	}
	return dispatch.NewBlockVerdict(wire.ErrRateLimited, "the user lets %s run %d times in %s, and that is used up; the next call may run in %s",
		in.Tool.FullName(), limit.Calls, humanize.ShortDuration(limit.Per), (wait + time.Second - 1).Truncate(time.Second)).Block
}
