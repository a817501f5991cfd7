package browser

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// While a click waits in the queue of its tab, the user can change the rule of the site.
func TestRuleAppliesToQueuedCall(t *testing.T) {
	for _, tt := range []struct {
		rule      policy.SiteRule
		wantError string
	}{
		{policy.SiteOff, "the user does not allow browser tools on https://shop.example"},
		{policy.SiteAsk, "the user denied it"},
	} {
		t.Run(string(tt.rule), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.setRule("shop.example", policy.SiteAuto)
				f.beforeResult = func() {
					time.Sleep(time.Second)
					f.setRule("shop.example", tt.rule)
				}
				go func() { _, _ = f.call("claude", "browser_click", `{"target":"e1"}`) }()
				synctest.Wait()
				f.wantError(wire.ErrDenied, tt.wantError, "claude", "browser_click", `{"target":"e2"}`)
				if len(f.toolRuns) != 1 {
					t.Errorf("tool runs after the change of the rule = %d, want 1: the queued click must not start", len(f.toolRuns))
				}
			})
		})
	}
}

// A click that the user has approved must not need a second approval after its time in the queue.
func TestApprovedQueuedCallNeedsNoSecondApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.decision = allowOnce
		f.beforeResult = func() { time.Sleep(time.Second) }
		go func() { _, _ = f.call("claude", "browser_click", `{"target":"e1"}`) }()
		synctest.Wait()
		f.mustRun(1, "claude", "browser_click", `{"target":"e2"}`)
		if len(f.toolRuns) != 2 {
			t.Errorf("tool runs of two approved clicks = %d, want 2", len(f.toolRuns))
		}
	})
}

// Only the user's approval of the tab's ticket lets a stopped client act again.
func TestRuleChangeDoesNotLiftStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.setRule("shop.example", policy.SiteAuto)
		const clickArgs = `{"target":"e1"}`
		f.mustRun(0, "claude", "browser_click", clickArgs)
		if _, err := f.tabHolds.Release("b1", 7, "the side panel"); err != nil {
			t.Fatal(err)
		}
		f.beforeDecision = func() {
			f.beforeDecision = nil
			f.setRule("shop.example", policy.SiteAsk)
			f.calls.RecheckGates()
		}
		f.wantError(wire.ErrDenied, "the user denied it", "claude", "browser_click", clickArgs)
		if len(f.approvalReasons) != 2 || !strings.HasSuffix(f.approvalReasons[0], "where you stopped it") || strings.Contains(f.approvalReasons[1], "stopped") {
			t.Errorf("requests for approval = %q, want one for the tab and one for the site", f.approvalReasons)
		}
		f.setRule("shop.example", policy.SiteAuto)
		f.approvalReasons = nil
		f.wantError(wire.ErrDenied, "the user denied it", "claude", "browser_click", clickArgs)
		if len(f.approvalReasons) != 1 || !strings.HasSuffix(f.approvalReasons[0], "where you stopped it") {
			t.Errorf("requests for approval after the rule changed back = %q, want one for the tab in which the user stopped the client", f.approvalReasons)
		}
	})
}

// A permanent approval is stored in the rules of the site, and also decides the calls that already wait.
func TestPermanentApprovalAllowsWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.policy.OnChange(f.calls.RecheckGates)
		tickets, callErrors := make(chan dispatch.WaitingTicket, 2), make(chan error, 2)
		for range 2 {
			go func() {
				_, err := f.calls.Call(t.Context(), dispatch.Call{
					Tool: f.tool("browser_click"), Args: json.RawMessage(`{"target":"e1"}`), TabID: 7, Client: dispatch.Client{Session: "s", Name: "claude"},
					OnTicket: func(_ context.Context, w dispatch.WaitingTicket) { tickets <- w },
				})
				callErrors <- err
			}()
		}
		synctest.Wait()
		w := <-tickets
		if _, err := f.calls.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Scope: wire.ScopeAlways, Surface: "x"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-callErrors; err != nil {
				t.Errorf("a waiting click ended with the error %v after the approval, want nil", err)
			}
		}
	})
}
