package browsernames

import (
	"slices"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
)

func fakeTargets(readiness dispatch.Readiness, browsers ...string) (targets []dispatch.Target) {
	for _, b := range browsers {
		targets = append(targets, dispatch.Target{Browser: b, BrowserName: b, TabID: 1, Readiness: readiness})
	}
	return targets
}

// TestPreferDefaultBrowser checks which browsers can run a call of the MCP client Cursor, whose default
// browser is "b".
func TestPreferDefaultBrowser(t *testing.T) {
	s, _ := openTestStore(t)
	for _, id := range []string{"a", "b", "c"} {
		s.NameOf(id, id, false)
	}
	if _, err := s.SetDefault("cursor", "b"); err != nil {
		t.Fatal(err)
	}
	cursor := dispatch.Client{Name: "Cursor 1.2.3"}
	for name, c := range map[string]struct {
		targetChoice dispatch.TargetChoice
		liveTargets  []dispatch.Target
		want         []string
	}{
		"several browsers":           {dispatch.TargetChoice{Client: cursor}, fakeTargets(dispatch.ReadinessReady, "a", "b", "c"), []string{"b"}},
		"client named by its token":  {dispatch.TargetChoice{Client: dispatch.Client{Token: "cursor"}}, fakeTargets(dispatch.ReadinessReady, "a", "b"), []string{"b"}},
		"client without a default":   {dispatch.TargetChoice{Client: dispatch.Client{Name: "Zed"}}, fakeTargets(dispatch.ReadinessReady, "a", "b"), []string{"a", "b"}},
		"default has no tab":         {dispatch.TargetChoice{Client: cursor}, fakeTargets(dispatch.ReadinessReady, "a", "c"), []string{"a", "c"}},
		"default is not logged in":   {dispatch.TargetChoice{Client: cursor}, append(fakeTargets(dispatch.ReadinessReady, "a"), fakeTargets(dispatch.ReadinessNotReady, "b")...), []string{"a", "b"}},
		"no browser is logged in":    {dispatch.TargetChoice{Client: cursor}, fakeTargets(dispatch.ReadinessNotReady, "a", "b"), []string{"b"}},
		"the call names a browser":   {dispatch.TargetChoice{Client: cursor, Browser: "a"}, fakeTargets(dispatch.ReadinessReady, "a", "b"), []string{"a", "b"}},
		"tab ID in both browsers":    {dispatch.TargetChoice{Client: cursor, TabID: 1}, fakeTargets(dispatch.ReadinessReady, "a", "b"), []string{"b"}},
		"tab ID in neither browser":  {dispatch.TargetChoice{Client: cursor, TabID: 2}, fakeTargets(dispatch.ReadinessReady, "a", "b"), []string{"a", "b"}},
		"instance of another server": {dispatch.TargetChoice{Client: cursor, Sites: []string{"https://x.example"}}, fakeTargets(dispatch.ReadinessReady, "a", "b"), []string{"a", "b"}},
	} {
		bridge := &dispatchtest.Bridge{TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
			// Like a real bridge, the simulated bridge returns all browsers in which the call could open a tab.
			return dispatch.Targets{LiveTargets: c.liveTargets, BrowsersToOpen: fakeTargets(dispatch.ReadinessUnknown, "a", "b")}
		}}
		var got []string
		for _, target := range PreferDefaultBrowser(bridge, s).Targets(t.Context(), c.targetChoice).LiveTargets {
			got = append(got, target.Browser)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("browsers for a call with %s = %q, want %q", name, got, c.want)
		}
	}
}

func TestTabOpensInDefaultBrowser(t *testing.T) {
	s, _ := openTestStore(t)
	s.NameOf("b", "B", false)
	if _, err := s.SetDefault("", "B"); err != nil {
		t.Fatal(err)
	}
	var requestedBrowsers []string
	bridge := &dispatchtest.Bridge{TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
		requestedBrowsers = append(requestedBrowsers, targetChoice.Browser)
		if targetChoice.Browser == "" {
			return dispatch.Targets{BrowsersToOpen: fakeTargets(dispatch.ReadinessUnknown, "a", "b")}
		}
		return dispatch.Targets{LiveTargets: fakeTargets(dispatch.ReadinessReady, targetChoice.Browser)}
	}}
	targets := PreferDefaultBrowser(bridge, s).Targets(t.Context(), dispatch.TargetChoice{})
	if len(targets.LiveTargets) != 1 || targets.LiveTargets[0].Browser != "b" || !slices.Equal(requestedBrowsers, []string{"", "b"}) {
		t.Errorf("targets of a call that opens a tab = %+v after %q, want a tab in browser b", targets.LiveTargets, requestedBrowsers)
	}
}
