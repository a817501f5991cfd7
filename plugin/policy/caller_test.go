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

func latePackage(name string) plugintest.Package {
	return twoToolPackage(name, "class A { onActivate() { } }")
}

func callerFrom(caller string) *dispatch.Caller {
	return &dispatch.Caller{Plugin: caller, Tool: caller + "__read", Browser: "b1", TabID: 7, Origin: "https://site.test"}
}

func (g *gatedCalls) runNested(caller string, decision *dispatch.Resolution) (ticket dispatch.WaitingTicket, err error) {
	g.t.Helper()
	_, err = g.calls.Call(context.Background(), dispatch.Call{
		Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Session: "s1", Name: "Agent"}, Caller: callerFrom(caller),
		OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
			if ticket = w; decision == nil {
				g.t.Errorf("the call waited for approval: %q", w.Reason)
				decision = &dispatch.Resolution{}
			}
			if _, err := g.calls.Decide(w.CallID, w.TicketID, *decision); err != nil {
				g.t.Error(err)
			}
		},
	})
	if decision != nil && ticket.CallID == "" {
		g.t.Error("the call did not wait for approval")
	}
	return ticket, err
}

func checkDenied(t *testing.T, err error, code wire.ErrorCode, forAgent, forUser string) {
	t.Helper()
	var e *dispatch.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	if !strings.Contains(e.Message, forAgent) {
		t.Errorf("the agent reads\n%s\nwant\n%s", e.Message, forAgent)
	}
	if e.UserText != forUser {
		t.Errorf("the user reads\n%s\nwant\n%s", e.UserText, forUser)
	}
}

func TestCallsToAnotherPlugin(t *testing.T) {
	g := newGatedCalls(t, permissionAuto)
	changed := make(chan struct{}, 1)
	g.policy.OnChange(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	_, err := g.runNested("b", nil)
	checkDenied(t, err, wire.ErrDenied,
		"a__send failed: The plugin b may not call tools of the plugin a. The user can allow it with `opentabs plugin permission b --allow-calls-to a` in a terminal, "+
			"or in the opentabs side panel. Do not retry it before; ask the user (denied).",
		"The plugin b may not call tools of the plugin a. To allow it, run `opentabs plugin permission b --allow-calls-to a`, or use the side panel.")
	if views := g.calls.Calls(); views[0].Error != "The plugin b may not call tools of the plugin a. To allow it, run `opentabs plugin permission b --allow-calls-to a`, or use the side panel." {
		t.Errorf("lists show %q; want %q", views[0].Error, "The plugin b may not call tools of the plugin a. To allow it, run `opentabs plugin permission b --allow-calls-to a`, or use the side panel.")
	}
	<-changed
	if got := g.policy.Refused("b"); len(got) != 1 || got[0] != "a" {
		t.Errorf("refused %v", got)
	}
	g.failOnError(g.policy.SetCalls("a", "b", true, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("b may call a because a may call b")
	}
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	_, err = g.runNested("b", nil)
	g.failOnError(err)
	if got := g.policy.Refused("b"); len(got) != 0 {
		t.Errorf("refused %v; want length 0", got)
	}
	reopenedPolicy := policy.New(g.dir, g.Set, policy.Options{}) // a new policy reads permissions.json, as after a restart
	if !policy.MayCall(reopenedPolicy.State("b"), "a") {
		t.Error("the permission for calls is not in the file")
	}
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("the nested call ran although the tool is off")
	}
	g.failOnError(g.policy.SetPermission("a", "send", permissionAuto, "x"))
	g.failOnError(g.policy.SetCalls("b", "a", false, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("the nested call ran after the user had forbidden it again")
	}
	_, err = g.runNested("a", nil)
	g.failOnError(err)
}

func TestApprovalNamesTheCaller(t *testing.T) {
	g := newGatedCalls(t, permissionAsk)
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	ticket, err := g.runNested("b", newAllowDecision(wire.ScopeOnce, 0))
	g.failOnError(err)
	if want := "The plugin b (tab 7, https://site.test) wants to run a__send, called by its tool b__read for Agent"; ticket.Reason != want {
		t.Errorf("asked %q, want %q", ticket.Reason, want)
	}
	if caller := ticket.Caller; caller == nil || caller.Plugin != "b" || caller.TabID != 7 || caller.Origin != "https://site.test" {
		t.Errorf("caller %+v", caller)
	}
	if c := g.changes[len(g.changes)-1]; c.Kind != "decision" || c.Client != "Agent" || c.Caller.PluginName() != "b" {
		t.Errorf("recorded %+v", c)
	}
}

func TestGrantsAreForOneCaller(t *testing.T) {
	for _, scope := range []wire.Scope{wire.ScopeSession, wire.ScopeTime, wire.ScopeAlways} {
		synctest.Test(t, func(t *testing.T) {
			g := newGatedCallsOf(t, permissionAsk, twoToolPackage("a", "1;"), twoToolPackage("b", ""), twoToolPackage("c", ""))
			g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
			g.failOnError(g.policy.SetCalls("c", "a", true, "x"))
			allowAnswer := newAllowDecision(scope, 0)
			if scope == wire.ScopeTime {
				allowAnswer.Duration = time.Hour
			}
			g.checkRuns("s1", "send", allowAnswer)
			g.checkRuns("s1", "send", nil)
			for _, caller := range []string{"a", "b"} {
				if _, err := g.runNested(caller, denyDecision); err == nil {
					t.Errorf("%s: what the agent may do, %s may do too", scope, caller)
				}
			}
			g.failOnError(g.policy.SetPermission("a", "", permissionAsk, "x"))
			_, err := g.runNested("b", allowAnswer)
			g.failOnError(err)
			_, err = g.runNested("b", nil)
			g.failOnError(err)
			g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
			if _, err := g.runNested("c", denyDecision); err == nil {
				t.Errorf("%s: what b may do, c may do too", scope)
			}
			if grants := g.policy.Grants("a")["send"]; len(grants) != 1 || grants[0].Caller != "b" || grants[0].Client != "Agent" || grants[0].Scope != scope {
				t.Errorf("%s: grants %+v", scope, grants)
			}
		})
	}
}

func TestLatePluginCalls(t *testing.T) {
	g := newGatedCallsOf(t, permissionAuto, twoToolPackage("a", "1;"), latePackage("b"))
	_, err := g.runNested("b", nil)
	checkDenied(t, err, wire.ErrDenied, "ask the user", "The plugin b may not call tools of the plugin a, and it starts after the page's scripts. To allow it, run "+
		"`opentabs plugin permission b --allow-calls-to a` and `opentabs plugin permission b --late-access on`, or use the side panel.")
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	_, err = g.runNested("b", nil)
	checkDenied(t, err, wire.ErrDenied, "`opentabs plugin permission b --late-access on`",
		"The plugin b starts after the page's scripts, so it may not call other plugins. To allow it, run `opentabs plugin permission b --late-access on`, or use the side panel.")
	calledFromOwnTab := func(tab int, browser string) dispatch.Verdict {
		return g.enforcer.CurrentVerdict(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "b", Name: "send"}, Caller: callerFrom("b"), TabID: tab, Browser: browser})
	}
	if v := calledFromOwnTab(7, "b1"); v.Block != nil {
		t.Errorf("the call in the adapter's own tab failed: %v", v.Block)
	}
	if calledFromOwnTab(8, "b1").Block == nil || calledFromOwnTab(7, "b2").Block == nil {
		t.Error("the restricted adapter reaches another tab")
	}
	g.failOnError(g.policy.SetLateAccess("b", true, "x"))
	_, err = g.runNested("b", nil)
	g.failOnError(err)
	if v := calledFromOwnTab(8, "b1"); v.Block != nil {
		t.Errorf("the call in another tab failed: %v", v.Block)
	}
	g.failOnError(g.policy.SetLateAccess("b", false, "x"))
	if _, err := g.runNested("b", nil); err == nil {
		t.Error("the adapter calls another plugin without late access")
	}
	if err := g.policy.SetLateAccess("a", true, "x"); err == nil || !strings.Contains(err.Error(), "needs no late access") {
		t.Errorf("late access of a plugin that is not late: %v", err)
	}
}

func TestCallsEndWithTheContent(t *testing.T) {
	g := newGatedCallsOf(t, permissionAuto, twoToolPackage("a", "1;"), latePackage("b"))
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	g.failOnError(g.policy.SetLateAccess("b", true, "x"))
	g.load(twoToolPackage("a", "1;"), twoToolPackage("b", "class A { onActivate() { 1; } }"))
	if s := g.policy.State("b"); policy.MayCall(s, "a") || s.HasLateAccess() {
		t.Error("the permission applies to content that was not reviewed")
	}
	g.review("b", permissionAuto)
	if s := g.policy.State("b"); policy.MayCall(s, "a") || s.HasLateAccess() {
		t.Error("the permission applies to changed content")
	}
	g.failOnError(g.policy.SetCalls("b", "a", true, "x"))
	g.review("b", permissionAuto)
	if !policy.MayCall(g.policy.State("b"), "a") {
		t.Error("a second review of the same content removed the permission")
	}
	g.failOnError(g.policy.Forget("a", "x"))
	g.review("a", permissionAuto)
	if policy.MayCall(g.policy.State("b"), "a") {
		t.Error("the permission applies to a later plugin of the same name")
	}
}

func TestSetCallsErrors(t *testing.T) {
	g := newGatedCalls(t, permissionAuto)
	for _, testCase := range []struct{ name, otherName, want string }{
		{"a", "a", "may always call each other"},
		{"a", "messages", `"messages"`},
		{"missing", "a", `"missing"`},
	} {
		if err := g.policy.SetCalls(testCase.name, testCase.otherName, true, "x"); err == nil || !strings.Contains(err.Error(), testCase.want) {
			t.Errorf("%s to %s: %v; want an error that contains %q", testCase.name, testCase.otherName, err, testCase.want)
		}
	}
	g.failOnError(g.policy.SetCalls("a", "gone", false, "x"))
	w := newPolicyFixture(t, twoToolPackage("a", "1;"), twoToolPackage("b", ""))
	if err := w.policy.SetCalls("a", "b", true, "x"); err == nil || !strings.Contains(err.Error(), "opentabs plugin review a") {
		t.Errorf("setting calls of an unreviewed plugin: %v; want an error that contains %q", err, "opentabs plugin review a")
	}
}

func TestPermissionsFileOfOlderVersion(t *testing.T) {
	w := newPolicyFixture(t, twoToolPackage("a", "1;"), twoToolPackage("b", ""))
	w.write(`{"version":1,"plugins":{"a":{"reviewed":{"hash":"` + w.hash("a") + `"},"permission":"auto","tools":{"send":{"permission":"ask"}}}}}`)
	w.checkEffective("a", permissionAuto, permissionAuto, permissionAsk)
	if s := w.policy.State("a"); policy.MayCall(s, "b") || s.HasLateAccess() || len(w.policy.Problems()) > 0 {
		t.Errorf("state %+v, problems %v", s, w.policy.Problems())
	}
	w.write(`{"version":1,"plugins":{"a":{"reviewed":{"hash":"` + w.hash("a") + `"},"permission":"ask",
		"calls":{"b":true},"lateAccess":1,"tools":{"send":{"allowed":[{"client":7},{"client":"\u202eagent"},5]}}}}}`)
	w.checkEffective("a", permissionAsk, permissionAsk, permissionAsk)
	if s := w.policy.State("a"); policy.MayCall(s, "b") || s.HasLateAccess() || len(s.Tools["send"].Allowed) > 0 || len(w.policy.Problems()) != 5 {
		t.Errorf("state %+v, problems %v", s, w.policy.Problems())
	}
}

// If the calling plugin is a late plugin, errors do not even reveal whether the called plugin exists.
func TestResolveRevealsNothing(t *testing.T) {
	w := newPolicyFixture(t)
	registry, _ := plugintest.Registry(t, twoToolPackage("a", "1;"), twoToolPackage("b", ""), latePackage("c"))
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
			t.Errorf("%s calls %s(%s): %q, want %q", testCase.caller, testCase.name, testCase.args, got, testCase.want)
		}
	}
	w.failOnError(w.policy.SetCalls("b", "a", true, "x"))
	if got := code("b", "a__none", `{}`); got != wire.ErrUnknownTool {
		t.Errorf("calling a missing tool of an allowed plugin: %q", got)
	}
}

func TestResolveBrowserTools(t *testing.T) {
	w := newPolicyFixture(t)
	registry, _ := plugintest.Registry(t, twoToolPackage("b", "1;"))
	registry.UseBuiltins(plugin.NewBuiltin(&plugin.Plugin{Name: "browser", Tools: []*plugin.Tool{{
		Name: "browser_click", TargetKind: dispatch.TargetPage, InputSchema: json.RawMessage(`{"type":"object","required":["target"]}`),
	}}}))
	w.failOnError(registry.Reload())
	w.pluginSet = registry.Set()
	w.review("b", permissionAuto)
	resolve := w.enforcer.Resolve(registry)
	for name, want := range map[string]wire.ErrorCode{"browser_click": wire.ErrDenied, "browser_clack": wire.ErrUnknownTool} {
		_, _, err := resolve(dispatch.Tool{Plugin: "b", Name: "read"}, name, json.RawMessage(`{}`))
		if err == nil || err.Code != want {
			t.Errorf("calling %s with wrong arguments: %v, want %s", name, err, want)
		}
	}
}
