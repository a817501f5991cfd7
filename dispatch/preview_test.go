package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

var openPage = dispatch.Target{Browser: "b1", BrowserName: "Home", TabID: 7, DocumentID: "d", URL: "http://localhost/", Title: "Inbox"}

func TestCallWithoutTargetRequestsNoApproval(t *testing.T) {
	type targets = []dispatch.Target
	otherBrowser := openPage
	otherBrowser.Browser, otherBrowser.BrowserName = "b2", "Work"
	tabWithProblem := func(problemText string) dispatch.Target {
		tab := openPage
		tab.Problem = problemText
		return tab
	}
	frozenPage := openPage
	frozenPage.IsFrozen = true
	loginPage := openPage
	loginPage.Readiness = dispatch.ReadinessNotReady
	block := newFixedGate("review", dispatch.Verdict{BlockError: &wire.CallError{Code: wire.ErrNotReviewed, Message: "not reviewed"}})
	tests := []struct {
		name      string
		tool      dispatch.Tool
		gate      dispatch.Gate
		targets   dispatch.Targets
		code      wire.ErrorCode
		wantError string
	}{
		{"no browser", exportTool, nil, dispatch.Targets{}, wire.ErrNoBrowser, "Ask the user to start Chrome"},
		{"no tab", exportTool, nil, dispatch.Targets{BrowserCount: 1}, wire.ErrNoTab, "no open tab shows Messages (*://localhost/*) (no_tab). Open the page in the browser"},
		{"broken plugin", exportTool, nil, dispatch.Targets{BrowserCount: 1, BrokenTabs: targets{tabWithProblem("it threw")}}, wire.ErrPluginBroken, "it threw"},
		{"frozen tab", exportTool, nil, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{frozenPage}}, wire.ErrTabFrozen, "suspended tab 7 to save resources"},
		{"login page", exportTool, nil, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{loginPage}}, wire.ErrNotReady, "Ask the user to check the tab and to log in"},
		{"busy page", exportTool, nil, dispatch.Targets{BrowserCount: 1, UnresponsiveTargets: targets{openPage}}, wire.ErrPageUnresponsive, "its page does not answer"},
		{"page still loads", exportTool, nil, dispatch.Targets{BrowserCount: 1, LoadingTabs: targets{openPage}}, wire.ErrNoTab, "Retry in a few seconds."},
		{"plugins still load", exportTool, nil, dispatch.Targets{BrowserCount: 1, IsPluginListSyncing: true}, wire.ErrNoTab, "Retry in a few seconds."},
		{"code is on its way", exportTool, nil, dispatch.Targets{BrowserCount: 1, TabsWithoutPluginCode: targets{openPage}}, wire.ErrNoTab, "Retry in a few seconds."},
		{"error page", exportTool, nil, dispatch.Targets{BrowserCount: 1, ErrorPages: targets{tabWithProblem("net::ERR_FAILED")}}, wire.ErrNoTab, "opentabs loads the page again"},
		{"two browsers", exportTool, nil, dispatch.Targets{BrowserCount: 2, LiveTargets: targets{openPage, otherBrowser}}, wire.ErrAmbiguousTarget, "several browsers have a tab 7"},
		{"not reviewed", exportTool, block, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{openPage}}, wire.ErrNotReviewed, "not reviewed"},
		{"page without scripts", snapshotTool, nil, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{tabWithProblem("Chrome allows no extension here")}}, wire.ErrNoTab, "no browser tool can work in tab 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gates := []dispatch.Gate{&fakeGate{name: "permission"}}
				if tt.gate != nil {
					gates = append(gates, tt.gate)
				}
				bridge := &dispatchtest.Bridge{TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
					if tt.tool.TargetKind == dispatch.TargetDocument && !targetChoice.IsPreview {
						t.Errorf("target choice before the approval = %+v, want a preview", targetChoice)
					}
					return tt.targets
				}}
				ticketCount := 0
				d := dispatch.New(bridge, dispatch.Options{Gates: gates})
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool: tt.tool, TabID: 7, Args: json.RawMessage(`{}`),
					OnTicket: func(context.Context, dispatch.WaitingTicket) { ticketCount++ },
				})
				e := toDispatchError(t, err)
				if e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.wantError) {
					t.Errorf("error of the call = %v, want %s with the text %q", err, tt.code, tt.wantError)
				}
				if ticketCount != 0 {
					t.Errorf("requests for approval = %d, want none", ticketCount)
				}
				if strings.Contains(e.Message, "Open the page") && tt.name != "no tab" {
					t.Errorf("error for a page that is open = %q, want no advice to open it", e.Message)
				}
			})
		})
	}
}

func reloadingBrowser(targetChoices *[]dispatch.TargetChoice, runTarget *dispatch.Target) *dispatchtest.Bridge {
	return &dispatchtest.Bridge{
		TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
			*targetChoices = append(*targetChoices, targetChoice)
			if targetChoice.IsReloadApproved {
				return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{openPage}}
			}
			return dispatch.Targets{BrowserCount: 1, TabsToReload: []dispatch.Target{openPage}}
		},
		StartFunc: func(_ context.Context, toolRun dispatch.Run, s dispatch.Sink) *wire.CallError {
			*runTarget = toolRun.Target
			go s.Finish(nil, nil)
			return nil
		},
	}
}

func TestApprovalCoversReload(t *testing.T) {
	const wantReason = "tab 7 (Inbox) is reloaded, because its page was loaded before the plugin was added or changed. Unsaved input in the tab is lost"
	for _, tt := range []struct {
		name   string
		gates  []dispatch.Gate
		reason string
	}{
		{"a call that needs approval", []dispatch.Gate{&fakeGate{name: "permission"}}, "may it?. First, " + wantReason},
		{"a call that needs no approval", nil, "messages__export needs a reload of its page. First, " + wantReason},
	} {
		for _, isAllowed := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var targetChoices []dispatch.TargetChoice
					var runTarget dispatch.Target
					d := dispatch.New(reloadingBrowser(&targetChoices, &runTarget), dispatch.Options{Gates: tt.gates})
					var openedTickets []dispatch.WaitingTicket
					_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
						openedTickets = append(openedTickets, w)
						_, _ = d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: isAllowed, Surface: "a test"})
					}})
					if len(openedTickets) != 1 || openedTickets[0].Reason != tt.reason {
						t.Errorf("requests for approval = %+v, want one with the reason %q", openedTickets, tt.reason)
					}
					if e := toDispatchError(t, err); isAllowed && e != nil || !isAllowed && (e == nil || e.Code != wire.ErrDenied) {
						t.Errorf("the call ended with the error %v after the decision %t, want denied only if not allowed", err, isAllowed)
					}
					if hasRun := runTarget.TabID == 7; hasRun != isAllowed {
						t.Errorf("the tool ran in tab %d after the decision %t, want a run in tab 7 only if allowed", runTarget.TabID, isAllowed)
					}
				})
			})
		}
	}
}

// namingGate is a gate that names the approval which allows a call.
type namingGate struct{ *fakeGate }

func (namingGate) ApprovalName(dispatch.CallInfo) string {
	return "the approval for 10 min from the side panel"
}

// Neither a permission nor the approval of another call replaces the user's approval of the tab's reload.
func TestPermissionDoesNotApproveReload(t *testing.T) {
	isPermissionAuto := false
	gate := &fakeGate{name: "permission", decide: func(i dispatch.CallInfo) dispatch.Verdict {
		if isPermissionAuto {
			return dispatch.Verdict{}
		}
		return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Reason: "may it?"}}
	}}
	for name, g := range map[string]dispatch.Gate{"a permission": gate, "the approval of another call": namingGate{gate}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				isPermissionAuto = false
				var targetChoices []dispatch.TargetChoice
				var runTarget dispatch.Target
				d := dispatch.New(reloadingBrowser(&targetChoices, &runTarget), dispatch.Options{Gates: []dispatch.Gate{g}})
				tickets := make(chan dispatch.WaitingTicket, 2)
				callErrors := make(chan error, 1)
				go func() {
					_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) { tickets <- w }})
					callErrors <- err
				}()
				<-tickets
				synctest.Wait()
				isPermissionAuto = true
				d.RecheckGates()
				synctest.Wait()
				if len(tickets) == 0 {
					t.Fatal("the call requested no approval of the reload, want a request")
				}
				w := <-tickets
				if !strings.HasPrefix(w.Reason, "messages__export needs a reload of its page.") {
					t.Errorf("reason of the second request for approval = %q, want the reload of the page", w.Reason)
				}
				d.RecheckGates()
				time.Sleep(time.Second)
				if runTarget.TabID != 0 {
					t.Error("the tool ran without an approval of the reload, want no run")
				}
				if _, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "a test"}); err != nil {
					t.Fatal(err)
				}
				if err := <-callErrors; err != nil || runTarget.TabID != 7 {
					t.Errorf("the call ended with the error %v in tab %d, want success in tab 7", err, runTarget.TabID)
				}
			})
		})
	}
}

func TestTabOpensOnlyAfterApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := exportTool
		tool.OpenURL = "http://localhost/"
		bridge := &dispatchtest.Bridge{
			TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
				if targetChoice.IsPreview {
					return dispatch.Targets{BrowserCount: 1, BrowsersToOpen: []dispatch.Target{{Browser: "b1", BrowserName: "Home"}}}
				}
				return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{openPage}}
			},
			StartFunc: func(_ context.Context, _ dispatch.Run, s dispatch.Sink) *wire.CallError {
				go s.Finish(nil, nil)
				return nil
			},
		}
		ticketCount := 0
		d := dispatch.New(bridge, dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "permission"}}, MayOpenTab: func(string) bool { return true }})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: tool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
			ticketCount++
			_, _ = d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "a test"})
		}})
		if err != nil || ticketCount != 1 {
			t.Errorf("the call ended with the error %v after %d requests for approval, want success after 1 request", err, ticketCount)
		}
	})
}
