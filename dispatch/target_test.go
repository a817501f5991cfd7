package dispatch_test

import (
	"context"
	"testing"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

func TestChoiceOfTarget(t *testing.T) {
	home := func(tab int) dispatch.Target {
		return dispatch.Target{Browser: "b1", BrowserName: "Home", TabID: tab, DocumentID: "d", URL: "http://localhost/"}
	}
	work := func(tab int) dispatch.Target {
		return dispatch.Target{Browser: "b2", BrowserName: "Work", TabID: tab, DocumentID: "d", URL: "http://localhost/w"}
	}
	both := dispatch.Targets{Browsers: 2, Live: []dispatch.Target{home(7), home(8), work(8), work(9)}}
	tests := []struct {
		name    string
		targets dispatch.Targets
		browser string
		tab     int
		want    string // browser of the run
		wantTab int
		code    wire.ErrorCode
		text    string
	}{
		{"no browser", dispatch.Targets{}, "", 0, "", 0, wire.ErrNoBrowser, "no browser"},
		{"no tab", dispatch.Targets{Browsers: 1}, "", 0, "", 0, wire.ErrNoTab, "no open tab shows Messages (*://localhost/*)"},
		{"needs reload", dispatch.Targets{Browsers: 1, NeedReload: []dispatch.Target{home(7)}}, "", 0, "", 0, wire.ErrNoTab, "reload the tab"},
		{"the best", dispatch.Targets{Browsers: 1, Live: []dispatch.Target{home(7), home(8)}}, "", 0, "b1", 7, "", ""},
		{"tab named", both, "", 9, "b2", 9, "", ""},
		{"browser named by name", both, "Work", 0, "b2", 8, "", ""},
		{"browser named by id", both, "b1", 8, "b1", 8, "", ""},
		{"two browsers", both, "", 0, "", 0, wire.ErrAmbiguousTarget, `tab 7 of browser "Home", id b1`},
		{"one tab id in two browsers", both, "", 8, "", 0, wire.ErrAmbiguousTarget, "several browsers have a tab 8"},
		{"unknown tab", both, "", 99, "", 0, wire.ErrNoTab, "these do: tab 7"},
		{"unknown browser", both, "Phone", 0, "", 0, wire.ErrNoTab, "these do: tab 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got dispatch.Target
			d := dispatch.New(&dispatchtest.Bridge{
				TargetsFunc: func(string) dispatch.Targets { return tt.targets },
				StartFunc: func(_ context.Context, run dispatch.Run, s dispatch.Sink) *wire.CallError {
					got = run.Target
					s.Finish(nil, nil)
					return nil
				},
			}, dispatch.Options{})
			_, err := d.Call(t.Context(), dispatch.Call{Tool: exportTool, Browser: tt.browser, TabID: tt.tab})
			if tt.code == "" {
				if err != nil || got.Browser != tt.want || got.TabID != tt.wantTab {
					t.Errorf("ran in %+v with %v", got, err)
				}
				return
			}
			if e := asError(t, err); e == nil || e.Code != tt.code || !contains(e.Message, tt.text) {
				t.Errorf("error %v, want %s with %q", err, tt.code, tt.text)
			}
		})
	}
}
