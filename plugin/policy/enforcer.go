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

// Enforcer applies a [Policy] to calls. Pass the gates and hooks of the Enforcer to the
// dispatcher in the dispatcher's options. An Enforcer is safe for concurrent use.
type Enforcer struct {
	policy       *Policy
	callCounters callCounters
}

// NewEnforcer returns an enforcer that applies the rules of the policy p to calls.
func NewEnforcer(p *Policy) *Enforcer { return &Enforcer{policy: p} }

// Gates returns the gates in the order review, calling plugin, permission and limit. The
// review gate reloads permissions.json if the file has changed. For the same call, the
// permission gate and the limit gate use the permissions that the review gate has loaded.
func (e *Enforcer) Gates() []dispatch.Gate {
	return []dispatch.Gate{reviewGate{e.policy}, callerGate{e.policy}, permissionGate{e.policy}, limitGate{e.policy, &e.callCounters}}
}

// BeforeHooks returns the hook that counts the calls of each tool that has a call limit.
func (e *Enforcer) BeforeHooks() []dispatch.BeforeHook {
	return []dispatch.BeforeHook{limitGate{e.policy, &e.callCounters}}
}

// AfterHooks returns the hooks that run after each call. One after hook deletes the approval of
// the ended call, and the other records refused calls between plugins.
func (e *Enforcer) AfterHooks() []dispatch.AfterHook {
	return []dispatch.AfterHook{permissionGate{e.policy}, callerGate{e.policy}}
}

// CurrentVerdict returns the current verdict on a call from three gates: the review gate, the
// calling plugin gate and the permission gate. CurrentVerdict returns a Verdict with a BlockError,
// a Suspend, or neither if the call is allowed to run.
func (e *Enforcer) CurrentVerdict(callInfo dispatch.CallInfo) dispatch.Verdict {
	for _, gate := range []dispatch.Gate{reviewGate{e.policy}, callerGate{e.policy}} {
		if v := gate.Decide(callInfo); v.BlockError != nil {
			return v
		}
	}
	return permissionGate{e.policy}.Decide(callInfo)
}

// RefusalFunc returns a function that explains why a tool or prompt of a plugin cannot run now:
// because the plugin is not reviewed, or because the tool is off. The function returned by
// RefusalFunc returns nil for a tool that can run, even if each call of the tool needs an
// approval.
func (e *Enforcer) RefusalFunc(name string) func(t dispatch.Tool) *wire.CallError {
	s := e.policy.State(name)
	return func(t dispatch.Tool) *wire.CallError {
		switch {
		case !s.Reviewed:
			return reviewGate{e.policy}.newUnreviewedVerdict(name, s).BlockError
		case s.permissionForTool(t) == wire.PermissionOff:
			return permissionGate{e.policy}.newDisabledVerdict(t, s).BlockError
		}
		return nil
	}
}

func toolKey(t dispatch.Tool) string {
	if t.Prompt {
		return "prompt " + t.Name
	}
	return t.Name
}

// A prompt has the permission of its plugin.
func (s State) permissionForTool(t dispatch.Tool) wire.Permission {
	if t.Prompt {
		return s.EffectivePermission
	}
	return s.Tool(t.Name)
}

// reviewGate blocks calls of plugins whose current content is not reviewed.
type reviewGate struct{ p *Policy }

func (reviewGate) Name() string { return "review" }

func (g reviewGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	name := callInfo.Tool.Plugin
	s := g.p.State(name)
	if s.Reviewed {
		return dispatch.Verdict{}
	}
	return g.newUnreviewedVerdict(name, s)
}

func (g reviewGate) newUnreviewedVerdict(name string, s State) dispatch.Verdict {
	reason, userReason := fmt.Sprintf("the user has not reviewed the plugin %s yet", name), fmt.Sprintf("The plugin %s is not reviewed", name)
	switch {
	case g.p.file.Current().Problem != nil:
		return dispatch.NewBlockVerdict(wire.ErrNotReviewed,
			"the file of permissions cannot be read, so no plugin counts as reviewed; `opentabs plugin permission` in a terminal shows the user what is wrong with it",
			"The file of permissions cannot be read, so no plugin counts as reviewed. Run `opentabs plugin permission` to see what is wrong with it.")
	case s.Review != nil:
		reason = fmt.Sprintf("the plugin %s has changed since the user reviewed it%s", name, humanize.FormatDay(s.Review.At))
		userReason = fmt.Sprintf("The plugin %s has changed since you reviewed it%s", name, humanize.FormatDay(s.Review.At))
	}
	return dispatch.NewBlockVerdict(wire.ErrNotReviewed,
		fmt.Sprintf("%s, so none of its tools run; the user enables it with \"Review and enable\" in the side panel (tab Plugins), or with `opentabs plugin enable %s` in a terminal", reason, name),
		fmt.Sprintf("%s, so none of its tools run. Review and enable it in the side panel (tab Plugins), or with `opentabs plugin enable %s`.", userReason, name))
}

// permissionGate suspends calls that need approval, and blocks calls of tools that are
// off.
type permissionGate struct{ p *Policy }

var _ dispatch.DecisionObserver = permissionGate{}

func (permissionGate) Name() string { return "permission" }

// latestState does not check the file again, because the review gate checks the file for each call.
func (g permissionGate) latestState(name string) State {
	loadedPlugin, _ := g.p.currentPlugins().Plugin(name)
	return g.p.opts.stateForRules(g.p.file.Latest().View, name, loadedPlugin)
}

func (g permissionGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	s := g.latestState(callInfo.Tool.Plugin)
	if !s.Reviewed {
		return dispatch.Verdict{}
	}
	permission := s.permissionForTool(callInfo.Tool)
	if permission == wire.PermissionOff {
		return g.newDisabledVerdict(callInfo.Tool, s)
	}
	if _, ok := g.findApproval(callInfo, s); ok {
		return dispatch.Verdict{}
	}
	scopes := []wire.Scope{wire.ScopeOnce, wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways}
	if callInfo.Tool.Prompt {
		scopes = scopes[:3]
	}
	return dispatch.Verdict{Suspend: &dispatch.Ticket{
		Kind: wire.TicketPermission, Title: callInfo.Tool.PluginName, Scopes: scopes, PassesDecision: true,
		Reason: RequesterText(callInfo) + " wants to run " + callInfo.Tool.FullName() + formatCallChain(callInfo),
	}}
}

// RequesterText describes who makes a call, for the approval request: the client, or the
// calling plugin with its tab and site.
func RequesterText(callInfo dispatch.CallInfo) string {
	if caller := callInfo.Caller; caller != nil {
		tabText := fmt.Sprintf("tab %d", caller.TabID)
		if caller.Origin != "" {
			tabText += ", " + caller.Origin
		}
		return fmt.Sprintf("The plugin %s (%s)", caller.Plugin, tabText)
	}
	clientName := callInfo.Client.String()
	if clientName == "" {
		return "An agent"
	}
	if callInfo.Client.Credential != "" { // a verified name starts with a lower-case word, such as "client"
		clientName = strings.ToUpper(clientName[:1]) + clientName[1:]
	}
	return clientName
}

func formatCallChain(callInfo dispatch.CallInfo) string {
	caller := callInfo.Caller
	if caller == nil {
		return ""
	}
	callerText := ", called by its tool " + caller.Tool
	if len(caller.ParentTools) > 0 {
		callerText += " for " + strings.Join(caller.ParentTools, " for ")
	}
	return callerText + " for " + cmp.Or(callInfo.Client.String(), "an agent")
}

func (permissionGate) newDisabledVerdict(t dispatch.Tool, s State) dispatch.Verdict {
	if t.TargetKind != dispatch.TargetDocument && s.Tools[t.Name].Permission == "" {
		if s.EffectivePermission != wire.PermissionOff { // an opt-in tool needs its own permission
			command := "opentabs browser tools on " + t.Name
			return dispatch.NewBlockVerdict(wire.ErrDenied, fmt.Sprintf("%s is off until the user switches it on with `%s` in a terminal", t.Name, command),
				fmt.Sprintf("%s is off. To switch it on, run `%s`.", t.Name, command))
		}
		return dispatch.NewBlockVerdict(wire.ErrDenied, "browser tools are off; the user switches them on with `opentabs browser tools on` in a terminal",
			"Browser tools are off. Switch them on in the side panel (tab Browser), or with `opentabs browser tools on`.")
	}
	name := t.Plugin
	subject, changeOrigin := "the plugin "+name, s.PermissionOrigin
	if toolEntry := s.Tools[t.Name]; !t.Prompt && toolEntry.Permission != "" {
		name = t.FullName()
		subject, changeOrigin = "the tool "+name, toolEntry.ChangeOrigin
	}
	errorSentence, command := fmt.Sprintf("turned %s off%s", subject, humanize.FormatDay(changeOrigin.At)), fmt.Sprintf("opentabs plugin permission %s ask", name)
	return dispatch.NewBlockVerdict(wire.ErrDenied, fmt.Sprintf("the user has %s; the user turns it on with `%s` in a terminal, or in the side panel", errorSentence, command),
		fmt.Sprintf("You have %s. Turn it on in the side panel (tab Plugins), or with `%s`.", errorSentence, command))
}

// ObserveDecision implements [dispatch.DecisionObserver]. If the user allowed the call,
// ObserveDecision stores a grant for the scope that the user chose.
func (g permissionGate) ObserveDecision(callInfo dispatch.CallInfo, _ dispatch.Ticket, r dispatch.Resolution) {
	tool := callInfo.Tool
	policyChange := Change{Kind: "decision", Plugin: tool.Plugin, Tool: tool.Name, CallID: callInfo.CallID, Client: callInfo.Client.String(), Caller: callInfo.Caller, Allow: r.Allow, By: r.Surface}
	if !r.Allow {
		g.p.opts.RecordChange(policyChange)
		return
	}
	storedCaller := grant{
		Approval: Approval{Scope: r.Scope, ChangeOrigin: ChangeOrigin{By: r.Surface, At: r.DecidedAt.UTC()}},
		caller:   callInfo.Caller.PluginName(), client: callInfo.Client.Identity(), session: callInfo.Client.Session, hash: g.contentHash(tool.Plugin),
	}
	switch r.Scope {
	case wire.ScopeSession:
		storedCaller.ExpiresAt = r.DecidedAt.Add(maxSessionGrantTime)
		g.p.grants.add(tool.Plugin, toolKey(tool), storedCaller)
	case wire.ScopeTime:
		policyChange.For = r.Duration
		storedCaller.ExpiresAt = r.DecidedAt.Add(policyChange.For)
		g.p.grants.add(tool.Plugin, toolKey(tool), storedCaller)
	case wire.ScopeAlways:
		g.storeAlwaysGrant(tool, storedCaller)
	default:
		storedCaller.Scope = wire.ScopeOnce
	}
	policyChange.Scope = storedCaller.Scope
	if !r.IsFromRecheck { // after a recheck, only the changed permissions allow the call, as long as they last
		g.p.grants.grantCall(callInfo.CallID, storedCaller.Approval)
	}
	g.p.opts.RecordChange(policyChange)
	if storedCaller.Scope != wire.ScopeOnce { // the new permission may also allow calls that wait for approval
		go g.p.file.NotifyListeners()
	}
}

// If permissions.json cannot be written, the grant lasts until the daemon exits.
func (g permissionGate) storeAlwaysGrant(t dispatch.Tool, newGrant grant) {
	var err error
	if !t.Prompt {
		err = g.p.allowAlways(t.Plugin, t.Name, AlwaysAllowed{Client: newGrant.client, Caller: newGrant.caller, ChangeOrigin: newGrant.ChangeOrigin})
	}
	if t.Prompt || err != nil {
		g.p.opts.Log.Warn().Err(err).Str("tool", t.FullName()).Msg("a permission for always could not be stored, so it lasts until the daemon exits")
		g.p.grants.add(t.Plugin, toolKey(t), newGrant)
	}
}

// The method AfterCall implements [dispatch.AfterHook].
func (g permissionGate) AfterCall(callInfo dispatch.CallInfo, _ dispatch.EndedCall) {
	g.p.grants.endCall(callInfo.CallID)
}

func (g permissionGate) contentHash(name string) string {
	if loadedPlugin, ok := g.p.currentPlugins().Plugin(name); ok {
		return loadedPlugin.ContentHash()
	}
	return ""
}

// Approval returns the permission that allows a call to run; false if the call has no permission. Approval must be
// called before the AfterCall hook of the call, which deletes the approval of a single call.
func (e *Enforcer) Approval(callInfo dispatch.CallInfo) (Approval, bool) {
	g := permissionGate{e.policy}
	return g.findApproval(callInfo, g.latestState(callInfo.Tool.Plugin))
}

// LatestState returns the same as [Policy.State], without checking permissions.json for changes. Use LatestState for a
// call whose gates have run, because they have checked the file.
func (e *Enforcer) LatestState(name string) State { return permissionGate{e.policy}.latestState(name) }

var _ dispatch.ApprovalNamer = permissionGate{}

// ApprovalName implements [dispatch.ApprovalNamer]. For a call that the permission "auto"
// allows, ApprovalName returns an empty string, because no approval allows the call.
func (g permissionGate) ApprovalName(callInfo dispatch.CallInfo) string {
	s := g.latestState(callInfo.Tool.Plugin)
	a, ok := g.findApproval(callInfo, s)
	if !ok || s.permissionForTool(callInfo.Tool) == wire.PermissionAuto {
		return ""
	}
	switch a.Scope {
	case wire.ScopeSession:
		return "the approval for the session from " + a.By
	case wire.ScopeTime:
		return "the approval for " + humanize.Duration(a.ExpiresAt.Sub(a.At)) + " from " + a.By
	}
	return "the permanent approval from " + a.By
}

func (g permissionGate) findApproval(callInfo dispatch.CallInfo, s State) (Approval, bool) {
	hash := ""
	if s.Review != nil {
		hash = s.Review.Hash
	}
	if a, ok := g.p.grants.find(callInfo, hash); ok {
		return a, true
	}
	toolEntry := s.Tools[callInfo.Tool.Name]
	if callInfo.Tool.Prompt {
		toolEntry = ToolEntry{}
	}
	if s.permissionForTool(callInfo.Tool) != wire.PermissionAuto {
		for _, storedCaller := range toolEntry.Allowed {
			if s.Reviewed && storedCaller.Client == callInfo.Client.Identity() && storedCaller.Caller == callInfo.Caller.PluginName() {
				return Approval{Scope: wire.ScopeAlways, ChangeOrigin: storedCaller.ChangeOrigin}, true
			}
		}
		return Approval{}, false
	}
	changeOrigin := s.PermissionOrigin
	if toolEntry.Permission != "" {
		changeOrigin = toolEntry.ChangeOrigin
	}
	return Approval{Scope: wire.ScopeAlways, ChangeOrigin: changeOrigin}, true
}

// limitGate enforces the limits of tools. As a gate, limitGate blocks calls before the
// user has to approve them. As a hook, limitGate counts the calls that actually run.
type limitGate struct {
	p            *Policy
	callCounters *callCounters
}

func (limitGate) Name() string { return "limit" }

func (g limitGate) Decide(callInfo dispatch.CallInfo) dispatch.Verdict {
	return dispatch.Verdict{BlockError: g.check(callInfo, false)}
}

// The method BeforeCall implements [dispatch.BeforeHook].
func (g limitGate) BeforeCall(callInfo dispatch.CallInfo) *wire.CallError {
	return g.check(callInfo, true)
}

func (g limitGate) check(callInfo dispatch.CallInfo, countsRun bool) *wire.CallError {
	limit := g.p.file.Latest().View.plugins[callInfo.Tool.Plugin].Tools[callInfo.Tool.Name].Limit
	if callInfo.Tool.Prompt || limit == (Limit{}) {
		return nil
	}
	waitTime := g.callCounters.timeUntilAllowed(callInfo.Tool.FullName(), callInfo.CallID, limit, countsRun)
	if waitTime <= 0 {
		return nil
	}
	name, waitText := callInfo.Tool.FullName(), humanize.ShortDuration((waitTime + time.Second - 1).Truncate(time.Second))
	errorSentence := fmt.Sprintf("%s run %d times in %s, and that is used up", name, limit.Calls, humanize.ShortDuration(limit.Per))
	return dispatch.NewBlockVerdict(wire.ErrRateLimited, fmt.Sprintf("the user lets %s; the next call may run in %s", errorSentence, waitText),
		fmt.Sprintf("You let %s. Retry in %s, or change the limit with `opentabs plugin limit %s`.", errorSentence, waitText, name)).BlockError
}
