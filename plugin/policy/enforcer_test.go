package policy_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type gateFixture struct {
	*policyFixture
	calls    *dispatch.Dispatcher
	runCount atomic.Int32
}

func newGateFixture(t *testing.T, permission wire.Permission) *gateFixture {
	t.Helper()
	return newGateFixtureWith(t, permission, newTwoToolPackage("a", "1;"), newTwoToolPackage("b", ""))
}

func newGateFixtureWith(t *testing.T, permission wire.Permission, packages ...plugintest.Package) *gateFixture {
	t.Helper()
	g := &gateFixture{policyFixture: newPolicyFixture(t, packages...)}
	for _, testPackage := range packages {
		g.review(testPackage.Name, permissionAuto)
	}
	g.review("a", permission)
	bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
		g.runCount.Add(1)
		sink.Finish(nil, nil)
		return nil
	}}
	g.calls = dispatch.New(bridge, dispatch.Options{Gates: g.enforcer.Gates(), BeforeHooks: g.enforcer.BeforeHooks(), AfterHooks: g.enforcer.AfterHooks()})
	t.Cleanup(g.calls.Shutdown)
	return g
}

func (g *gateFixture) call(session, tool string, decision *dispatch.Resolution) error {
	g.t.Helper()
	wasSuspended := false
	_, err := g.calls.Call(context.Background(), dispatch.Call{
		Tool:   dispatch.Tool{Plugin: "a", Name: tool, PluginName: "The a"},
		Client: dispatch.Client{Session: session, Name: "Agent"},
		OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
			wasSuspended = true
			if decision == nil {
				g.t.Errorf("session %s, tool %s: the call waited for approval: %q; want no approval request", session, tool, w.Reason)
				decision = &dispatch.Resolution{}
			}
			if _, err := g.calls.Decide(w.CallID, w.TicketID, *decision); err != nil {
				g.t.Error(err)
			}
		},
	})
	if decision != nil && !wasSuspended {
		g.t.Errorf("session %s, tool %s: the call did not wait for approval; want an approval request", session, tool)
	}
	return err
}

func (g *gateFixture) checkCallSucceeds(session, tool string, decision *dispatch.Resolution) {
	g.t.Helper()
	if err := g.call(session, tool, decision); err != nil {
		g.t.Errorf("session %s, tool %s: error %v; want none", session, tool, err)
	}
}

func (g *gateFixture) checkCallFails(code wire.ErrorCode, session, tool string, decision *dispatch.Resolution) string {
	g.t.Helper()
	runCountBefore := g.runCount.Load()
	err := g.call(session, tool, decision)
	var e *dispatch.Error
	if !errors.As(err, &e) || e.Code != code {
		g.t.Errorf("session %s, tool %s: error %v, want %s", session, tool, err, code)
		return ""
	}
	if g.runCount.Load() != runCountBefore {
		g.t.Errorf("session %s, tool %s: the rejected call ran; want no run", session, tool)
	}
	return e.Message
}

func newAllowDecision(scope wire.Scope, d time.Duration) *dispatch.Resolution {
	return &dispatch.Resolution{Allow: true, Scope: scope, Duration: d, Surface: "the side panel"}
}

func advanceTime(d time.Duration) { <-time.After(d) }

var denyDecision = &dispatch.Resolution{Surface: "the side panel"}

func TestGrantsApplyInTheirScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateFixture(t, permissionAsk)
		g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeOnce, 0))
		g.checkCallSucceeds("s1", "send", newAllowDecision("", 0))
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeSession, 0))
		g.checkCallSucceeds("s1", "send", nil)
		g.checkCallFails(wire.ErrDenied, "s2", "send", denyDecision)
		g.checkCallFails(wire.ErrDenied, "s1", "read", denyDecision)

		g.checkCallSucceeds("s2", "read", newAllowDecision(wire.ScopeTime, time.Minute))
		advanceTime(time.Minute - 1)
		g.checkCallSucceeds("s3", "read", nil)
		advanceTime(1)
		g.checkCallFails(wire.ErrDenied, "s2", "read", denyDecision)
		if grants := g.policy.Grants("a"); len(grants["read"]) != 0 || len(grants["send"]) != 1 {
			t.Errorf("grants = %v; want none for read and 1 for send", grants)
		}

		failOnError := g.failOnError
		failOnError(g.policy.SetPermission("a", "send", permissionAsk, "x"))
		g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeSession, 0))
		failOnError(g.policy.SetPermission("a", "", permissionAsk, "x"))
		g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeSession, 0))
		advanceTime(24 * time.Hour)
		g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)

		g.checkCallSucceeds("", "read", newAllowDecision(wire.ScopeSession, 0))
		g.checkCallFails(wire.ErrDenied, "s1", "read", denyDecision)
	})
}

func TestGrantAlways(t *testing.T) {
	g := newGateFixture(t, permissionAsk)
	g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeAlways, 0))
	g.checkCallSucceeds("s2", "send", nil)
	g.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionAsk)
	verdict := g.enforcer.CurrentVerdict(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Name: "Other"}})
	if verdict.Suspend == nil {
		t.Error("the grant applies to another client; want an approval request")
	}
	reopenedPolicy := policy.New(g.dir, g.Set, policy.Options{}) // a new policy reads permissions.json, as after a restart
	if grants := reopenedPolicy.Grants("a")["send"]; len(grants) != 1 || grants[0].Client != "Agent" || grants[0].Caller != "" || grants[0].By != "the side panel" || time.Since(grants[0].At) > time.Minute {
		t.Errorf("grants in permissions.json = %+v; want 1 for Agent, given in the side panel", grants)
	}
	for _, tool := range []string{"send", ""} {
		g.failOnError(g.policy.SetPermission("a", tool, permissionAsk, "x"))
		g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeAlways, 0))
	}
	g.load(newTwoToolPackage("a", "2;"), newTwoToolPackage("b", ""))
	g.checkCallFails(wire.ErrNotReviewed, "s1", "send", nil)
	g.review("a", permissionAsk)
	g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
}

func TestGrantAlwaysWithUnwritableFile(t *testing.T) {
	g := newGateFixture(t, permissionAsk)
	lock := g.policy.Path() + ".lock"
	g.failOnError(errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)))
	g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeAlways, 0))
	g.checkCallSucceeds("s2", "send", nil)
	g.checkEffectivePermissions("a", permissionAsk, permissionAsk, permissionAsk)
}

func TestNewContentRevokesGrants(t *testing.T) {
	g := newGateFixture(t, permissionAsk)
	g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeTime, time.Hour))
	firstHash := g.hash("a")
	g.load(newTwoToolPackage("a", "2;"), newTwoToolPackage("b", ""))
	g.checkCallFails(wire.ErrNotReviewed, "s1", "send", nil)
	otherPolicy := policy.New(g.dir, g.Set, policy.Options{})
	g.failOnError(otherPolicy.Review("a", g.hash("a"), permissionAsk, "x"))
	g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
	if g.hash("a") == firstHash {
		t.Error("the content hash of the changed plugin is the same; want another hash")
	}
}

func TestRefusalMessages(t *testing.T) {
	g := newGateFixture(t, permissionAuto)
	g.checkCallSucceeds("s", "send", nil)
	const datePattern = ` \(on [-0-9]+\)`
	checkRefusalText := func(got, want string) {
		t.Helper()
		if !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("reason why the call is refused =\n%s\nwant\n%s", got, want)
		}
	}
	const reviewHintPattern = ` Only the \w+ can review the plugin, .+\.`
	const allowHintPattern = ` Only the \w+ can allow the call, .+\.`
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	checkRefusalText(g.checkCallFails(wire.ErrDenied, "s", "send", nil), "a__send failed: the user has turned the tool a__send off"+datePattern+
		"; the user turns it on with `opentabs plugin permission a__send ask` in a terminal, or in the side panel "+`\(denied\)\.`+allowHintPattern)
	g.failOnError(g.policy.SetPermission("a", "", permissionOff, "x"))
	checkRefusalText(g.checkCallFails(wire.ErrDenied, "s", "read", nil), "a__read failed: the user has turned the plugin a off"+datePattern+
		"; the user turns it on with `opentabs plugin permission a ask` in a terminal, or in the side panel "+`\(denied\)\.`+allowHintPattern)
	g.load(newTwoToolPackage("a", "2;"))
	checkRefusalText(g.checkCallFails(wire.ErrNotReviewed, "s", "read", nil), "a__read failed: the plugin a has changed since the user reviewed it"+datePattern+
		", so none of its tools run; the user enables it with \"Review and enable\" in the side panel "+`\(tab Plugins\)`+", or with `opentabs plugin enable a` in a terminal "+`\(not_reviewed\)\.`+reviewHintPattern)
	g.failOnError(g.policy.Forget("a", "x"))
	checkRefusalText(g.checkCallFails(wire.ErrNotReviewed, "s", "read", nil), "a__read failed: the user has not reviewed the plugin a yet"+
		", so none of its tools run; the user enables it with \"Review and enable\" in the side panel "+`\(tab Plugins\)`+", or with `opentabs plugin enable a` in a terminal "+`\(not_reviewed\)\.`+reviewHintPattern)
	g.write("{")
	checkRefusalText(g.checkCallFails(wire.ErrNotReviewed, "s", "read", nil), "a__read failed: the file of permissions cannot be read, so no plugin counts as reviewed"+
		"; `opentabs plugin permission` in a terminal shows the user what is wrong with it "+`\(not_reviewed\)\.`+reviewHintPattern)
}

func TestPermissionOfAPrompt(t *testing.T) {
	testPackage := newTwoToolPackage("a", "1;")
	testPackage.Prompts = []plugintest.Prompt{{Name: "digest"}}
	w := newPolicyFixture(t, testPackage)
	w.review("a", permissionAsk)
	err := w.policy.SetPermission("a", "digest", permissionAuto, "x")
	if err == nil || !strings.Contains(err.Error(), "a__digest is a prompt, and prompts have no separate permission: set the permission of the plugin a") {
		t.Errorf("error for the permission of a prompt = %v; want an error that contains %q", err, "a__digest is a prompt, and prompts have no separate permission: set the permission of the plugin a")
	}
}

func TestPromptPermission(t *testing.T) {
	g := newGateFixture(t, permissionAsk)
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	run := func(scope wire.Scope) []wire.Scope {
		var offeredScopes []wire.Scope
		_, err := g.calls.Call(context.Background(), dispatch.Call{
			Tool: dispatch.Tool{Plugin: "a", Name: "send", Prompt: true}, Client: dispatch.Client{Session: "s"},
			OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
				offeredScopes = w.Scopes
				if _, err := g.calls.Decide(w.CallID, w.TicketID, *newAllowDecision(scope, 0)); err != nil {
					t.Error(err)
				}
			},
		})
		g.failOnError(err)
		return offeredScopes
	}
	if got := run(wire.ScopeSession); len(got) != 3 || got[2] != wire.ScopeTime {
		t.Errorf("scopes in the approval request = %v; want 3, the last one for some time", got)
	}
	if got := run(wire.ScopeOnce); got != nil {
		t.Errorf("scopes in another approval request = %v; want none", got)
	}
	g.checkCallFails(wire.ErrDenied, "s", "send", nil)
}

func TestRateLimitBlocksExcessCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateFixture(t, permissionAsk)
		g.failOnError(g.policy.SetPermission("a", "read", permissionAuto, "x"))
		g.failOnError(g.policy.SetLimit("a", "read", policy.Limit{Calls: 2, Per: time.Minute}, "x"))
		g.checkCallSucceeds("s1", "read", nil)
		advanceTime(20 * time.Second)
		g.checkCallSucceeds("s2", "read", nil)
		errorText := g.checkCallFails(wire.ErrRateLimited, "s1", "read", nil)
		if want := "the user lets a__read run 2 times in 1m, and that is used up; the next call may run in 40s"; !strings.Contains(errorText, want) {
			t.Errorf("error text at the call limit = %q, want %q", errorText, want)
		}
		advanceTime(40*time.Second - 1)
		g.checkCallFails(wire.ErrRateLimited, "s1", "read", nil)
		advanceTime(1)
		g.checkCallSucceeds("s1", "read", nil)
		g.checkCallFails(wire.ErrRateLimited, "s1", "read", nil)
		g.failOnError(g.policy.SetLimit("a", "read", policy.Limit{}, "x"))
		g.checkCallSucceeds("s1", "read", nil)

		g.failOnError(g.policy.SetLimit("a", "send", policy.Limit{Calls: 1, Per: time.Hour}, "x"))
		g.checkCallFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeOnce, 0))
		g.checkCallFails(wire.ErrRateLimited, "s1", "send", nil)
	})
}

func TestLimitConcurrentCalls(t *testing.T) {
	g := newGateFixture(t, permissionAuto)
	g.failOnError(g.policy.SetLimit("a", "send", policy.Limit{Calls: 7, Per: time.Hour}, "x"))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { _ = g.call("s", "send", nil) })
	}
	wg.Wait()
	if n := g.runCount.Load(); n != 7 {
		t.Errorf("runs of the tool = %d; want 7", n)
	}
}

// A call that already runs counts toward the limit, but the limit must not stop the call itself while its tab reloads.
func TestLimitAllowsReloadOfCountedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateFixture(t, permissionAuto)
		g.failOnError(g.policy.SetLimit("a", "send", policy.Limit{Calls: 1, Per: time.Minute}, "x"))
		bridge := &dispatchtest.Bridge{
			TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
				if targetChoice.IsReloadApproved {
					return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{dispatchtest.DefaultTarget}}
				}
				return dispatch.Targets{BrowserCount: 1, TabsToReload: []dispatch.Target{dispatchtest.DefaultTarget}}
			},
			StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
				sink.Finish(nil, nil)
				return nil
			},
		}
		g.calls = dispatch.New(bridge, dispatch.Options{Gates: g.enforcer.Gates(), BeforeHooks: g.enforcer.BeforeHooks(), AfterHooks: g.enforcer.AfterHooks()})
		t.Cleanup(g.calls.Shutdown)
		g.checkCallSucceeds("s1", "send", newAllowDecision(wire.ScopeOnce, 0))
		g.checkCallFails(wire.ErrRateLimited, "s1", "send", nil)
	})
}

func TestParseLimit(t *testing.T) {
	for limitText, want := range map[string]string{"10/1m": "10/1m", " 1 / 30s": "1/30s", "10000/24h": "10000/24h", "3/1h30m": "3/1h30m", "5/60s": "5/1m"} {
		limit, err := policy.ParseLimit(limitText)
		if err != nil || limit.String() != want {
			t.Errorf("ParseLimit(%q) = %q, error %v; want %v", limitText, limit, err, want)
		}
	}
	for _, limitText := range []string{"", "10", "0/1m", "-1/1m", "10001/1m", "1/0s", "1/25h", "x/1m", "1/x", "1/1m/1m"} {
		if limit, err := policy.ParseLimit(limitText); err == nil || !strings.Contains(err.Error(), "such as 10/1m") {
			t.Errorf("ParseLimit(%q) = %v, error %v; want an error that contains %q", limitText, limit, err, "such as 10/1m")
		}
	}
}

func TestPermissionChangesWhileACallWaits(t *testing.T) {
	g := newGateFixture(t, permissionAsk)
	callInfo := dispatch.CallInfo{CallID: "c", Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Session: "s"}}
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend == nil || v.Suspend.Kind != wire.TicketPermission || v.Suspend.Reason != "An agent wants to run a__send" {
		t.Errorf("verdict for ask = %+v; want a suspended call with a reason", v)
	}
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend == nil || !v.Suspend.PassesDecision {
		t.Errorf("verdict = %+v; want PassesDecision true", v)
	}
	g.failOnError(g.policy.SetPermission("a", "", permissionAuto, "x"))
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend != nil || v.BlockError != nil {
		t.Errorf("verdict for auto = %+v; want no block and no approval request", v)
	}
	if a, ok := g.enforcer.Approval(callInfo); !ok || a.Scope != wire.ScopeAlways || a.By != "x" {
		t.Errorf("approval = %+v; want always, by x", a)
	}
	// A call that continues because the permission has changed keeps no approval for later changes.
	recheckDecision := dispatch.Resolution{Allow: true, Scope: wire.ScopeOnce, Surface: "a change of its permission", IsFromRecheck: true}
	g.enforcer.Gates()[2].(dispatch.DecisionObserver).ObserveDecision(callInfo, dispatch.Ticket{}, recheckDecision)
	g.failOnError(g.policy.SetPermission("a", "", permissionAsk, "x"))
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend == nil {
		t.Errorf("verdict after auto and ask = %+v; want a suspended call", v)
	}
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	if v := g.enforcer.CurrentVerdict(callInfo); v.BlockError == nil || v.BlockError.Code != wire.ErrDenied {
		t.Errorf("verdict for off = %+v; want a block with the code denied", v)
	}
}

func TestApprovalAllowsAnotherWaitingCall(t *testing.T) {
	for scope, want := range map[wire.Scope]string{
		wire.ScopeSession: "the approval for the session from the side panel",
		wire.ScopeTime:    "the approval for 10 min from the side panel",
		wire.ScopeAlways:  "the permanent approval from the side panel",
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateFixture(t, permissionAsk)
			tickets := make(chan dispatch.WaitingTicket, 2)
			call := dispatch.Call{
				Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Session: "s", Name: "Agent"},
				OnTicket: func(_ context.Context, w dispatch.WaitingTicket) { tickets <- w },
			}
			for range 2 {
				go func() { _, _ = g.calls.Call(context.Background(), call) }()
			}
			decidedTicket, otherTicket := <-tickets, <-tickets
			decision := newAllowDecision(scope, 0)
			if scope == wire.ScopeTime {
				decision.Duration = 10 * time.Minute
			}
			_, err := g.calls.Decide(decidedTicket.CallID, decidedTicket.TicketID, *decision)
			g.failOnError(err)
			synctest.Wait()
			g.calls.RecheckGates()
			synctest.Wait()
			if v, ok := g.calls.Find(otherTicket.CallID); !ok || v.Decision == nil || !v.Decision.Allow || v.Decision.Surface != want {
				t.Errorf("%s: decision about the other waiting call = %+v; want it allowed by %s", scope, v.Decision, want)
			}
		})
	}
}

func BenchmarkGates(b *testing.B) {
	dir := b.TempDir()
	loadedPlugin := plugintest.Load(b, newTwoToolPackage("a", ""))
	pluginSet := plugin.NewSet([]*plugin.Plugin{loadedPlugin}, nil)
	p := policy.New(dir, func() *plugin.Set { return pluginSet }, policy.Options{})
	enforcer := policy.NewEnforcer(p)
	if err := p.Review("a", loadedPlugin.ContentHash(), permissionAuto, "x"); err != nil {
		b.Fatal(err)
	}
	callInfo := dispatch.CallInfo{CallID: "c", Tool: dispatch.Tool{Plugin: "a", Name: "send"}}
	for b.Loop() {
		for _, gate := range enforcer.Gates() {
			if v := gate.Decide(callInfo); v.BlockError != nil || v.Suspend != nil {
				b.Fatal(v)
			}
		}
		if err := enforcer.BeforeHooks()[0].BeforeCall(callInfo); err != nil {
			b.Fatal(err)
		}
		enforcer.AfterHooks()[0].AfterCall(callInfo, dispatch.EndedCall{})
	}
}

func TestGatesOfCallReadFileOnce(t *testing.T) {
	g := newGateFixture(t, permissionAuto)
	call := dispatch.CallInfo{CallID: "call_1", Tool: dispatch.Tool{Plugin: "a", Name: "read", PluginName: "The a"}}
	runGates := func(runBetweenGates func()) (isBlocked bool) {
		for i, gate := range g.enforcer.Gates() {
			if gate.Decide(call).BlockError != nil {
				isBlocked = true
			}
			if i == 0 {
				runBetweenGates()
			}
		}
		return isBlocked
	}
	turnOffPermissions := func() { g.write(strings.ReplaceAll(g.file(), `"auto"`, `"off"`)) }
	if runGates(turnOffPermissions) {
		t.Error("a change of permissions.json after the first gate blocked the call; want no block")
	}
	if !runGates(func() {}) {
		t.Error("the change of permissions.json does not apply to the next call; want a block")
	}
}

// Listeners can take long, so the grants must have ended before the listeners run.
func TestGrantsEndBeforeListenersRun(t *testing.T) {
	for name, change := range map[string]func(g *gateFixture) error{
		"permission of the tool":   func(g *gateFixture) error { return g.policy.SetPermission("a", "send", permissionAsk, "x") },
		"permission of the plugin": func(g *gateFixture) error { return g.policy.SetPermission("a", "", permissionAsk, "x") },
		"forget":                   func(g *gateFixture) error { return g.policy.Forget("a", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateFixture(t, permissionAsk)
				g.checkCallSucceeds("s", "send", newAllowDecision(wire.ScopeTime, time.Hour))
				g.checkCallSucceeds("s", "send", nil)
				synctest.Wait() // the approval notifies the listeners in another goroutine
				grantCount, notifiedCount := 0, 0
				g.policy.OnChange(func() {
					grantCount += len(g.policy.Grants("a")["send"])
					notifiedCount++
				})
				g.failOnError(change(g))
				if grantCount != 0 || notifiedCount != 1 {
					t.Errorf("grants of the tool while %d listeners run = %d, want 0 and 1 listener", notifiedCount, grantCount)
				}
			})
		})
	}
}
