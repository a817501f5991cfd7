package dispatch_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

func TestCallInUnresponsivePage(t *testing.T) {
	for _, isPageAnswering := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			startTime := time.Now()
			bridge := &dispatchtest.Bridge{TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
				targets := []dispatch.Target{dispatchtest.DefaultTarget}
				if time.Since(startTime) < 5*time.Second || isPageAnswering {
					return dispatch.Targets{BrowserCount: 1, LiveTargets: targets}
				}
				return dispatch.Targets{BrowserCount: 1, UnresponsiveTargets: targets}
			}}
			d := dispatch.New(bridge, dispatch.Options{})
			callEnded := make(chan error, 2)
			for _, name := range []string{"spin", "wait"} {
				go func() {
					_, err := d.Call(context.Background(), dispatch.Call{Tool: dispatch.Tool{Plugin: "demo", Name: name}})
					callEnded <- err
				}()
				synctest.Wait()
				<-time.After(time.Second)
			}
			for range 2 {
				errorMessage := (<-callEnded).Error()
				if isPageAnswering {
					if !strings.Contains(errorMessage, "no progress and no result for 30") {
						t.Error(errorMessage)
					}
					continue
				}
				for _, want := range []string{
					"the page of tab 7 does not respond", string(wire.ErrPageUnresponsive), "demo__spin (call_", "demo__wait (call_", "reload-tab",
				} {
					if !strings.Contains(errorMessage, want) {
						t.Errorf("error of the call = %q, want a text that contains %q", errorMessage, want)
					}
				}
			}
			if runTime := time.Since(startTime); runTime != 31*time.Second {
				t.Errorf("the calls ended after %v, want 31 s", runTime)
			}
		})
	}
}

func TestNoCallStartsInUnresponsivePage(t *testing.T) {
	bridge := &dispatchtest.Bridge{TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
		return dispatch.Targets{BrowserCount: 1, UnresponsiveTargets: []dispatch.Target{dispatchtest.DefaultTarget}}
	}}
	_, err := dispatch.New(bridge, dispatch.Options{}).Call(t.Context(), dispatch.Call{Tool: dispatch.Tool{Plugin: "demo", Name: "wait"}})
	if err == nil || !strings.Contains(err.Error(), "demo is open, but its page does not answer (tab 7 of") ||
		!strings.Contains(err.Error(), string(wire.ErrPageUnresponsive)) {
		t.Errorf("error of a call in a page that does not answer = %v, want page_unresponsive", err)
	}
}

func TestCallInAFrozenPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		startTime := time.Now()
		bridge := &dispatchtest.Bridge{TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
			target, otherTarget := dispatchtest.DefaultTarget, dispatchtest.DefaultTarget
			target.IsFrozen = time.Since(startTime) > 5*time.Second
			otherTarget.TabID, otherTarget.IsFrozen = target.TabID+1, true
			return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{target, otherTarget}}
		}}
		d := dispatch.New(bridge, dispatch.Options{})
		_, err := d.Call(context.Background(), dispatch.Call{Tool: dispatch.Tool{Plugin: "demo", Name: "wait"}})
		if err == nil {
			t.Fatal("a call in a frozen page succeeded, want an error")
		}
		for _, want := range []string{
			"no progress and no result for 30", "the browser has suspended tab 7", "may have taken effect", string(wire.ErrTabFrozen), "show the tab or to reload it",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error of the call = %q, want a text that contains %q", err, want)
			}
		}
		if runTime := time.Since(startTime); runTime != 30*time.Second {
			t.Errorf("the call ended after %v, want 30 s", runTime)
		}
	})
}
