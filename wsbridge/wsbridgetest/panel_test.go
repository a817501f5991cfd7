package wsbridgetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"opentabs/dispatch"
	"opentabs/wire"
	"opentabs/wsbridge"
	"opentabs/wsbridge/changes"
)

// The embedded Policy is nil, because no test inspects or installs plugins.
type reviewOnlyPolicy struct{ changes.Policy }

func (reviewOnlyPolicy) BrowserTools() wire.StateBrowserParams { return wire.StateBrowserParams{} }

func (reviewOnlyPolicy) SwitchBrowserTools([]string, bool, string) error { return nil }

func (reviewOnlyPolicy) SetSiteRule(string, string, string) error { return nil }

func (reviewOnlyPolicy) Plugins() ([]wire.PluginView, []wire.FailedPluginView) {
	return []wire.PluginView{{Name: "messages", Hash: "h1"}}, nil
}

func (reviewOnlyPolicy) ChangeSettings(string, map[string]json.RawMessage, string) error {
	return errors.New("it has none")
}

func (reviewOnlyPolicy) SetMayOpenTab(string, bool, string) error {
	return errors.New("review it first")
}

func (reviewOnlyPolicy) SetCalls(string, string, bool, string) error {
	return errors.New("review it first")
}

func (reviewOnlyPolicy) SetLateStartAccess(string, bool, string) error {
	return errors.New("review it first")
}

func (reviewOnlyPolicy) SetPermission(string, string, wire.Permission, string) error {
	return errors.New("review it first")
}

func (reviewOnlyPolicy) ReviewAll([]wire.ConfigReviewParams, string) []error { return nil }

func startBrowser(t *testing.T, o Options) (*Browser, *dispatch.Dispatcher) {
	t.Helper()
	hub := wsbridge.New(wsbridge.Options{
		Key: "key", Origins: []string{"chrome-extension://x"}, Adapters: onePluginAdapters{}, Policy: reviewOnlyPolicy{},
	})
	calls := dispatch.New(hub, dispatch.Options{
		ResolveTool: func(_ dispatch.Tool, name string, args json.RawMessage) (dispatch.Tool, json.RawMessage, *wire.CallError) {
			return dispatch.Tool{Plugin: "messages", Name: name}, args, nil
		},
	})
	hub.SetCalls(calls)
	server := httptest.NewServer(hub.Handler())
	stateNames := make(chan string, 10)
	o.URL, o.Key, o.Origin = strings.Replace(server.URL, "http", "ws", 1), "key", "chrome-extension://x"
	o.OnPluginsChanged = func(plugins []string) { stateNames <- strings.Join(plugins, " ") }
	b, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	callEnded := make(chan error, 1)
	go func() { callEnded <- b.Run(context.WithoutCancel(t.Context())) }()
	for <-stateNames != "messages" { // the browser reports its list of plugins before their code has arrived
	}
	// The test waits for the plugin's tab, because the server reads the frame tab.sync on
	// another goroutine.
	for len(hub.Targets(t.Context(), dispatch.TargetChoice{Plugin: "messages"}).LiveTargets) == 0 {
		runtime.Gosched()
	}
	t.Cleanup(func() {
		hub.Close()
		<-callEnded
		server.Close()
	})
	return b, calls
}

func newCall(tool, args string) dispatch.Call {
	return dispatch.Call{Tool: dispatch.Tool{Plugin: "messages", Name: tool}, Args: json.RawMessage(args)}
}

func TestNestedCallErrors(t *testing.T) {
	_, calls := startBrowser(t, Options{Tools: map[string]Tool{
		"messages__outer": func(ctx context.Context, c *Call) (json.RawMessage, *wire.CallError) {
			cancelledCtx, cancel := context.WithCancelCause(ctx)
			cancel(errors.New("never mind"))
			if _, err := c.Call(cancelledCtx, "silent", json.RawMessage(`{}`)); err == nil || err.Code != wire.ErrCancelled {
				t.Errorf("error of the abandoned call = %+v, want cancelled", err)
			}
			if _, err := c.Call(ctx, "none", json.RawMessage(`{}`)); err == nil || err.Code != wire.ErrUnknownTool {
				t.Errorf("error of the call of an unknown tool = %+v, want unknown_tool", err)
			}
			return c.Call(ctx, "echo", json.RawMessage(`{"n":9007199254740993}`))
		},
		"messages__echo": func(_ context.Context, c *Call) (json.RawMessage, *wire.CallError) { return c.Args, nil },
		"messages__silent": func(ctx context.Context, _ *Call) (json.RawMessage, *wire.CallError) {
			<-ctx.Done()
			return nil, nil
		},
	}})
	callResult, err := calls.Call(t.Context(), newCall("outer", `{}`))
	if err != nil || string(callResult.Output) != `{"n":9007199254740993}` {
		t.Errorf("the outer call returned %+v, error %v; want the exact number of the nested call and no error", callResult, err)
	}
	if callViews := calls.Calls(); len(callViews) < 3 || !slices.ContainsFunc(callViews, func(v dispatch.View) bool { return v.ParentCallID == callResult.CallID }) {
		t.Errorf("calls in the panel = %+v, want the calls that %s made", callViews, callResult.CallID)
	}
}

func TestPanelShowsActivitiesAndWaitingCalls(t *testing.T) {
	waitingCallViews, plugins, resyncRequests := make(chan wire.CallView, 1), make(chan []wire.PluginView, 10), make(chan wire.ToolResyncParams, 10)
	b, calls := startBrowser(t, Options{
		Tools: map[string]Tool{
			"messages__login": func(ctx context.Context, c *Call) (json.RawMessage, *wire.CallError) {
				content, invalidPatch := json.RawMessage(`[]`), json.RawMessage(`[{"op":"remove","path":"/7"}]`)
				if err := c.Report(
					wire.Report{Activity: &wire.Activity{Type: "table", Content: content}},
					wire.Report{Activity: &wire.Activity{Type: "table", Patch: invalidPatch}, EndAudience: "user"},
				); err != nil {
					t.Error(err)
				}
				return json.RawMessage(`"in"`), c.WaitForUser(ctx, "Log in")
			},
		},
		OnState: func(s wire.StateSyncParams) {
			for _, c := range s.Calls {
				if c.Waiting != nil {
					select {
					case waitingCallViews <- c:
					default:
					}
				}
			}
		},
		OnPlugins:        func(p []wire.PluginView) { plugins <- p },
		OnActivityResync: func(p wire.ToolResyncParams) { resyncRequests <- p },
	})
	if err := b.Watch(); err != nil {
		t.Fatal(err)
	}
	if got := <-plugins; len(got) != 1 || got[0].Hash != "h1" {
		t.Errorf("plugins in the panel = %+v, want one with the hash h1", got)
	}
	type callOutcome struct {
		result dispatch.Result
		err    error
	}
	callEnded := make(chan callOutcome, 1)
	go func() {
		callResult, err := calls.Call(t.Context(), newCall("login", `{"a":1}`))
		callEnded <- callOutcome{callResult, err}
	}()
	shownCalls := <-waitingCallViews
	if w := shownCalls.Waiting; w.Reason != "Log in" || w.Kind != wire.TicketUser {
		t.Errorf("waiting request in the panel = %+v, want a request for the user with the reason Log in", w)
	}
	if got := <-resyncRequests; got.ActivityType != "table" {
		t.Errorf("the server requested the content of %+v, want the table", got)
	}
	decide := wire.CallDecideParams{CallID: shownCalls.CallID, TicketID: shownCalls.Waiting.TicketID, Allow: true}
	if got, err := b.Decide(t.Context(), decide); err != nil || got.Outcome != wire.DecisionAccepted {
		t.Errorf("the first decision returned %+v, error %v; want accepted and no error", got, err)
	}
	// A second decision is not accepted, because the ticket is resolved and the call
	// may have ended.
	if got, err := b.Decide(t.Context(), decide); err != nil || got.Outcome == wire.DecisionAccepted {
		t.Errorf("the second decision returned %+v, error %v; want a decision without effect and no error", got, err)
	}
	if got := <-callEnded; got.err != nil || string(got.result.Output) != `"in"` || got.result.Audience != "user" {
		t.Errorf("result of the call that waited for a login = %+v, want in for the user, and no error", got)
	}
	if got, err := b.Stop(t.Context(), shownCalls.CallID); err != nil || got.Cancelled {
		t.Errorf("Stop of an ended call returned %+v, error %v; want nothing cancelled and no error", got, err)
	}
	if err := b.Review(t.Context(), wire.ConfigReviewParams{Plugin: "messages", Hash: "h1", Permission: wire.PermissionAsk}); err != nil {
		t.Error(err)
	}
	err := b.SetPermission(t.Context(), wire.ConfigPermissionParams{Plugin: "messages", Permission: wire.PermissionAuto})
	if err == nil || !strings.Contains(err.Error(), "review it first") {
		t.Errorf("the change of a permission returned the error %v; want an error that contains %q", err, "review it first")
	}
}
