package dispatch_test

import (
	"context"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

func TestChooseTarget(t *testing.T) {
	homeTab := func(tab int) dispatch.Target {
		return dispatch.Target{Browser: "b1", BrowserName: "Home", TabID: tab, DocumentID: "d", URL: "http://localhost/"}
	}
	workTab := func(tab int) dispatch.Target {
		return dispatch.Target{Browser: "b2", BrowserName: "Work", TabID: tab, DocumentID: "d", URL: "http://localhost/w"}
	}
	withReadiness := func(t dispatch.Target, r dispatch.Readiness) dispatch.Target {
		t.Readiness = r
		return t
	}
	brokenTab := func(tab int, problemText string) dispatch.Target {
		t := homeTab(tab)
		t.Problem = problemText
		return t
	}
	site := func(t dispatch.Target, url string) dispatch.Target {
		t.URL = url
		return t
	}
	frame := func(t dispatch.Target) dispatch.Target {
		t.FrameID, t.DocumentID = 3, "f"
		return t
	}
	type targets = []dispatch.Target
	instances := []dispatch.Instance{{Name: "work", URL: "https://wiki.corp"}, {Name: "home", URL: "http://127.0.0.1:8090/wiki"}}
	workTarget := site(homeTab(7), "https://wiki.corp/%zz?q=1")
	homeTarget := site(homeTab(8), "http://localhost:8090/page")
	browsers := targets{{Browser: "b1", BrowserName: "Home"}, {Browser: "b2", BrowserName: "Work"}}
	bothInstanceTargets := dispatch.Targets{BrowserCount: 2, LiveTargets: targets{homeTab(7), homeTab(8), workTab(8), workTab(9)}}
	tests := []struct {
		name      string
		targets   dispatch.Targets
		call      dispatch.Call
		want      string
		wantTab   int
		code      wire.ErrorCode
		wantError string
	}{
		{"no browser", dispatch.Targets{}, dispatch.Call{}, "", 0, wire.ErrNoBrowser, "no browser"},
		{"no tab", dispatch.Targets{BrowserCount: 1}, dispatch.Call{}, "", 0, wire.ErrNoTab, "no open tab shows Messages (*://localhost/*)"},
		{"tabs of two browsers need a reload", dispatch.Targets{BrowserCount: 2, TabsToReload: targets{homeTab(7), workTab(8)}}, dispatch.Call{}, "", 0, wire.ErrNoTab,
			`Name one of these tabs as "tabId" and its browser as "browser", then retry`},
		{"broken", dispatch.Targets{BrowserCount: 1, BrokenTabs: targets{brokenTab(7, "it threw")}}, dispatch.Call{}, "", 0, wire.ErrPluginBroken, "did not start in its page: it threw; none of its tools can run in tab 7"},
		{"broken, others need a reload", dispatch.Targets{BrowserCount: 1, BrokenTabs: targets{brokenTab(7, "it threw")}, TabsToReload: targets{homeTab(8)}}, dispatch.Call{}, "", 0, wire.ErrPluginBroken, "it threw"},
		{"broken only in a tab that is not wanted", dispatch.Targets{BrowserCount: 2, BrokenTabs: targets{brokenTab(7, "it threw")}, TabsToReload: targets{homeTab(8), workTab(8)}}, dispatch.Call{TabID: 8}, "", 0, wire.ErrNoTab, "loaded before the plugin"},
		{"the best", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{homeTab(7), homeTab(8)}}, dispatch.Call{}, "b1", 7, "", ""},
		{"tab named", bothInstanceTargets, dispatch.Call{TabID: 9}, "b2", 9, "", ""},
		{"browser named by name", bothInstanceTargets, dispatch.Call{Browser: "Work"}, "b2", 8, "", ""},
		{"browser named by id", bothInstanceTargets, dispatch.Call{Browser: "b1", TabID: 8}, "b1", 8, "", ""},
		{"two browsers", bothInstanceTargets, dispatch.Call{}, "", 0, wire.ErrAmbiguousTarget, `tab 7 of browser "Home", id b1`},
		// Tabs of two different browsers can have the same tab ID.
		{"one tab id in two browsers", bothInstanceTargets, dispatch.Call{TabID: 8}, "", 0, wire.ErrAmbiguousTarget, "several browsers have a tab 8"},
		{"a tab and its frame are one tab", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{homeTab(7), frame(homeTab(7))}}, dispatch.Call{TabID: 7}, "b1", 7, "", ""},
		{"unknown tab", bothInstanceTargets, dispatch.Call{TabID: 99}, "", 0, wire.ErrNoTab, "these do: tab 7"},
		{"unknown browser", bothInstanceTargets, dispatch.Call{Browser: "Phone"}, "", 0, wire.ErrNoTab, "these do: tab 7"},
		{"the error describes a frame as a frame", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{frame(homeTab(7))}}, dispatch.Call{TabID: 99}, "", 0, wire.ErrNoTab, "frame 3 of tab 7"},

		{"two browsers, one of which is not ready",
			dispatch.Targets{BrowserCount: 2, LiveTargets: targets{withReadiness(workTab(8), dispatch.ReadinessReady), withReadiness(homeTab(7), dispatch.ReadinessNotReady)}},
			dispatch.Call{}, "b2", 8, "", ""},
		{"two browsers, one of which may be ready",
			dispatch.Targets{BrowserCount: 2, LiveTargets: targets{withReadiness(workTab(8), dispatch.ReadinessReady), homeTab(7)}},
			dispatch.Call{}, "", 0, wire.ErrAmbiguousTarget, "tabs of several browsers match"},
		{"two browsers that are not ready",
			dispatch.Targets{BrowserCount: 2, LiveTargets: targets{withReadiness(workTab(8), dispatch.ReadinessNotReady), withReadiness(homeTab(7), dispatch.ReadinessNotReady)}},
			dispatch.Call{}, "", 0, wire.ErrAmbiguousTarget, "tabs of several browsers match"},

		{"two instances", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{workTarget, homeTarget}}, dispatch.Call{}, "", 0, wire.ErrAmbiguousTarget,
			`tabs of several instances match: "work" in tab 7 of browser "Home", id b1 (https://wiki.corp/%zz?q=1), "home" in tab 8`},
		{"one of two instances is open", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{homeTarget}}, dispatch.Call{}, "b1", 8, "", ""},
		{"one of two instances is ready", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{withReadiness(homeTarget, dispatch.ReadinessReady), withReadiness(workTarget, dispatch.ReadinessNotReady)}},
			dispatch.Call{}, "b1", 8, "", ""},
		{"a named instance", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{homeTarget, workTarget}}, dispatch.Call{Instance: "work"}, "b1", 7, "", ""},
		{"an instance on this machine", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{workTarget, homeTarget}}, dispatch.Call{Instance: "home"}, "b1", 8, "", ""},
		{"the port of an instance counts", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{site(homeTab(8), "http://localhost:8091/")}},
			dispatch.Call{Instance: "home"}, "", 0, wire.ErrNoTab, "these do: tab 8"},
		{"an instance that is not open", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{workTarget}}, dispatch.Call{Instance: "home"}, "", 0, wire.ErrNoTab, "these do: tab 7"},
		{"an unknown instance", dispatch.Targets{BrowserCount: 1, LiveTargets: targets{workTarget}}, dispatch.Call{Instance: "hone"}, "", 0, wire.ErrInvalidArguments,
			`Messages has no instance "hone"; it has "work" (https://wiki.corp), "home"`},

		{"a tab was opened, but the plugin did not start in it", dispatch.Targets{BrowserCount: 1, OpenedTab: &workTarget}, dispatch.Call{}, "", 0, wire.ErrNoTab,
			"tab 7 of browser \"Home\", id b1 (https://wiki.corp/%zz?q=1) was opened for the call"},
		{"an opened page can't be loaded", dispatch.Targets{BrowserCount: 1, OpenedTab: &workTarget, ErrorPages: targets{brokenTab(8, "net::ERR_FAILED"), brokenTab(7, "net::ERR_CERT_DATE_INVALID")}},
			dispatch.Call{}, "", 0, wire.ErrNoTab,
			"was opened for the call, but its page can't be loaded: Chrome does not accept the site's certificate (net::ERR_CERT_DATE_INVALID); open the tab"},
		{"a page can't be loaded", dispatch.Targets{BrowserCount: 1, ErrorPages: targets{brokenTab(8, "net::ERR_NAME_NOT_RESOLVED")}}, dispatch.Call{}, "", 0, wire.ErrNoTab,
			"the name of the site was not found (net::ERR_NAME_NOT_RESOLVED); check the site's address and the network connection"},
		{"a page can't be loaded for an unusual reason", dispatch.Targets{BrowserCount: 1, ErrorPages: targets{brokenTab(8, "net::ERR_FAILED")}}, dispatch.Call{}, "", 0, wire.ErrNoTab,
			"Chrome reports net::ERR_FAILED; check the tab"},
		{"another tab can't be loaded", dispatch.Targets{BrowserCount: 1, ErrorPages: targets{brokenTab(8, "net::ERR_FAILED")}}, dispatch.Call{TabID: 9}, "", 0, wire.ErrNoTab, "no open tab shows Messages"},
		{"two browsers could open a tab", dispatch.Targets{BrowserCount: 2, BrowsersToOpen: browsers}, dispatch.Call{}, "", 0, wire.ErrAmbiguousTarget,
			`several browsers could open one: browser "Home", id b1, browser "Work", id b2; name one of the browsers`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got dispatch.Target
			d := dispatch.New(&dispatchtest.Bridge{
				TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets { return tt.targets },
				StartFunc: func(_ context.Context, toolRun dispatch.Run, s dispatch.Sink) *wire.CallError {
					got = toolRun.Target
					s.Finish(nil, nil)
					return nil
				},
			}, dispatch.Options{})
			tt.call.Tool = exportTool
			tt.call.Tool.Instances = instances
			_, err := d.Call(t.Context(), tt.call)
			if tt.code == "" {
				if err != nil || got.Browser != tt.want || got.TabID != tt.wantTab {
					t.Errorf("the call ran in %+v and ended with the error %v; want tab %d of the browser %s and no error", got, err, tt.wantTab, tt.want)
				}
				return
			}
			if e := toDispatchError(t, err); e == nil || e.Code != tt.code || !contains(e.Message, tt.wantError) {
				t.Errorf("error of the call = %v, want %s with the text %q", err, tt.code, tt.wantError)
			}
		})
	}
}

func TestCallOpensTab(t *testing.T) {
	const startURL, wikiURL = "https://example.com/start", "https://wiki.corp/home"
	tests := []struct {
		call       dispatch.Call
		mayOpenTab bool
		want       string
	}{
		{dispatch.Call{}, true, startURL},
		{dispatch.Call{}, false, ""},
		{dispatch.Call{TabID: 7}, true, ""},
		{dispatch.Call{Browser: "b1"}, true, startURL},
		{dispatch.Call{Instance: "work"}, true, wikiURL},
		{dispatch.Call{Instance: "work"}, false, ""},
	}
	for _, tt := range tests {
		var got dispatch.TargetChoice
		d := dispatch.New(&dispatchtest.Bridge{TargetsFunc: func(w dispatch.TargetChoice) dispatch.Targets {
			got = w
			return dispatch.Targets{BrowserCount: 1}
		}}, dispatch.Options{MayOpenTab: func(plugin string) bool { return tt.mayOpenTab && plugin == exportTool.Plugin }})
		tt.call.Tool = exportTool
		tt.call.Tool.OpenURL, tt.call.Tool.Instances = startURL, []dispatch.Instance{{Name: "work", URL: wikiURL}}
		if _, err := d.Call(t.Context(), tt.call); err == nil || got.URLToOpen != tt.want {
			t.Errorf("URL that the call %+v opens = %q, want %q; error %v", tt.call, got.URLToOpen, tt.want, err)
		}
	}
}

type failingGate struct{ t *testing.T }

func (failingGate) Name() string { return "failing" }

func (g failingGate) Decide(i dispatch.CallInfo) dispatch.Verdict {
	g.t.Errorf("the gate ran for the call %+v, want no gate before the instance is checked", i)
	return dispatch.Verdict{}
}

func TestUnknownInstanceSkipsTheGates(t *testing.T) {
	d := dispatch.New(&dispatchtest.Bridge{}, dispatch.Options{Gates: []dispatch.Gate{failingGate{t}}})
	_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Instance: "work"})
	if e := toDispatchError(t, err); e == nil || e.Code != wire.ErrInvalidArguments || !contains(e.Message, "it has none") {
		t.Errorf("error of a call with an unknown instance = %v, want invalid_arguments with the text: it has none", err)
	}
}
