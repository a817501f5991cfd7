package browser

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
)

func newAutoApprovedFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
		t.Fatal(err)
	}
	return f
}

func clientOf(session string) dispatch.Client {
	return dispatch.Client{Session: session, Name: session}
}

func TestEndOfSessionReleasesHeldTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAutoApprovedFixture(t)
		var changeCount atomic.Int64
		f.tabHolds.OnChange(func(string) { changeCount.Add(1) })
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		time.Sleep(holdDuration - 5*time.Second)
		startedAt := time.Now()
		time.AfterFunc(2500*time.Millisecond, func() {
			changeCountBefore := changeCount.Load()
			f.sessions.End(clientOf("claude"))
			if changeCount.Load() == changeCountBefore { // the waiting client may already have caused another change
				t.Error("reported changes of holds at the end of a session = 0, want at least 1")
			}
		})
		f.mustRun(0, "cursor", "browser_click", `{"target":"e2"}`)
		if waitDuration := time.Since(startedAt); waitDuration != 2500*time.Millisecond {
			t.Errorf("waiting time of another client's click = %s, want 2.5 s", waitDuration)
		}
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 1 || heldTabs[0].Client != "cursor" {
			t.Errorf("held tabs after the end of a session = %+v, want tab 7 of cursor", heldTabs)
		}
	})
}

func TestEndOfSessionKeepsOtherSessionOfClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAutoApprovedFixture(t)
		f.output = `{"text":"Done.","tabId":7,"page":{"url":"https://shop.example/","title":"Cart"}}`
		f.mustRun(0, "claude 1", "browser_tabs", `{"action":"new","url":"https://shop.example/"}`)
		f.mustRun(0, "claude 2", "browser_tabs", `{"action":"new","url":"https://shop.example/"}`)
		f.mustRun(0, "claude 1", "browser_click", `{"target":"e1"}`)
		currentTab := func(session string) int {
			_, tabID := f.sessions.sessionStores[1].(*tabTable).currentTabOf(dispatch.Call{Client: clientOf(session)})
			return tabID
		}
		f.sessions.End(clientOf("claude 2"))
		if got := currentTab("claude 1"); got != 7 {
			t.Errorf("current tab of the remaining session = %d, want 7", got)
		}
		if got := currentTab("claude 2"); got != 0 {
			t.Errorf("current tab of the ended session = %d, want none", got)
		}
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 1 {
			t.Errorf("held tabs after the end of the other session = %+v, want tab 7", heldTabs)
		}
	})
}

func TestCurrentTabOfNamedBrowser(t *testing.T) {
	tabs := newTabs(nil)
	tabs.recordTabChange(dispatch.CallInfo{
		Client: clientOf("claude"), Tool: dispatch.Tool{Name: toolTabs}, Args: []byte(`{"action":"select"}`),
		Target: dispatch.Target{Browser: "3f2a9c10-77aa", BrowserName: "Work"},
	}, 7)
	for ref, want := range map[string]string{"": "3f2a9c10-77aa", "work": "work", "3f2a9c": "3f2a9c", "Home": "3f2a9c10-77aa"} {
		browser, tabID := tabs.currentTabOf(dispatch.Call{Client: clientOf("claude"), Browser: ref})
		if browser != want || tabID != 7 {
			t.Errorf("current tab of a call with the browser %q = tab %d of %q, want tab 7 of %q", ref, tabID, browser, want)
		}
	}
}

func TestEndOfSessionForgetsOpenedTabs(t *testing.T) {
	f := newAutoApprovedFixture(t)
	f.decision = allowOnce
	f.output = `{"text":"Done.","tabId":7,"page":{"url":"https://shop.example/","title":"Cart"}}`
	f.mustRun(0, "claude", "browser_tabs", `{"action":"new","url":"https://shop.example/"}`)
	f.mustRun(0, "claude", "browser_tabs", `{"action":"close"}`)
	f.mustRun(0, "claude", "browser_tabs", `{"action":"new","url":"https://shop.example/"}`)
	f.sessions.End(clientOf("claude"))
	f.mustRun(1, "claude", "browser_tabs", `{"action":"close"}`)
}

func TestEndOfSessionEndsApprovals(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	f.mustRun(1, "claude", "browser_snapshot", `{}`)
	f.mustRun(1, "cursor", "browser_snapshot", `{}`)
	f.sessions.End(clientOf("claude"))
	f.mustRun(0, "cursor", "browser_snapshot", `{}`)
	f.mustRun(1, "claude", "browser_snapshot", `{}`)
}

func TestStoppedClientStaysStoppedInNewSession(t *testing.T) {
	f := newAutoApprovedFixture(t)
	call := func(session string) error {
		_, err := f.calls.Call(f.t.Context(), dispatch.Call{
			Tool: f.tool("browser_click"), Args: []byte(`{"target":"e1"}`), TabID: 7, Client: dispatch.Client{Session: session, Name: "claude"},
			OnTicket: func(_ context.Context, w dispatch.WaitingTicket) {
				f.approvalReasons = append(f.approvalReasons, w.Reason)
				_, _ = f.calls.Decide(w.CallID, w.TicketID, allowOnce)
			},
		})
		return err
	}
	if err := call("s1"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.tabHolds.Release("b1", 7, "the side panel"); err != nil {
		t.Fatal(err)
	}
	f.sessions.End(dispatch.Client{Session: "s1", Name: "claude"})
	if err := call("s2"); err != nil {
		t.Fatal(err)
	}
	if len(f.approvalReasons) != 1 || !strings.Contains(f.approvalReasons[0], "where you stopped it") {
		t.Errorf("requests for approval of the next session = %q, want one about the stop", f.approvalReasons)
	}
}

func TestJobRunsAfterSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAutoApprovedFixture(t)
		var endedCalls []string
		f.sessions.OnEnd(func(session string) { endedCalls = append(endedCalls, session) })
		f.beforeResult = func() { f.sessions.End(clientOf("claude")) }
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		f.beforeResult = nil
		f.mustRun(0, "claude", "browser_click", `{"target":"e2"}`)
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []string{"claude", "claude", "claude"}; !slices.Equal(endedCalls, want) {
			t.Errorf("ended sessions of which browsers were notified = %q, want %q", endedCalls, want)
		}
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 0 {
			t.Errorf("held tabs after the calls of an ended session = %+v, want none", heldTabs)
		}
	})
}

// After a restart of the server, all earlier sessions have ended.
func TestUnknownSessionsCountAsEnded(t *testing.T) {
	f := newAutoApprovedFixture(t)
	f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
	f.mustRun(0, "claude", "browser_snapshot", `{}`)
	f.sessions.End(clientOf("unused"))
	if got, want := f.sessions.FilterEnded([]string{"claude", "earlier"}), []string{"earlier"}; !slices.Equal(got, want) {
		t.Errorf("sessions that FilterEnded returned = %q, want %q", got, want)
	}
	f.sessions.End(clientOf("claude"))
	if got, want := f.sessions.FilterEnded([]string{"claude"}), []string{"claude"}; !slices.Equal(got, want) {
		t.Errorf("sessions that FilterEnded returned after the end of a session = %q, want %q", got, want)
	}
}

func TestEndOfSessionlessClientReleasesTabs(t *testing.T) {
	f := newAutoApprovedFixture(t)
	sharedClient := dispatch.Client{Credential: dispatch.CredentialToken, Token: "laptop", Session: "without session: client laptop", IsSessionShared: true}
	for range 2 {
		call := dispatch.Call{Tool: f.tool("browser_click"), Args: []byte(`{"target":"e1"}`), TabID: 7, Client: sharedClient}
		if _, err := f.calls.Call(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if toolRun := f.toolRuns[len(f.toolRuns)-1]; !strings.Contains(string(toolRun.Args), `"_session":"client laptop"`) {
			t.Errorf("arguments that the browser received = %s, want the session \"client laptop\"", toolRun.Args)
		}
		if got := f.sessions.FilterEnded([]string{"client laptop"}); len(got) != 0 {
			t.Errorf("ended sessions while the client still makes calls = %q, want none", got)
		}
		f.sessions.End(sharedClient)
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 0 {
			t.Errorf("held tabs after the removal of the token = %+v, want none", heldTabs)
		}
	}
}

func TestSessionArgumentOfClientIsRemoved(t *testing.T) {
	f := newAutoApprovedFixture(t)
	_, err := f.calls.Call(t.Context(), dispatch.Call{Tool: f.tool("browser_click"), Args: []byte(`{"target":"e1","_session":"cursor"}`), TabID: 7, Client: clientOf("claude")})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(f.toolRuns[0].Args); strings.Contains(got, "cursor") || !strings.Contains(got, `"_session":"claude"`) {
		t.Errorf("arguments that the browser received = %s, want the session claude", got)
	}
}
