package browser

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

func TestHeldTabBlocksOtherClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 1 || heldTabs[0].TabID != 7 || heldTabs[0].Site != "https://shop.example" || heldTabs[0].Client != "claude" || !heldTabs[0].EndsAt.Equal(time.Now().Add(holdDuration)) {
			t.Errorf("held tabs after the client's first click = %+v, want tab 7", heldTabs)
		}
		time.Sleep(20 * time.Second)
		f.wantError(wire.ErrTabInUse, ", for 41 s more; open a tab of your own, or wait", "cursor", "browser_click", `{"target":"e1"}`)
		f.mustRun(0, "cursor", "browser_snapshot", `{}`)
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		time.Sleep(holdDuration)
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 0 {
			t.Errorf("held tabs after %s = %+v, want none", holdDuration, heldTabs)
		}
		f.mustRun(0, "cursor", "browser_click", `{"target":"e1"}`)
		f.wantError(wire.ErrTabInUse, "cursor uses tab 7", "claude", "browser_click", `{"target":"e1"}`)
	})
}

func TestUserTakesTabBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		const clickArgs = `{"target":"e1"}`
		f.mustRun(0, "claude", "browser_click", clickArgs)
		time.Sleep(time.Second)
		f.tabHolds.RecordUserInput("b1", 7)
		time.Sleep(3 * time.Second)
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 1 || !heldTabs[0].IsTakenBack {
			t.Errorf("held tabs after the user's input = %+v, want tab 7, taken back by the user", heldTabs)
		}
		f.wantError(wire.ErrTabTaken, "the user took tab 7 back by a click or a key 3 s ago, and you have not read the page since", "claude", "browser_click", clickArgs)
		f.wantError(wire.ErrTabTaken, "took tab 7 back", "claude", "browser_navigate", `{"url":"https://shop.example/"}`)
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.mustRun(0, "claude", "browser_click", clickArgs)
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 1 || heldTabs[0].IsTakenBack {
			t.Errorf("held tabs after the client's next click = %+v, want tab 7, not taken back", heldTabs)
		}

		f.tabHolds.RecordUserInput("b1", 7)
		time.Sleep(time.Second)
		f.mustRun(0, "claude", "browser_find", `{"text":"x"}`)
		f.tabHolds.RecordUserInput("b1", 7)
		time.Sleep(time.Second)
		f.wantError(wire.ErrTabTaken, "took tab 7 back", "claude", "browser_click", clickArgs)
		f.mustRun(0, "cursor", "browser_click", clickArgs)
	})
}

func TestUserInputInFreeTabIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		var changeCount atomic.Int32
		f.tabHolds.OnChange(func(string) { changeCount.Add(1) })
		f.tabHolds.RecordUserInput("b1", 7)
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.tabHolds.RecordUserInput("b1", 7)
		if got := changeCount.Load(); got != 0 {
			t.Errorf("reported changes of holds without an acting call = %d, want 0", got)
		}
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		time.Sleep(holdDuration)
		f.tabHolds.RecordUserInput("b1", 7)
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		time.Sleep(time.Second)
		if got := changeCount.Load(); got != 4 {
			t.Errorf("reported changes of holds after 2 clicks = %d, want 4: the start and the end of each click", got)
		}
	})
}

// If a page read began before the user's input, the client still must not act in the tab.
func TestUserInputDuringReadBlocksNextAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		simulateUserInput := func() {
			time.Sleep(time.Second)
			f.tabHolds.RecordUserInput("b1", 7)
		}
		f.beforeResult = simulateUserInput
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.beforeResult = nil
		f.wantError(wire.ErrTabTaken, "took tab 7 back", "claude", "browser_click", `{"target":"e1"}`)
		time.Sleep(time.Second)
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.beforeResult = simulateUserInput
		const want = "The user clicked or typed in this tab meanwhile"
		if got := f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`); !strings.Contains(got, want) {
			t.Errorf("result of a click during user input = %q, want a result that contains %q", got, want)
		}
		f.beforeResult = nil
		if got, err := f.call("claude", "browser_batch", `{"steps":[{"tool":"browser_click","args":{"target":"e1"}},{"tool":"browser_snapshot"}]}`); err == nil && !strings.Contains(got, "tab_taken") {
			t.Errorf("a batch after the user's input returned %q, want tab_taken", got)
		}
	})
}

func TestReleaseCancelsCallsOfClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		const clickArgs = `{"target":"e1"}`
		if _, err := f.tabHolds.Release("b1", 7, "the side panel"); err == nil || err.Error() != "no client uses tab 7" {
			t.Errorf("error of Release for a tab that no client holds = %v, want no client uses tab 7", err)
		}
		stopClient := func() {
			if client, err := f.tabHolds.Release("b1", 7, "the side panel"); err != nil || client != "claude" {
				t.Errorf("Release returned the client %q and the error %v, want claude and no error", client, err)
			}
		}
		f.beforeResult = stopClient
		const wantCancelled = "cancelled by the side panel: the user stopped you in this tab"
		if _, err := f.call("claude", "browser_click", clickArgs); err == nil || !strings.Contains(err.Error(), wantCancelled) {
			t.Errorf("error of the click that ran during Release = %v, want a text that contains %q", err, wantCancelled)
		}
		f.beforeResult = nil
		if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 0 {
			t.Errorf("held tabs after the release = %+v, want none", heldTabs)
		}
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.mustRun(0, "cursor", "browser_click", clickArgs)
		time.Sleep(holdDuration)

		f.wantError(wire.ErrDenied, "the user denied it", "claude", "browser_click", clickArgs)
		const want = "claude wants to act on https://shop.example again, in tab 7, where you stopped it"
		if got := f.approvalReasons[len(f.approvalReasons)-1]; got != want {
			t.Errorf("request for approval after the release = %q, want %q", got, want)
		}
		f.decision = dispatch.Resolution{Allow: true, Surface: "x"}
		f.mustRun(1, "claude", "browser_click", clickArgs)
		f.mustRun(0, "claude", "browser_click", clickArgs)
	})
}

func TestReleaseStopsQueuedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		f.beforeResult = func() {
			time.Sleep(time.Second)
			if _, err := f.tabHolds.Release("b1", 7, "the side panel"); err != nil {
				t.Error(err)
			}
		}
		go func() { _, _ = f.call("claude", "browser_click", `{"target":"e1"}`) }()
		synctest.Wait()
		f.wantError(wire.ErrDenied, "the user stopped you in tab 7", "claude", "browser_click", `{"target":"e2"}`)
		if len(f.toolRuns) != 1 {
			t.Errorf("tool runs after the release = %d, want 1: the queued click must not start", len(f.toolRuns))
		}
	})
}

func TestCallWaitsUntilHoldEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		const clickArgs = `{"target":"e1"}`
		f.mustRun(0, "claude", "browser_click", clickArgs)
		time.Sleep(holdDuration - maxHoldWait - time.Millisecond)
		f.wantError(wire.ErrTabInUse, "claude uses tab 7 and holds it until ", "cursor", "browser_click", clickArgs)
		time.Sleep(5 * time.Second)

		startTime := time.Now()
		f.mustRun(0, "cursor", "browser_click", clickArgs)
		if waitDuration := time.Since(startTime); waitDuration < 5*time.Second || waitDuration > 6*time.Second {
			t.Errorf("the click waited for %v, want 5 s, the remaining time of the hold", waitDuration)
		}
		want := []string{"waiting for tab 7: claude uses it for 6 s more", "waiting for tab 7: claude uses it for 1 s more"}
		if got := f.progress; len(got) < 5 || got[0] != want[0] || got[len(got)-1] != want[1] {
			t.Errorf("progress of the waiting click = %q, want messages from %q to %q", got, want[0], want[1])
		}

		time.Sleep(holdDuration - 3*time.Second)
		waitErrors := make(chan error, 1)
		go func() {
			_, err := f.call("claude", "browser_click", clickArgs)
			waitErrors <- err
		}()
		time.Sleep(time.Second / 2)
		f.mustRun(0, "cursor", "browser_click", clickArgs)
		if err := <-waitErrors; err == nil || !strings.Contains(err.Error(), "tab_in_use") {
			t.Errorf("error of a click that waited while the holder acted again = %v, want tab_in_use", err)
		}

		time.Sleep(holdDuration - 5*time.Second)
		startTime = time.Now()
		time.AfterFunc(time.Second/2, func() { f.tabHolds.RecordUserInput("b1", 7) })
		f.mustRun(0, "claude", "browser_click", clickArgs)
		if waitDuration := time.Since(startTime); waitDuration > time.Second+time.Second/2 {
			t.Errorf("the click waited for %v after the user took the tab back, want about 1 s", waitDuration)
		}
	})
}

func TestLongCallKeepsItsTabHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		const clickArgs = `{"target":"e1"}`
		sendTypingReports := func() {
			for range 12 {
				f.sink.Reports([]wire.Report{{Message: "typing"}}, 0)
				time.Sleep(10 * time.Second)
			}
		}
		f.beforeResult = func() {
			sendTypingReports()
			if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 1 || !heldTabs[0].EndsAt.Equal(time.Now().Add(holdDuration)) {
				t.Errorf("held tabs during a long click = %+v, want tab 7 until a minute from now", heldTabs)
			}
			f.tabHolds.RecordUserInput("b1", 7)
		}
		f.mustRun(0, "claude", "browser_click", clickArgs)
		f.beforeResult = nil
		f.wantError(wire.ErrTabTaken, "took tab 7 back", "claude", "browser_click", clickArgs)
		time.Sleep(time.Second)
		f.mustRun(0, "claude", "browser_snapshot", `{}`)
		f.beforeResult = sendTypingReports
		f.mustRun(0, "claude", "browser_click", clickArgs)
		f.beforeResult = nil
		time.Sleep(holdDuration / 2)
		f.wantError(wire.ErrTabInUse, "claude uses tab 7", "cursor", "browser_click", clickArgs)
		f.beforeResult = func() {
			sendTypingReports()
			if _, err := f.tabHolds.Release("b1", 7, "the side panel"); err != nil {
				t.Errorf("Release during a long click returned the error %v, want nil", err)
			}
		}
		if _, err := f.call("claude", "browser_click", clickArgs); err == nil || !strings.Contains(err.Error(), "the user stopped you") {
			t.Errorf("error of a long click after Release = %v, want a text that contains: the user stopped you", err)
		}
	})
}

// The acting step of the batch must fail, because the client chose the batch's steps before it saw the page.
func TestBatchCannotActAfterUserInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		if err := f.rules.Set("shop.example", policy.SiteAuto, "x"); err != nil {
			t.Fatal(err)
		}
		const click = `{"tool":"browser_click","args":{"target":"e1","tabId":7}}`
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
		time.Sleep(time.Second)
		f.tabHolds.RecordUserInput("b1", 7)
		time.Sleep(time.Second)
		steps := `{"steps":[{"tool":"browser_snapshot","args":{"tabId":7}},` + click + `]}`
		if _, err := f.call("claude", toolBatch, steps); err == nil || !strings.Contains(err.Error(), "step 2 of 2, browser_click: browser_click failed: the user took tab 7 back") || !strings.Contains(err.Error(), "Read the page again") {
			t.Errorf("error of a batch that reads and acts after the user's input = %v, want tab_taken in step 2", err)
		}
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)

		f.tabHolds.RecordUserInput("b1", 7)
		time.Sleep(time.Second)
		if _, err := f.call("claude", toolBatch, `{"steps":[{"tool":"browser_snapshot","args":{"tabId":7}}]}`); err != nil {
			t.Errorf("error of a batch that only reads = %v, want nil", err)
		}
		f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
	})
}

// Every client can read a held tab, also with an acting tool if the tool's action only reads, such
// as "list".
func TestReadingActionsDoNotHoldTabs(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	f.setRule("shop.example", policy.SiteAuto)
	f.mustRun(0, "cursor", "browser_performance", `{"action":"start"}`)
	if heldTabs := f.tabHolds.HeldTabs(); len(heldTabs) != 0 {
		t.Errorf("held tabs after a read = %+v, want none of the reading client", heldTabs)
	}
	f.mustRun(0, "claude", "browser_click", `{"target":"e1"}`)
	f.mustRun(0, "cursor", "browser_performance", `{"action":"start"}`)
	f.wantError(wire.ErrTabInUse, "claude uses tab 7", "cursor", "browser_performance", `{"action":"start","reload":true}`)
	f.wantError(wire.ErrTabInUse, "claude uses tab 7", "cursor", "browser_route", `{"action":"add","pattern":"*"}`)
}
