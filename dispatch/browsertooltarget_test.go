package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

var (
	snapshotTool = dispatch.Tool{Plugin: "browser", Name: "browser_snapshot", TargetKind: dispatch.TargetPage}
	clickTool    = dispatch.Tool{Plugin: "browser", Name: "browser_click", TargetKind: dispatch.TargetPage, IsExclusive: true}
	tabsTool     = dispatch.Tool{Plugin: "browser", Name: "browser_tabs", TargetKind: dispatch.TargetBrowser}
)

type recordingGate struct{ calls []dispatch.CallInfo }

func (*recordingGate) Name() string { return "place" }

func (g *recordingGate) Decide(i dispatch.CallInfo) dispatch.Verdict {
	g.calls = append(g.calls, i)
	return dispatch.Verdict{}
}

func TestBrowserToolTargetIsChosenBeforeGates(t *testing.T) {
	gate := &recordingGate{}
	var startedRun dispatch.Run
	bridge := &dispatchtest.Bridge{
		TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
			if targetChoice.TargetKind != dispatch.TargetPage || targetChoice.TabID != 5 || targetChoice.Browser != "b2" {
				t.Errorf("target choice of the call = %+v, want the page of tab 5 in the browser b2", targetChoice)
			}
			return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{{Browser: "b2", TabID: 5, DocumentID: "d5", URL: "https://shop.example/"}}}
		},
		StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
			startedRun = toolRun
			go sink.Finish(json.RawMessage(`{"text":"x"}`), nil)
			return nil
		},
	}
	d := dispatch.New(bridge, dispatch.Options{
		Gates:      []dispatch.Gate{gate},
		CurrentTab: func(c dispatch.Call) (string, int) { return "b2", 5 },
		ShapeOutput: func(i dispatch.CallInfo, toolOutput json.RawMessage) (json.RawMessage, *wire.CallError) {
			return json.RawMessage(`"shaped ` + i.Target.DocumentID + ` ` + strings.ReplaceAll(string(toolOutput), `"`, `'`) + `"`), nil
		},
	})
	r, err := d.Call(t.Context(), dispatch.Call{Tool: snapshotTool, Args: json.RawMessage(`{}`)})
	if err != nil || string(r.Output) != `"shaped d5 {'text':'x'}"` || r.Target.DocumentID != "d5" {
		t.Errorf("the call returned %s in the target %+v, error %v; want the shaped output of the document d5", r.Output, r.Target, err)
	}
	if len(gate.calls) != 2 || gate.calls[0].Target != (dispatch.Target{}) || gate.calls[1].Target.URL != "https://shop.example/" {
		t.Errorf("calls that the gate received = %+v, want two: first without a target, then with the tab's URL", gate.calls)
	}
	if startedRun.Target.DocumentID != "d5" || startedRun.TargetKind != dispatch.TargetPage {
		t.Errorf("started run = %+v, want a page tool in the document d5", startedRun)
	}
	if got := snapshotTool.FullName(); got != "browser_snapshot" {
		t.Errorf("full name of the tool = %s, want browser_snapshot", got)
	}
}

// A browser tool without a usable target must fail with advice, and the error must not
// contain the URL of the tab.
func TestBrowserToolWithoutTargetFails(t *testing.T) {
	tab := func(browser, url, problemText string) dispatch.Target {
		return dispatch.Target{Browser: browser, BrowserName: strings.ToUpper(browser), TabID: 5, URL: url, Problem: problemText}
	}
	for _, testCase := range []struct {
		name         string
		tool         dispatch.Tool
		call         dispatch.Call
		targets      dispatch.Targets
		code         wire.ErrorCode
		errorMessage string
	}{
		{"no tab named", snapshotTool, dispatch.Call{}, dispatch.Targets{}, wire.ErrNoTab, `open a tab with browser_tabs {"action":"new","url":...}`},
		{"no browser", snapshotTool, dispatch.Call{TabID: 5}, dispatch.Targets{}, wire.ErrNoBrowser, "no browser with the opentabs extension is connected"},
		{"closed tab", snapshotTool, dispatch.Call{TabID: 5}, dispatch.Targets{BrowserCount: 1}, wire.ErrNoTab, "there is no tab 5; list the tabs with browser_tabs"},
		{"two browsers", tabsTool, dispatch.Call{}, dispatch.Targets{BrowserCount: 2, LiveTargets: []dispatch.Target{{Browser: "b1", BrowserName: "Work"}, {Browser: "b2", BrowserName: "Home"}}}, wire.ErrAmbiguousTarget,
			`several browsers are connected: browser "Work", id b1, browser "Home", id b2; name one as "browser"`},
		{"two tabs", snapshotTool, dispatch.Call{TabID: 5}, dispatch.Targets{BrowserCount: 2, LiveTargets: []dispatch.Target{tab("b1", "https://x/", ""), tab("b2", "https://y/", "")}}, wire.ErrAmbiguousTarget, "name one"},
		{"unknown browser", tabsTool, dispatch.Call{Browser: "Old"}, dispatch.Targets{BrowserCount: 1}, wire.ErrNoBrowser, `no browser "Old" is connected`},
		{"no web page", snapshotTool, dispatch.Call{TabID: 5}, dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{tab("b1", "chrome://settings/", "browser tools work in http and https pages only")}}, wire.ErrNoTab,
			"no browser tool can work in tab 5: browser tools work in http and https pages only"},
	} {
		t.Run(testCase.name, func(t *testing.T) {
			gate := &recordingGate{}
			d := dispatch.New(&dispatchtest.Bridge{TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets { return testCase.targets }}, dispatch.Options{Gates: []dispatch.Gate{gate}})
			c := testCase.call
			c.Tool, c.Args = testCase.tool, json.RawMessage(`{}`)
			_, err := d.Call(t.Context(), c)
			var e *dispatch.Error
			if !errors.As(err, &e) || e.Code != testCase.code || !strings.Contains(e.Message, testCase.errorMessage) {
				t.Errorf("error of the call = %v, want %s with the text %q", err, testCase.code, testCase.errorMessage)
			}
			for _, i := range gate.calls {
				if i.Target.Problem == "" && i.Target != (dispatch.Target{}) {
					t.Errorf("target that the gates received = %+v, want none", i.Target)
				}
			}
		})
	}
}

// Exclusive calls in one tab must run one after another. A call that changes a tab must not delay calls in other tabs,
// or read-only calls.
func TestExclusiveCallsInTabRunSequentially(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var callOrder []string
		readCallOrder := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(callOrder)
		}
		bridge := &dispatchtest.Bridge{
			TargetsFunc: func(targetChoice dispatch.TargetChoice) dispatch.Targets {
				return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{{Browser: "b1", TabID: targetChoice.TabID, DocumentID: "d"}}}
			},
			StartFunc: func(_ context.Context, toolRun dispatch.Run, sink dispatch.Sink) *wire.CallError {
				mu.Lock()
				defer mu.Unlock()
				callOrder = append(callOrder, string(toolRun.Args))
				time.AfterFunc(time.Second, func() { sink.Finish(nil, nil) })
				return nil
			},
		}
		d := dispatch.New(bridge, dispatch.Options{})
		startCall := func(tool dispatch.Tool, tabID int, args string) <-chan error {
			callErrors := make(chan error, 1)
			go func() {
				_, err := d.Call(t.Context(), dispatch.Call{Tool: tool, TabID: tabID, Args: json.RawMessage(args)})
				callErrors <- err
			}()
			synctest.Wait()
			return callErrors
		}
		calls := []<-chan error{startCall(clickTool, 5, `{"n":1}`), startCall(clickTool, 5, `{"n":2}`), startCall(snapshotTool, 5, `{"n":3}`), startCall(clickTool, 6, `{"n":4}`)}
		if got := strings.Join(readCallOrder(), " "); got != `{"n":1} {"n":3} {"n":4}` {
			t.Errorf("arguments of the started calls = %s, want the calls 1, 3 and 4", got)
		}
		for _, callErrors := range calls {
			if err := <-callErrors; err != nil {
				t.Error(err)
			}
		}
		if got := readCallOrder()[3]; got != `{"n":2}` {
			t.Errorf("arguments of the last call = %s, want the call 2", got)
		}
	})
}

// A call that a gate blocks must not reach the browser, so that the error can't disclose
// which tabs exist.
func TestBlockedCallChoosesNoTarget(t *testing.T) {
	bridge := &dispatchtest.Bridge{TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
		t.Error("the blocked call asked the browser for its tab, want no request")
		return dispatch.Targets{}
	}}
	d := dispatch.New(bridge, dispatch.Options{Gates: []dispatch.Gate{blockingGate{}}})
	_, err := d.Call(t.Context(), dispatch.Call{Tool: snapshotTool, TabID: 5, Args: json.RawMessage(`{}`)})
	var e *dispatch.Error
	if !errors.As(err, &e) || e.Code != wire.ErrDenied {
		t.Errorf("error of the blocked call = %v, want denied", err)
	}
}

type blockingGate struct{}

func (blockingGate) Name() string { return "blocking" }

func (blockingGate) Decide(dispatch.CallInfo) dispatch.Verdict {
	return dispatch.NewBlockVerdict(wire.ErrDenied, "not allowed", "")
}

// The client's current tab must not be used for a call that names another browser.
func TestCurrentTabOfAnotherBrowser(t *testing.T) {
	d := dispatch.New(&dispatchtest.Bridge{}, dispatch.Options{CurrentTab: func(dispatch.Call) (string, int) { return "b1", 7 }})
	_, err := d.Call(t.Context(), dispatch.Call{Tool: snapshotTool, Browser: "b2", Args: json.RawMessage(`{}`)})
	if err == nil || !strings.Contains(err.Error(), "the call names no tab") {
		t.Errorf("error of a call that names another browser = %v, want that the call names no tab", err)
	}
}

// If a tool never started, the advice must not ask the user to check what the tool has changed.
func TestAdviceForCallThatNeverStarted(t *testing.T) {
	target := dispatch.Target{Browser: "b1", TabID: 5, DocumentID: "d5", URL: "https://shop.example/"}
	startError := &wire.CallError{Code: wire.ErrNavigated, Message: "the tab has navigated", NotStarted: true}
	bridge := &dispatchtest.Bridge{
		TargetsFunc: func(dispatch.TargetChoice) dispatch.Targets {
			return dispatch.Targets{BrowserCount: 1, LiveTargets: []dispatch.Target{target}}
		},
		StartFunc: func(_ context.Context, _ dispatch.Run, sink dispatch.Sink) *wire.CallError {
			go sink.Finish(nil, startError)
			return nil
		},
	}
	calls := dispatch.New(bridge, dispatch.Options{})
	_, err := calls.Call(t.Context(), dispatch.Call{Tool: clickTool, TabID: 5})
	if err == nil || strings.Contains(err.Error(), "taken effect") || !strings.HasSuffix(err.Error(), "Wait until the page has loaded, then retry.") {
		t.Errorf("error of a call that did not start = %v, want no advice about its effect", err)
	}
	startError = &wire.CallError{Code: wire.ErrNavigated, Message: "the tab has navigated"}
	_, err = calls.Call(t.Context(), dispatch.Call{Tool: clickTool, TabID: 5})
	if err == nil || !strings.Contains(err.Error(), "check first whether the call had taken effect") {
		t.Errorf("error of a call that started = %v, want advice about its effect", err)
	}
	target.Problem = "browser tools work in http and https pages only"
	_, err = calls.Call(t.Context(), dispatch.Call{Tool: clickTool, TabID: 5})
	if err == nil || !strings.HasSuffix(err.Error(), "Open or select another tab with browser_tabs, then retry.") {
		t.Errorf("error of a call without a usable tab = %v, want the advice to open or select another tab", err)
	}
}
