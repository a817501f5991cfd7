package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func newLateStartPackage(name string) plugintest.Package {
	return newTwoToolPackage(name, "class A { onActivate() { } }")
}

func newCaller(caller string) *dispatch.Caller {
	return &dispatch.Caller{Plugin: caller, Tool: caller + "__read", Browser: "b1", TabID: 7, Origin: "https://site.test"}
}

func (g *gateFixture) runNested(caller string, decision *dispatch.Resolution) (ticket dispatch.WaitingTicket, err error) {
	g.t.Helper()
	_, err = g.calls.Call(context.Background(), dispatch.Call{
		Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Session: "s1", Name: "Agent"}, Caller: newCaller(caller),
		OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
			if ticket = w; decision == nil {
				g.t.Errorf("the call waited for approval: %q; want no approval request", w.Reason)
				decision = &dispatch.Resolution{}
			}
			if _, err := g.calls.Decide(w.CallID, w.TicketID, *decision); err != nil {
				g.t.Error(err)
			}
		},
	})
	if decision != nil && ticket.CallID == "" {
		g.t.Error("the call did not wait for approval; want an approval request")
	}
	return ticket, err
}

func checkDenied(t *testing.T, err error, code wire.ErrorCode, forAgent, forUser string) {
	t.Helper()
	var e *dispatch.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error of the nested call = %v, want %s", err, code)
	}
	if !strings.Contains(e.Message, forAgent) {
		t.Errorf("error text for the agent =\n%s\nwant\n%s", e.Message, forAgent)
	}
	if e.UserText != forUser {
		t.Errorf("error text for the user =\n%s\nwant\n%s", e.UserText, forUser)
	}
}

func TestCallsToAnotherPlugin(t *testing.T) {
	g := newGateFixture(t, permissionAuto)
	changeSignals := make(chan struct{}, 1)
	g.policy.OnChange(func() {
		select {
		case changeSignals <- struct{}{}:
		default:
		}
	})
	_, err := g.runNested("b", nil)
	checkDenied(t, err, wire.ErrDenied,
		"a__send failed: The plugin b may not call tools of the plugin a. The user can allow it with `opentabs plugin permission b --allow-calls-to a` in a terminal, "+
			"or in the opentabs side panel. Do not retry it before; ask the user (denied).",
		"The plugin b may not call tools of the plugin a. To allow it, run `opentabs plugin permission b --allow-calls-to a`, or use the side panel.")
	if views := g.calls.Calls(); views[0].Error != "The plugin b may not call tools of the plugin a. To allow it, run `opentabs plugin permission b --allow-calls-to a`, or use the side panel." {
		t.Errorf("error text in the list of calls = %q; want %q", views[0].Error, "The plugin b may not call tools of the plugin a. To allow it, run `opentabs plugin permission b --allow-calls-to a`, or use the side panel.")
	}
	<-changeSignals
	if got := g.policy.RefusedPlugins("b"); len(got) != 1 || got[0] != "a" {
		t.Errorf("plugins that b tried to call = %v; want only a", got)
	}
	g.failOnError(g.policy.SetCalls("a", "b", true, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("a call from b to a ran because a may call b; want an error")
	}
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	_, err = g.runNested("b", nil)
	g.failOnError(err)
	if got := g.policy.RefusedPlugins("b"); len(got) != 0 {
		t.Errorf("recorded refusals of b = %v; want none", got)
	}
	reopenedPolicy := policy.New(g.dir, g.Set, policy.Options{}) // a new policy reads permissions.json, as after a restart
	if !policy.MayCall(reopenedPolicy.State("b"), "a") {
		t.Error("permissions.json lacks the permission for calls from b to a; want it stored")
	}
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("the nested call ran although the tool is off; want an error")
	}
	g.failOnError(g.policy.SetPermission("a", "send", permissionAuto, "x"))
	g.failOnError(g.policy.SetCalls("b", "a", false, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("the nested call ran after the user had forbidden it again; want an error")
	}
	_, err = g.runNested("a", nil)
	g.failOnError(err)
}

func TestApprovalNamesTheCaller(t *testing.T) {
	g := newGateFixture(t, permissionAsk)
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	ticket, err := g.runNested("b", newAllowDecision(wire.ScopeOnce, 0))
	g.failOnError(err)
	if want := "The plugin b (tab 7, https://site.test) wants to run a__send, called by its tool b__read for Agent"; ticket.Reason != want {
		t.Errorf("reason in the approval request = %q, want %q", ticket.Reason, want)
	}
	if caller := ticket.Caller; caller == nil || caller.Plugin != "b" || caller.TabID != 7 || caller.Origin != "https://site.test" {
		t.Errorf("caller = %+v; want the plugin b in tab 7 on https://site.test", caller)
	}
	if c := g.changes[len(g.changes)-1]; c.Kind != "decision" || c.Client != "Agent" || c.Caller.PluginName() != "b" {
		t.Errorf("recorded change = %+v; want the decision about a call by b for Agent", c)
	}
}

func TestGrantsAreForOneCaller(t *testing.T) {
	for _, scope := range []wire.Scope{wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateFixtureWith(t, permissionAsk, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", ""), newTwoToolPackage("c", ""))
			g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
			g.failOnError(g.policy.SetCalls("c", "a", true, "x"))
			allowDecision := newAllowDecision(scope, 0)
			if scope == wire.ScopeTime {
				allowDecision.Duration = time.Hour
			}
			g.checkCallSucceeds("s1", "send", allowDecision)
			g.checkCallSucceeds("s1", "send", nil)
			for _, caller := range []string{"a", "b"} {
				if _, err := g.runNested(caller, denyDecision); err == nil {
					t.Errorf("%s: a permission for the agent allowed a call by %s; want an error", scope, caller)
				}
			}
			g.failOnError(g.policy.SetPermission("a", "", permissionAsk, "x"))
			_, err := g.runNested("b", allowDecision)
			g.failOnError(err)
			_, err = g.runNested("b", nil)
			g.failOnError(err)
			g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
			if _, err := g.runNested("c", denyDecision); err == nil {
				t.Errorf("%s: a permission for b allowed a call by c; want an error", scope)
			}
			if grants := g.policy.Grants("a")["send"]; len(grants) != 1 || grants[0].Caller != "b" || grants[0].Client != "Agent" || grants[0].Scope != scope {
				t.Errorf("%s: grants %+v; want 1 for b and Agent with this scope", scope, grants)
			}
		})
	}
}

func TestLateStartPluginCannotCallOthers(t *testing.T) {
	g := newGateFixtureWith(t, permissionAuto, newTwoToolPackage("a", "1;"), newLateStartPackage("b"))
	_, err := g.runNested("b", nil)
	checkDenied(t, err, wire.ErrDenied, "ask the user", "The plugin b may not call tools of the plugin a, and it starts after the page's scripts. To allow it, run "+
		"`opentabs plugin permission b --allow-calls-to a` and `opentabs plugin permission b --late-access on`, or use the side panel.")
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	_, err = g.runNested("b", nil)
	checkDenied(t, err, wire.ErrDenied, "`opentabs plugin permission b --late-access on`",
		"The plugin b starts after the page's scripts, so it may not call other plugins. To allow it, run `opentabs plugin permission b --late-access on`, or use the side panel.")
	decideCallToTab := func(tab int, browser string) dispatch.Verdict {
		return g.enforcer.CurrentVerdict(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "b", Name: "send"}, Caller: newCaller("b"), TabID: tab, Browser: browser})
	}
	if v := decideCallToTab(7, "b1"); v.BlockError != nil {
		t.Errorf("call in the adapter's own tab: block %v; want none", v.BlockError)
	}
	if decideCallToTab(8, "b1").BlockError == nil || decideCallToTab(7, "b2").BlockError == nil {
		t.Error("the restricted adapter reached another tab or browser; want a block")
	}
	g.failOnError(g.policy.SetLateStartAccess("b", true, "x"))
	_, err = g.runNested("b", nil)
	g.failOnError(err)
	if v := decideCallToTab(8, "b1"); v.BlockError != nil {
		t.Errorf("call in another tab with late access: block %v; want none", v.BlockError)
	}
	g.failOnError(g.policy.SetLateStartAccess("b", false, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("the adapter called another plugin without late access; want an error")
	}
	if err := g.policy.SetLateStartAccess("a", true, "x"); err == nil || !strings.Contains(err.Error(), "needs no late access") {
		t.Errorf("late access for a plugin that does not start late: error %v; want \"needs no late access\"", err)
	}
}

func TestNewContentRevokesPluginCalls(t *testing.T) {
	g := newGateFixtureWith(t, permissionAuto, newTwoToolPackage("a", "1;"), newLateStartPackage("b"))
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	g.failOnError(g.policy.SetLateStartAccess("b", true, "x"))
	g.load(newTwoToolPackage("a", "1;"), newTwoToolPackage("b", "class A { onActivate() { 1; } }"))
	if s := g.policy.State("b"); policy.MayCall(s, "a") || s.HasLateStartAccess() {
		t.Error("the permission applies to content that was not reviewed; want no permission")
	}
	g.review("b", permissionAuto)
	if s := g.policy.State("b"); policy.MayCall(s, "a") || s.HasLateStartAccess() {
		t.Error("the permission applies to changed content; want no permission")
	}
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	g.review("b", permissionAuto)
	if !policy.MayCall(g.policy.State("b"), "a") {
		t.Error("a second review of the same content removed the permission; want it kept")
	}
	g.failOnError(g.policy.Forget("a", "x"))
	g.review("a", permissionAuto)
	if policy.MayCall(g.policy.State("b"), "a") {
		t.Error("the permission applies to a later plugin with the same name; want no permission")
	}
}

func TestSetCallsErrors(t *testing.T) {
	g := newGateFixture(t, permissionAuto)
	for _, testCase := range []struct{ name, otherName, want string }{
		{"a", "a", "may always call each other"},
		{"a", "messages", `"messages"`},
		{"missing", "a", `"missing"`},
	} {
		if err := g.policy.SetCalls(testCase.name, testCase.otherName, true, "x"); err == nil || !strings.Contains(err.Error(), testCase.want) {
			t.Errorf("SetCalls from %s to %s: error %v; want an error that contains %q", testCase.name, testCase.otherName, err, testCase.want)
		}
	}
	g.failOnError(g.policy.SetCalls("a", "gone", false, "x"))
	w := newPolicyFixture(t, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", ""))
	if err := w.policy.SetCalls("a", "b", true, "x"); err == nil || !strings.Contains(err.Error(), "opentabs plugin review a") {
		t.Errorf("SetCalls of a plugin that is not reviewed: error %v; want an error that contains %q", err, "opentabs plugin review a")
	}
}

func TestPermissionsFileOfOlderVersion(t *testing.T) {
	w := newPolicyFixture(t, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", ""))
	w.write(`{"version":1,"plugins":{"a":{"reviewed":{"hash":"` + w.hash("a") + `"},"permission":"auto","tools":{"send":{"permission":"ask"}}}}}`)
	w.checkEffectivePermissions("a", permissionAuto, permissionAuto, permissionAsk)
	if s := w.policy.State("a"); policy.MayCall(s, "b") || s.HasLateStartAccess() || len(w.policy.Problems()) > 0 {
		t.Errorf("permissions of the plugins = %+v, problems %v; want that no plugin may call b or start after the page, and no problem", s, w.policy.Problems())
	}
	w.write(`{"version":1,"plugins":{"a":{"reviewed":{"hash":"` + w.hash("a") + `"},"permission":"ask",
		"calls":{"b":true},"lateAccess":1,"tools":{"send":{"allowed":[{"client":7},{"client":"\u202eagent"},5]}}}}}`)
	w.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionAsk)
	if s := w.policy.State("a"); policy.MayCall(s, "b") || s.HasLateStartAccess() || len(s.Tools["send"].Allowed) > 0 || len(w.policy.Problems()) != 5 {
		t.Errorf("state = %+v, problems %v; want no permission and 5 problems", s, w.policy.Problems())
	}
}

// If the calling plugin is a late plugin, errors do not even reveal whether the called plugin exists.
func TestResolveHidesPluginsFromRestrictedCaller(t *testing.T) {
	w := newPolicyFixture(t)
	registry, _ := plugintest.Registry(t, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", ""), newLateStartPackage("c"))
	w.failOnError(registry.Reload())
	w.pluginSet = registry.Set()
	for _, name := range []string{"a", "b", "c"} {
		w.review(name, permissionAuto)
	}
	resolve := w.enforcer.Resolve(registry)
	code := func(caller, name, args string) wire.ErrorCode {
		_, _, err := resolve(dispatch.Tool{Plugin: caller, Name: "read"}, name, json.RawMessage(args))
		if err == nil {
			return ""
		}
		return err.Code
	}
	for _, testCase := range []struct {
		caller, name, args string
		want               wire.ErrorCode
	}{
		{"b", "a__send", `{}`, ""}, // callerGate rejects this call, so that the refusal is recorded
		{"b", "a__send", `7`, wire.ErrDenied},
		{"b", "a__none", `{}`, wire.ErrDenied},
		{"b", "missing__send", `{}`, wire.ErrUnknownTool},
		{"b", "none", `{}`, wire.ErrUnknownTool},
		{"c", "missing__send", `{}`, wire.ErrDenied},
		{"c", "none", `{}`, wire.ErrUnknownTool},
	} {
		if got := code(testCase.caller, testCase.name, testCase.args); got != testCase.want {
			t.Errorf("error code of a call by %s of %s(%s) = %q, want %q", testCase.caller, testCase.name, testCase.args, got, testCase.want)
		}
	}
	w.failOnError(w.policy.SetCalls("b", "a", true, "x"))
	if got := code("b", "a__none", `{}`); got != wire.ErrUnknownTool {
		t.Errorf("error code for a missing tool of a callable plugin = %q; want unknown_tool", got)
	}
}

func TestResolveBrowserTools(t *testing.T) {
	w := newPolicyFixture(t)
	registry, _ := plugintest.Registry(t, newTwoToolPackage("b", "1;"))
	registry.SetBuiltinPlugins(plugin.NewBuiltin(&plugin.Plugin{Name: "browser", Tools: []*plugin.Tool{{
		Name: "browser_click", TargetKind: dispatch.TargetPage, InputSchema: json.RawMessage(`{"type":"object","required":["target"]}`),
	}}}))
	w.failOnError(registry.Reload())
	w.pluginSet = registry.Set()
	w.review("b", permissionAuto)
	resolve := w.enforcer.Resolve(registry)
	for name, want := range map[string]wire.ErrorCode{"browser_click": wire.ErrDenied, "browser_clack": wire.ErrUnknownTool} {
		_, _, err := resolve(dispatch.Tool{Plugin: "b", Name: "read"}, name, json.RawMessage(`{}`))
		if err == nil || err.Code != want {
			t.Errorf("error of a call of %s with wrong arguments = %v, want %s", name, err, want)
		}
	}
}
