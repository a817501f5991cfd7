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
	withProblem := func(problemText string) dispatch.Target {
		tab := openPage
		tab.Problem = problemText
		return tab
	}
	frozenPage := openPage
	frozenPage.Frozen = true
	loginPage := openPage
	loginPage.Readiness = dispatch.NotReady
	block := newFixedGate("review", dispatch.Verdict{Block: &wire.CallError{Code: wire.ErrNotReviewed, Message: "not reviewed"}})
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
		{"broken plugin", exportTool, nil, dispatch.Targets{BrowserCount: 1, BrokenTabs: targets{withProblem("it threw")}}, wire.ErrPluginBroken, "it threw"},
		{"frozen tab", exportTool, nil, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{frozenPage}}, wire.ErrTabFrozen, "suspended tab 7 to save resources"},
		{"login page", exportTool, nil, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{loginPage}}, wire.ErrNotReady, "Ask the user to check the tab and to log in"},
		{"busy page", exportTool, nil, dispatch.Targets{BrowserCount: 1, UnresponsiveTargets: targets{openPage}}, wire.ErrPageUnresponsive, "its page does not answer"},
		{"page still loads", exportTool, nil, dispatch.Targets{BrowserCount: 1, LoadingTabs: targets{openPage}}, wire.ErrNoTab, "Retry in a few seconds."},
		{"plugins still load", exportTool, nil, dispatch.Targets{BrowserCount: 1, IsSyncing: true}, wire.ErrNoTab, "Retry in a few seconds."},
		{"code is on its way", exportTool, nil, dispatch.Targets{BrowserCount: 1, TabsAwaitingCode: targets{openPage}}, wire.ErrNoTab, "Retry in a few seconds."},
		{"error page", exportTool, nil, dispatch.Targets{BrowserCount: 1, ErrorPages: targets{withProblem("net::ERR_FAILED")}}, wire.ErrNoTab, "opentabs loads the page again"},
		{"two browsers", exportTool, nil, dispatch.Targets{BrowserCount: 2, LiveTargets: targets{openPage, otherBrowser}}, wire.ErrAmbiguousTarget, "several browsers have a tab 7"},
		{"not reviewed", exportTool, block, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{openPage}}, wire.ErrNotReviewed, "not reviewed"},
		{"page without scripts", snapshotTool, nil, dispatch.Targets{BrowserCount: 1, LiveTargets: targets{withProblem("Chrome allows no extension here")}}, wire.ErrNoTab, "no browser tool can work in tab 7"},
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
						t.Errorf("the search for a tab was not a preview: %+v", targetChoice)
					}
					return tt.targets
				}}
				askCount := 0
				d := dispatch.New(bridge, dispatch.Options{Gates: gates})
				_, err := d.Call(t.Context(), dispatch.Call{
					Tool: tt.tool, TabID: 7, Args: json.RawMessage(`{}`),
					OnTicket: func(context.Context, dispatch.WaitingTicket) { askCount++ },
				})
				e := asError(t, err)
				if e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.wantError) {
					t.Errorf("the call ended with %v, want %s with %q", err, tt.code, tt.wantError)
				}
				if askCount != 0 {
					t.Errorf("requests for approval = %d, want none", askCount)
				}
				if strings.Contains(e.Message, "Open the page") && tt.name != "no tab" {
					t.Errorf("the error asks to open a page that is open: %s", e.Message)
				}
			})
		})
	}
}

func reloadingBrowser(choices *[]dispatch.TargetChoice, ranIn *dispatch.Target) *dispatchtest.Bridge {
	return &dispatchtest.Bridge{
		TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
			*choices = append(*choices, targetChoice)
			if targetChoice.IsReloadApproved {
				return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{openPage}}
			}
			return dispatch.Targets{BrowserCount: 1, TabsToReload: []dispatch.Target{openPage}}
		},
		StartFunc: func(_ context.Context, toolRun dispatch.Run, s dispatch.Sink) *wire.CallError {
			*ranIn = toolRun.Target
			go s.Finish(nil, nil)
			return nil
		},
	}
}

func TestReloadIsApproved(t *testing.T) {
	const reload = "tab 7 (Inbox) is reloaded, because its page was loaded before the plugin was added or changed. Unsaved input in the tab is lost"
	for _, tt := range []struct {
		name   string
		gates  []dispatch.Gate
		reason string
	}{
		{"a call that needs approval", []dispatch.Gate{&fakeGate{name: "permission"}}, "may it?. First, " + reload},
		{"a call that needs no approval", nil, "messages__export needs a reload of its page. First, " + reload},
	} {
		for _, isAllowed := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var choices []dispatch.TargetChoice
					var ranIn dispatch.Target
					d := dispatch.New(reloadingBrowser(&choices, &ranIn), dispatch.Options{Gates: tt.gates})
					var askedTickets []dispatch.WaitingTicket
					_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
						askedTickets = append(askedTickets, w)
						_, _ = d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: isAllowed, Surface: "a test"})
					}})
					if len(askedTickets) != 1 || askedTickets[0].Reason != tt.reason {
						t.Errorf("requests for approval = %+v, want one with the reason %q", askedTickets, tt.reason)
					}
					if e := asError(t, err); isAllowed && e != nil || !isAllowed && (e == nil || e.Code != wire.ErrDenied) {
						t.Errorf("the call ended with %v after the answer %t", err, isAllowed)
					}
					if hasRun := ranIn.TabID == 7; hasRun != isAllowed {
						t.Errorf("the tool ran in tab %d after the answer %t", ranIn.TabID, isAllowed)
					}
				})
			})
		}
	}
}

// A permission must not replace the user's approval of the tab's reload.
func TestPermissionDoesNotApproveReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isAuto := false
		gate := &fakeGate{name: "permission", decide: func(i dispatch.CallInfo) dispatch.Verdict {
			if isAuto {
				return dispatch.Verdict{}
			}
			return dispatch.Verdict{Suspend: &dispatch.Ticket{Kind: wire.TicketPermission, Reason: "may it?"}}
		}}
		var choices []dispatch.TargetChoice
		var ranIn dispatch.Target
		d := dispatch.New(reloadingBrowser(&choices, &ranIn), dispatch.Options{Gates: []dispatch.Gate{gate}})
		tickets := make(chan dispatch.WaitingTicket, 2)
		callErrors := make(chan error, 1)
		go func() {
			_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) { tickets <- w }})
			callErrors <- err
		}()
		<-tickets
		synctest.Wait()
		isAuto = true
		d.RecheckGates()
		w := <-tickets
		if !strings.HasPrefix(w.Reason, "messages__export needs a reload of its page.") {
			t.Errorf("the second request = %q, want the reload", w.Reason)
		}
		d.RecheckGates()
		time.Sleep(time.Second)
		if ranIn.TabID != 0 {
			t.Error("the tool ran without an approval of the reload")
		}
		if _, err := d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "a test"}); err != nil {
			t.Fatal(err)
		}
		if err := <-callErrors; err != nil || ranIn.TabID != 7 {
			t.Errorf("the call ended with %v in tab %d, want success in tab 7", err, ranIn.TabID)
		}
	})
}

func TestPreviewAllowsOpening(t *testing.T) {
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
		askCount := 0
		d := dispatch.New(bridge, dispatch.Options{Gates: []dispatch.Gate{&fakeGate{name: "permission"}}, MayOpenTab: func(string) bool { return true }})
		_, err := d.Call(t.Context(), dispatch.Call{Tool: tool, OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
			askCount++
			_, _ = d.Decide(w.CallID, w.TicketID, dispatch.Resolution{Allow: true, Surface: "a test"})
		}})
		if err != nil || askCount != 1 {
			t.Errorf("the call ended with %v after %d requests for approval, want success after 1", err, askCount)
		}
	})
}
