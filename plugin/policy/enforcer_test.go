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

type gatedCalls struct {
	*policyFixture
	calls    *dispatch.Dispatcher
	runCount atomic.Int32
}

func newGatedCalls(t *testing.T, permission wire.Permission) *gatedCalls {
	t.Helper()
	return newGatedCallsOf(t, permission, twoToolPackage("a", "1;"), twoToolPackage("b", ""))
}

func newGatedCallsOf(t *testing.T, permission wire.Permission, packages ...plugintest.Package) *gatedCalls {
	t.Helper()
	g := &gatedCalls{policyFixture: newPolicyFixture(t, packages...)}
	for _, onePackage := range packages {
		g.review(onePackage.Name, permissionAuto)
	}
	g.review("a", permission)
	bridge := &dispatchtest.Bridge{StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
		g.runCount.Add(1)
		sink.Finish(nil, nil)
		return nil
	}}
	g.calls = dispatch.New(bridge, dispatch.Options{Gates: g.enforcer.Gates(), BeforeHooks: g.enforcer.Before(), AfterHooks: g.enforcer.After()})
	t.Cleanup(g.calls.Shutdown)
	return g
}

func (g *gatedCalls) call(session, tool string, decision *dispatch.Resolution) error {
	g.t.Helper()
	wasSuspended := false
	_, err := g.calls.Call(context.Background(), dispatch.Call{
		Tool:   dispatch.Tool{Plugin: "a", Name: tool, PluginName: "The a"},
		Client: dispatch.Client{Session: session, Name: "Agent"},
		OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
			wasSuspended = true
			if decision == nil {
				g.t.Errorf("%s %s: the call waited for approval: %q", session, tool, w.Reason)
				decision = &dispatch.Resolution{}
			}
			if _, err := g.calls.Decide(w.CallID, w.TicketID, *decision); err != nil {
				g.t.Error(err)
			}
		},
	})
	if decision != nil && !wasSuspended {
		g.t.Errorf("%s %s: the call did not wait for approval", session, tool)
	}
	return err
}

func (g *gatedCalls) checkRuns(session, tool string, decision *dispatch.Resolution) {
	g.t.Helper()
	if err := g.call(session, tool, decision); err != nil {
		g.t.Errorf("%s %s: %v", session, tool, err)
	}
}

func (g *gatedCalls) checkFails(code wire.ErrorCode, session, tool string, decision *dispatch.Resolution) string {
	g.t.Helper()
	runsBefore := g.runCount.Load()
	err := g.call(session, tool, decision)
	var e *dispatch.Error
	if !errors.As(err, &e) || e.Code != code {
		g.t.Errorf("%s %s: %v, want %s", session, tool, err, code)
		return ""
	}
	if g.runCount.Load() != runsBefore {
		g.t.Errorf("%s %s: the refused call ran", session, tool)
	}
	return e.Message
}

func newAllowDecision(scope wire.Scope, d time.Duration) *dispatch.Resolution {
	return &dispatch.Resolution{Allow: true, Scope: scope, Duration: d, Surface: "the side panel"}
}

func advanceTime(d time.Duration) { <-time.After(d) }

var denyDecision = &dispatch.Resolution{Surface: "the side panel"}

func TestGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCalls(t, permissionAsk)
		g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkRuns("s1", "send", newAllowDecision(wire.ScopeOnce, 0))
		g.checkRuns("s1", "send", newAllowDecision("", 0))
		g.checkRuns("s1", "send", newAllowDecision(wire.ScopeSession, 0))
		g.checkRuns("s1", "send", nil)
		g.checkFails(wire.ErrDenied, "s2", "send", denyDecision)
		g.checkFails(wire.ErrDenied, "s1", "read", denyDecision)

		g.checkRuns("s2", "read", newAllowDecision(wire.ScopeTime, time.Minute))
		advanceTime(time.Minute - 1)
		g.checkRuns("s3", "read", nil)
		advanceTime(1)
		g.checkFails(wire.ErrDenied, "s2", "read", denyDecision)
		if grants := g.policy.Grants("a"); len(grants["read"]) != 0 || len(grants["send"]) != 1 {
			t.Errorf("grants %v", grants)
		}

		failOnError := g.failOnError
		failOnError(g.policy.SetPermission("a", "send", permissionAsk, "x"))
		g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkRuns("s1", "send", newAllowDecision(wire.ScopeSession, 0))
		failOnError(g.policy.SetPermission("a", "", permissionAsk, "x"))
		g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkRuns("s1", "send", newAllowDecision(wire.ScopeSession, 0))
		advanceTime(24 * time.Hour)
		g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)

		g.checkRuns("", "read", newAllowDecision(wire.ScopeSession, 0))
		g.checkFails(wire.ErrDenied, "s1", "read", denyDecision)
	})
}

func TestGrantAlways(t *testing.T) {
	g := newGatedCalls(t, permissionAsk)
	g.checkRuns("s1", "send", newAllowDecision(wire.ScopeAlways, 0))
	g.checkRuns("s2", "send", nil)
	g.checkEffective("a", permissionAsk, permissionAsk, permissionAsk)
	verdict := g.enforcer.CurrentVerdict(dispatch.CallInfo{Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Name: "Other"}})
	if verdict.Suspend == nil {
		t.Error("the grant applies to another client too")
	}
	reopenedPolicy := policy.New(g.dir, g.Set, policy.Options{}) // a new policy reads permissions.json, as after a restart
	if grants := reopenedPolicy.Grants("a")["send"]; len(grants) != 1 || grants[0].Client != "Agent" || grants[0].Caller != "" || grants[0].By != "the side panel" || time.Since(grants[0].At) > time.Minute {
		t.Errorf("the file has %+v", grants)
	}
	for _, tool := range []string{"send", ""} {
		g.failOnError(g.policy.SetPermission("a", tool, permissionAsk, "x"))
		g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkRuns("s1", "send", newAllowDecision(wire.ScopeAlways, 0))
	}
	g.load(twoToolPackage("a", "2;"), twoToolPackage("b", ""))
	g.checkFails(wire.ErrNotReviewed, "s1", "send", nil)
	g.review("a", permissionAsk)
	g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
}

func TestGrantAlwaysWithUnwritableFile(t *testing.T) {
	g := newGatedCalls(t, permissionAsk)
	lock := g.policy.Path() + ".lock"
	g.failOnError(errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)))
	g.checkRuns("s1", "send", newAllowDecision(wire.ScopeAlways, 0))
	g.checkRuns("s2", "send", nil)
	g.checkEffective("a", permissionAsk, permissionAsk, permissionAsk)
}

func TestGrantEndsWithTheContent(t *testing.T) {
	g := newGatedCalls(t, permissionAsk)
	g.checkRuns("s1", "send", newAllowDecision(wire.ScopeTime, time.Hour))
	firstHash := g.hash("a")
	g.load(twoToolPackage("a", "2;"), twoToolPackage("b", ""))
	g.checkFails(wire.ErrNotReviewed, "s1", "send", nil)
	otherPolicy := policy.New(g.dir, g.Set, policy.Options{})
	g.failOnError(otherPolicy.Review("a", g.hash("a"), permissionAsk, "x"))
	g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
	if g.hash("a") == firstHash {
		t.Error("the content is the same")
	}
}

func TestRefusals(t *testing.T) {
	g := newGatedCalls(t, permissionAuto)
	g.checkRuns("s", "send", nil)
	const datePattern = ` \(on [-0-9]+\)`
	checkRefusal := func(got, want string) {
		t.Helper()
		if !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	const onlyReview = ` Only the \w+ can review the plugin, .+\.`
	const onlyAllow = ` Only the \w+ can allow the call, .+\.`
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	checkRefusal(g.checkFails(wire.ErrDenied, "s", "send", nil), "a__send failed: the user has turned the tool a__send off"+datePattern+
		"; the user turns it on with `opentabs plugin permission a__send ask` in a terminal, or in the side panel "+`\(denied\)\.`+onlyAllow)
	g.failOnError(g.policy.SetPermission("a", "", permissionOff, "x"))
	checkRefusal(g.checkFails(wire.ErrDenied, "s", "read", nil), "a__read failed: the user has turned the plugin a off"+datePattern+
		"; the user turns it on with `opentabs plugin permission a ask` in a terminal, or in the side panel "+`\(denied\)\.`+onlyAllow)
	g.load(twoToolPackage("a", "2;"))
	checkRefusal(g.checkFails(wire.ErrNotReviewed, "s", "read", nil), "a__read failed: the plugin a has changed since the user reviewed it"+datePattern+
		", so none of its tools run; the user enables it with \"Review and enable\" in the side panel "+`\(tab Plugins\)`+", or with `opentabs plugin enable a` in a terminal "+`\(not_reviewed\)\.`+onlyReview)
	g.failOnError(g.policy.Forget("a", "x"))
	checkRefusal(g.checkFails(wire.ErrNotReviewed, "s", "read", nil), "a__read failed: the user has not reviewed the plugin a yet"+
		", so none of its tools run; the user enables it with \"Review and enable\" in the side panel "+`\(tab Plugins\)`+", or with `opentabs plugin enable a` in a terminal "+`\(not_reviewed\)\.`+onlyReview)
	g.write("{")
	checkRefusal(g.checkFails(wire.ErrNotReviewed, "s", "read", nil), "a__read failed: the file of permissions cannot be read, so no plugin counts as reviewed"+
		"; `opentabs plugin permission` in a terminal shows the user what is wrong with it "+`\(not_reviewed\)\.`+onlyReview)
}

func TestPermissionOfAPrompt(t *testing.T) {
	onePackage := twoToolPackage("a", "1;")
	onePackage.Prompts = []plugintest.Prompt{{Name: "digest"}}
	w := newPolicyFixture(t, onePackage)
	w.review("a", permissionAsk)
	err := w.policy.SetPermission("a", "digest", permissionAuto, "x")
	if err == nil || !strings.Contains(err.Error(), "a__digest is a prompt, and prompts have no separate permission: set the permission of the plugin a") {
		t.Errorf("got %v; want an error that contains %q", err, "a__digest is a prompt, and prompts have no separate permission: set the permission of the plugin a")
	}
}

func TestPromptPermission(t *testing.T) {
	g := newGatedCalls(t, permissionAsk)
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
		t.Errorf("offered %v", got)
	}
	if got := run(wire.ScopeOnce); got != nil {
		t.Errorf("asked again: %v", got)
	}
	g.checkFails(wire.ErrDenied, "s", "send", nil)
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCalls(t, permissionAsk)
		g.failOnError(g.policy.SetPermission("a", "read", permissionAuto, "x"))
		g.failOnError(g.policy.SetLimit("a", "read", policy.Limit{Calls: 2, Per: time.Minute}, "x"))
		g.checkRuns("s1", "read", nil)
		advanceTime(20 * time.Second)
		g.checkRuns("s2", "read", nil)
		errorText := g.checkFails(wire.ErrRateLimited, "s1", "read", nil)
		if want := "the user lets a__read run 2 times in 1m, and that is used up; the next call may run in 40s"; !strings.Contains(errorText, want) {
			t.Errorf("got %q, want %q", errorText, want)
		}
		advanceTime(40*time.Second - 1)
		g.checkFails(wire.ErrRateLimited, "s1", "read", nil)
		advanceTime(1)
		g.checkRuns("s1", "read", nil)
		g.checkFails(wire.ErrRateLimited, "s1", "read", nil)
		g.failOnError(g.policy.SetLimit("a", "read", policy.Limit{}, "x"))
		g.checkRuns("s1", "read", nil)

		g.failOnError(g.policy.SetLimit("a", "send", policy.Limit{Calls: 1, Per: time.Hour}, "x"))
		g.checkFails(wire.ErrDenied, "s1", "send", denyDecision)
		g.checkRuns("s1", "send", newAllowDecision(wire.ScopeOnce, 0))
		g.checkFails(wire.ErrRateLimited, "s1", "send", nil)
	})
}

func TestLimitConcurrentCalls(t *testing.T) {
	g := newGatedCalls(t, permissionAuto)
	g.failOnError(g.policy.SetLimit("a", "send", policy.Limit{Calls: 7, Per: time.Hour}, "x"))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { _ = g.call("s", "send", nil) })
	}
	wg.Wait()
	if n := g.runCount.Load(); n != 7 {
		t.Errorf("%d ran; want 7", n)
	}
}

func TestParseLimit(t *testing.T) {
	for limitText, want := range map[string]string{"10/1m": "10/1m", " 1 / 30s": "1/30s", "10000/24h": "10000/24h", "3/1h30m": "3/1h30m", "5/60s": "5/1m"} {
		limit, err := policy.ParseLimit(limitText)
		if err != nil || limit.String() != want {
			t.Errorf("%q: %q, %v; want %v", limitText, limit, err, want)
		}
	}
	for _, limitText := range []string{"", "10", "0/1m", "-1/1m", "10001/1m", "1/0s", "1/25h", "x/1m", "1/x", "1/1m/1m"} {
		if limit, err := policy.ParseLimit(limitText); err == nil || !strings.Contains(err.Error(), "such as 10/1m") {
			t.Errorf("%q: %v, %v; want an error that contains %q", limitText, limit, err, "such as 10/1m")
		}
	}
}

func TestPermissionChangesWhileACallWaits(t *testing.T) {
	g := newGatedCalls(t, permissionAsk)
	callInfo := dispatch.CallInfo{CallID: "c", Tool: dispatch.Tool{Plugin: "a", Name: "send"}, Client: dispatch.Client{Session: "s"}}
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend == nil || v.Suspend.Kind != wire.TicketPermission || v.Suspend.Reason != "An agent wants to run a__send" {
		t.Errorf("ask: %+v", v)
	}
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend == nil || !v.Suspend.PassDecisionToTool {
		t.Errorf("the tool would not learn what was decided: %+v", v)
	}
	g.failOnError(g.policy.SetPermission("a", "", permissionAuto, "x"))
	if v := g.enforcer.CurrentVerdict(callInfo); v.Suspend != nil || v.Block != nil {
		t.Errorf("auto: %+v", v)
	}
	if a, ok := g.enforcer.Approval(callInfo); !ok || a.Scope != wire.ScopeAlways || a.By != "x" {
		t.Errorf("approved by %+v", a)
	}
	g.failOnError(g.policy.SetPermission("a", "send", permissionOff, "x"))
	if v := g.enforcer.CurrentVerdict(callInfo); v.Block == nil || v.Block.Code != wire.ErrDenied {
		t.Errorf("off: %+v", v)
	}
}

func TestApprovalAllowsAnotherWaitingCall(t *testing.T) {
	for scope, want := range map[wire.Scope]string{
		wire.ScopeSession: "the approval for the session from the side panel",
		wire.ScopeTime:    "the approval for 10 min from the side panel",
		wire.ScopeAlways:  "the permanent approval from the side panel",
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGatedCalls(t, permissionAsk)
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
				t.Errorf("%s: the decision about the other call is %+v", scope, v.Decision)
			}
		})
	}
}

func BenchmarkGates(b *testing.B) {
	dir := b.TempDir()
	onePackage := plugintest.Load(b, twoToolPackage("a", ""))
	pluginSet := plugin.NewSet([]*plugin.Plugin{onePackage}, nil)
	p := policy.New(dir, func() *plugin.Set { return pluginSet }, policy.Options{})
	enforcer := policy.NewEnforcer(p)
	if err := p.Review("a", onePackage.ContentHash(), permissionAuto, "x"); err != nil {
		b.Fatal(err)
	}
	callInfo := dispatch.CallInfo{CallID: "c", Tool: dispatch.Tool{Plugin: "a", Name: "send"}}
	for b.Loop() {
		for _, gate := range enforcer.Gates() {
			if v := gate.Decide(callInfo); v.Block != nil || v.Suspend != nil {
				b.Fatal(v)
			}
		}
		if err := enforcer.Before()[0].Before(callInfo); err != nil {
			b.Fatal(err)
		}
		enforcer.After()[0].After(callInfo, dispatch.EndedCall{})
	}
}

func TestGatesOfCallReadFileOnce(t *testing.T) {
	g := newGatedCalls(t, permissionAuto)
	call := dispatch.CallInfo{CallID: "call_1", Tool: dispatch.Tool{Plugin: "a", Name: "read", PluginName: "The a"}}
	runGates := func(betweenGates func()) (blocked bool) {
		for i, gate := range g.enforcer.Gates() {
			if gate.Decide(call).Block != nil {
				blocked = true
			}
			if i == 0 {
				betweenGates()
			}
		}
		return blocked
	}
	turnOff := func() { g.write(strings.ReplaceAll(g.file(), `"auto"`, `"off"`)) }
	if runGates(turnOff) {
		t.Error("a change of the file after the first gate has blocked the call")
	}
	if !runGates(func() {}) {
		t.Error("the change does not apply to the next call")
	}
}
