package wsbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

// The events of fakeCalls come from a real dispatcher whose calls end at once.
type fakeCalls struct {
	d *dispatch.Dispatcher

	mu             sync.Mutex // guards all fields below
	views          []dispatch.View
	cancelledCalls []string
	decidedCallIDs []string
	activities     []dispatch.ActivityView
}

func newFakeCalls() *fakeCalls {
	return &fakeCalls{d: dispatch.New(&dispatchtest.Bridge{
		StartFunc: func(_ context.Context, _ dispatch.Run, s dispatch.Sink) *wire.CallError {
			s.Finish(nil, nil)
			return nil
		},
	}, dispatch.Options{})}
}

func (f *fakeCalls) Subscribe(dispatch.SubscribeOptions) *dispatch.Subscriber {
	return f.d.Subscribe(dispatch.SubscribeOptions{})
}

func (f *fakeCalls) Find(id string) (dispatch.View, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.views, func(v dispatch.View) bool { return v.CallID == id })
	if i < 0 {
		return dispatch.View{}, false
	}
	v := f.views[i]
	v.Activities = f.activities
	return v, true
}

func (f *fakeCalls) Decide(callID, ticketID string, r dispatch.Resolution) (dispatch.DecisionResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decidedCallIDs = append(f.decidedCallIDs, fmt.Sprintf("%s %s %v %s %v by %s", callID, ticketID, r.Allow, r.Scope, r.Duration, r.Surface))
	switch {
	case callID != "c1":
		return dispatch.DecisionResult{Outcome: wire.DecisionNotPending}, nil
	case r.Scope == wire.ScopeAlways:
		return dispatch.DecisionResult{}, &dispatch.ScopeError{Scope: r.Scope, OfferedScopes: []wire.Scope{wire.ScopeOnce}}
	case len(f.decidedCallIDs) > 1:
		return dispatch.DecisionResult{Outcome: wire.DecisionAlreadyMade, Surface: "a terminal", Allowed: true}, nil
	default:
		return dispatch.DecisionResult{Outcome: wire.DecisionAccepted, Surface: r.Surface, Allowed: r.Allow}, nil
	}
}

func (f *fakeCalls) Calls() []dispatch.View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.views
}

func (f *fakeCalls) Cancel(id, by, _ string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelledCalls = append(f.cancelledCalls, id+" by "+by)
	return id == "c1"
}

func (f *fakeCalls) setCallViews(views ...dispatch.View) {
	f.mu.Lock()
	f.views = views
	f.mu.Unlock()
	_, _ = f.d.Call(context.Background(), dispatch.Call{})
}

func callView(id string, p float64, browser string) dispatch.View {
	return dispatch.View{Snapshot: dispatch.Snapshot{CallID: id, Progression: dispatch.Progression{Status: wire.StatusRunning, Progress: &p}}, Browser: browser, TabID: 7}
}

const watchStateFrame = `{"jsonrpc":"2.0","method":"state.watch","params":{"on":true}}`

func (p *browserPeer) stateFrames() []wire.StateSyncParams {
	var states []wire.StateSyncParams
	for _, f := range p.readFrames() {
		e, err := wire.Parse([]byte(f))
		if err != nil || e.Method != wire.MethodStateSync {
			continue
		}
		var s wire.StateSyncParams
		if err := json.Unmarshal(e.Params, &s); err != nil {
			p.w.t.Error(err)
		}
		states = append(states, s)
	}
	return states
}

func TestPanelReceivesStateOnlyWhileOpen(t *testing.T) {
	calls := newFakeCalls()
	testWithHub(t, Options{Calls: calls}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		calls.setCallViews(callView("c1", 0.25, "b1"), callView("c2", 0.5, "b2"))
		if got := p.stateFrames(); len(got) != 0 {
			t.Errorf("%d states arrived although no panel is open, want 0", len(got))
		}
		p.sendFrame(watchStateFrame)
		got := p.stateFrames()
		if len(got) != 1 || got[0].Running != 2 || len(got[0].Calls) != 2 || got[0].ServerVersion != "0.1.0" {
			t.Fatalf("states of the panel = %+v, want one with two calls", got)
		}
		if c := got[0].Calls; c[0].TabID != 7 || c[1].TabID != 0 || *c[0].Progress != 0.25 {
			t.Errorf("calls in the panel = %+v, want the first in tab 7 with the progress 0.25, the second without a tab", c)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"state.watch","params":{"on":false}}`)
		p.readFrames()
		calls.setCallViews(callView("c1", 0.5, "b1"))
		w.advanceTime(time.Second)
		if got := p.stateFrames(); len(got) != 0 {
			t.Errorf("%d states arrived although the panel is closed, want 0", len(got))
		}
		p.sendFrame(watchStateFrame)
		if got := p.stateFrames(); len(got) != 1 || *got[0].Calls[0].Progress != 0.5 {
			t.Errorf("states of the panel = %+v, want the newest", got)
		}
		p.sendFrame(watchStateFrame)
		w.advanceTime(time.Second)
		if got := p.stateFrames(); len(got) != 1 {
			t.Errorf("%d states after the panel was opened again, want 1", len(got))
		}
	})
}

func TestPanelStateUpdatesAreRateLimited(t *testing.T) {
	calls := newFakeCalls()
	testWithHub(t, Options{Calls: calls}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		p.sendFrame(watchStateFrame)
		w.advanceTime(time.Second)
		p.stateFrames()
		for i := range 1000 {
			calls.setCallViews(callView("c1", float64(i)/1000, "b1"))
			if i == 0 {
				w.advanceTime(20 * time.Millisecond)
				if got := p.stateFrames(); len(got) != 1 {
					t.Errorf("%d states arrived within 20 ms, want 1", len(got))
				}
			}
			w.advanceTime(time.Millisecond)
		}
		w.advanceTime(time.Second)
		got := p.stateFrames()
		if len(got) < 5 || len(got) > 6 { // the dispatcher's subscribers may receive the last change up to 60 ms late
			t.Errorf("%d states arrived within 1.1 s, want 5 or 6", len(got))
		}
		if lastProgress := *got[len(got)-1].Calls[0].Progress; lastProgress != 0.999 {
			t.Errorf("progress in the last state of the panel = %v, want 0.999", lastProgress)
		}
	})
}

func TestPanelCallListIsBounded(t *testing.T) {
	calls := newFakeCalls()
	testWithHub(t, Options{Calls: calls}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		var views []dispatch.View
		for i := range 1000 {
			views = append(views, callView(fmt.Sprint("c", i), 0, "b1"))
		}
		endTime := time.Now()
		for i := range 300 {
			endedView := callView(fmt.Sprint("e", i), 0, "b1")
			endedView.Ended = &endTime
			views = append(views, endedView)
		}
		calls.setCallViews(views...)
		p.sendFrame(watchStateFrame)
		if got := p.stateFrames(); len(got) != 1 || got[0].Running != 1000 || len(got[0].Calls) != 200 || got[0].Calls[0].CallID != "c0" || len(got[0].Ended) != 200 || got[0].Ended[0].CallID != "e0" {
			t.Errorf("states of the panel = %+v, want one with 200 of 1000 calls and 200 ended calls", got)
		}
	})
}

// The hub must not send an unchanged list of plugins again.
func TestPanelShowsPlugins(t *testing.T) {
	policy := &fakePolicy{views: []wire.PluginView{{Name: "chat", Hash: "h1", Permission: wire.PermissionOff}}}
	testWithHub(t, Options{Policy: policy}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		w.hub.Sync()
		if got := p.pluginFrames(); len(got) != 0 {
			t.Errorf("%d plugin lists arrived although no panel is open, want 0", len(got))
		}
		p.sendFrame(watchStateFrame)
		if got := p.pluginFrames(); len(got) != 1 || got[0][0].Hash != "h1" {
			t.Errorf("plugin lists = %+v, want one with the plugin hash h1", got)
		}
		policy.setPluginPermission("ask")
		for range 2 {
			w.hub.Sync()
			w.advanceTime(stateInterval)
		}
		if got := p.pluginFrames(); len(got) != 1 || got[0][0].Permission != "ask" {
			t.Errorf("plugin lists = %+v, want one with the permission ask", got)
		}
		p.sendFrame(`{"jsonrpc":"2.0","method":"state.watch","params":{"on":false}}`)
		p.readFrames()
		p.sendFrame(watchStateFrame)
		w.advanceTime(stateInterval)
		if got := p.pluginFrames(); len(got) != 1 {
			t.Errorf("a new panel received %d plugin lists, want 1", len(got))
		}
	})
}

// If gate is not nil, each method of fakePolicy blocks until the test closes gate.
type fakePolicy struct {
	gate    chan struct{}
	mu      sync.Mutex // the mutex guards all fields below
	views   []wire.PluginView
	changes []string
}

func (f *fakePolicy) setPluginPermission(permission wire.Permission) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views[0].Permission = permission
}

func (f *fakePolicy) Plugins() ([]wire.PluginView, []wire.FailedPluginView) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.views), []wire.FailedPluginView{{Path: "/broken", Error: "it is broken"}}
}

func (f *fakePolicy) ChangeSettings(plugin string, settingValues map[string]json.RawMessage, by string) error {
	return f.recordChange(fmt.Sprintf("settings %s %s by %s", plugin, settingValues, by), plugin)
}

func (f *fakePolicy) SetMayOpenTab(plugin string, allowed bool, by string) error {
	return f.recordChange(fmt.Sprintf("opening %s %t by %s", plugin, allowed, by), plugin)
}

func (f *fakePolicy) SetCalls(plugin, otherPlugin string, allowed bool, by string) error {
	return f.recordChange(fmt.Sprintf("calls %s %s %t by %s", plugin, otherPlugin, allowed, by), plugin)
}

func (f *fakePolicy) SetLateStartAccess(plugin string, allowed bool, by string) error {
	return f.recordChange(fmt.Sprintf("late access %s %t by %s", plugin, allowed, by), plugin)
}

func (f *fakePolicy) SetPermission(plugin, tool string, permission wire.Permission, by string) error {
	return f.recordChange(fmt.Sprintf("permission %s %s %q by %s", plugin, tool, permission, by), plugin)
}

func (f *fakePolicy) ReviewAll(reviews []wire.ConfigReviewParams, by string) []error {
	var errs []error
	for _, r := range reviews {
		description := fmt.Sprintf("review %s %s %q", r.Plugin, r.Hash, r.Permission)
		for _, tool := range r.Tools {
			description += fmt.Sprintf(" %s=%q", tool.Tool, tool.Permission)
		}
		errs = append(errs, f.recordChange(description+" by "+by, r.Plugin))
	}
	return errs
}

func (f *fakePolicy) InspectPlugin(plugin string) (wire.PluginInspectResult, error) {
	return wire.PluginInspectResult{Hash: "h1", Source: wire.PluginSourceNPM}, f.recordChange("inspect "+plugin, plugin)
}

func (f *fakePolicy) PluginPage(in wire.PluginPageParams) (wire.PluginPageResult, error) {
	return wire.PluginPageResult{Text: "code", FirstLine: 1}, f.recordChange(fmt.Sprintf("page %d of %s of %s", in.Page, in.Section, in.Plugin), in.Plugin)
}

func (f *fakePolicy) InstallPlugin(packageText string) (wire.PluginInstallResult, error) {
	return wire.PluginInstallResult{Plugin: packageText, Version: "1.0.0"}, f.recordChange("install "+packageText, packageText)
}

func (f *fakePolicy) UpdatePlugin(plugin string) (wire.PluginUpdateResult, error) {
	return wire.PluginUpdateResult{Version: "1.0.0"}, f.recordChange("update "+plugin, plugin)
}

func (f *fakePolicy) RemovePlugin(plugin, by string) error {
	return f.recordChange("remove "+plugin+" by "+by, plugin)
}

func (f *fakePolicy) BrowserTools() wire.StateBrowserParams {
	return wire.StateBrowserParams{Permission: wire.PermissionAuto, Sites: []wire.SiteView{{Site: "shop.example", Permission: "read"}}}
}

func (f *fakePolicy) SwitchBrowserTools(names []string, on bool, by string) error {
	return f.recordChange(fmt.Sprintf("browser tools %q %t by %s", names, on, by), "chat")
}

func (f *fakePolicy) SetSiteRule(site, rule, by string) error {
	return f.recordChange(fmt.Sprintf("site %s %q by %s", site, rule, by), "chat")
}

func (f *fakePolicy) recordChange(description, plugin string) error {
	if f.gate != nil {
		<-f.gate
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, description)
	if plugin != "chat" {
		return fmt.Errorf("there is no plugin %q\x1b; add it first", plugin)
	}
	return nil
}

func (p *browserPeer) pluginFrames() (frames [][]wire.PluginView) {
	for _, f := range p.readFrames() {
		e, err := wire.Parse([]byte(f))
		if err != nil || e.Method != wire.MethodStatePlugins {
			continue
		}
		var s wire.StatePluginsParams
		if err := json.Unmarshal(e.Params, &s); err != nil {
			p.w.t.Error(err)
		}
		if len(s.Failed) != 1 || s.Failed[0].Path != "/broken" {
			p.w.t.Errorf("failed plugins in the panel = %+v, want one in /broken", s.Failed)
		}
		frames = append(frames, s.Plugins)
	}
	return frames
}

func TestPanelShowsCalls(t *testing.T) {
	calls := newFakeCalls()
	calls.activities = []dispatch.ActivityView{
		{Type: "text", Content: json.RawMessage(`"a"`), Audience: "user"},
		{Type: "table", Content: json.RawMessage(`"` + strings.Repeat("x", wire.MaxShownActivityBytes) + `"`)},
	}
	testWithHub(t, Options{Calls: calls}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		v := callView("c1", 0.25, "b1")
		halfProgress := 0.5
		v.Prompt, v.ParentCallID, v.UserProgress, v.UserMessage, v.EndAudience = true, "c0", &halfProgress, "for you", "user"
		v.Waiting = &dispatch.WaitingTicket{
			TicketID: "t1", Kind: wire.TicketPermission, Reason: "why", Title: "title", Args: `{"n":1}`,
			ExpiresAt: time.Now().Add(time.Minute), Scopes: []wire.Scope{wire.ScopeOnce, wire.ScopeTime},
		}
		calls.setCallViews(v)
		p.sendFrame(watchStateFrame)
		got := p.stateFrames()
		if len(got) != 1 || len(got[0].Calls) != 1 {
			t.Fatalf("states of the panel = %+v, want one with one call", got)
		}
		encodedJSON, err := json.Marshal(got[0].Calls[0])
		if err != nil {
			t.Fatal(err)
		}
		want := `{"callId":"c1","plugin":"","tool":"","status":"running","progress":0.25,"tabId":7,"runMs":0,"prompt":true,"parentCallId":"c0",` +
			`"userProgress":0.5,"userMessage":"for you","endAudience":"user",` +
			`"waiting":{"ticketId":"t1","kind":"permission","reason":"why","title":"title","args":"{\"n\":1}","leftMs":60000,"scopes":["once","time"]},` +
			`"activities":[{"type":"text","content":"\"a\"","audience":"user","bytes":3},{"type":"table","bytes":32770}]}`
		if string(encodedJSON) != want {
			t.Errorf("JSON of the call in the panel:\n got %s\nwant %s", encodedJSON, want)
		}
	})
}

func TestPanelActivitiesAreBounded(t *testing.T) {
	calls := newFakeCalls()
	for range wire.MaxActivityTypes {
		calls.activities = append(calls.activities, dispatch.ActivityView{
			Type: "text", Content: json.RawMessage(`"` + strings.Repeat("x", wire.MaxShownActivityBytes/2) + `"`),
		})
	}
	testWithHub(t, Options{Calls: calls}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		var views []dispatch.View
		for i := range 100 {
			views = append(views, callView(fmt.Sprint("c", i), 0, "b1"))
		}
		calls.setCallViews(views...)
		p.sendFrame(watchStateFrame)
		const maxShownCalls, maxBytes = 20, 512 << 10
		shownActivities, textBytes := 0, 0
		for _, c := range p.stateFrames()[0].Calls {
			if len(c.Activities) > 0 {
				shownActivities++
			}
			for _, a := range c.Activities {
				textBytes += len(a.Content)
			}
		}
		if shownActivities != maxShownCalls || textBytes > maxBytes || textBytes < maxBytes/2 {
			t.Errorf("%d calls have %d bytes of activities, want %d calls with at most %d bytes", shownActivities, textBytes, maxShownCalls, maxBytes)
		}
	})
}

func TestPanelDecidesTickets(t *testing.T) {
	calls := newFakeCalls()
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		decide := func(params, want string) {
			t.Helper()
			p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"call.decide","params":` + params + `}`)
			p.wantFrames(`{"jsonrpc":"2.0","id":"1",` + want + `}`)
		}
		decide(`{"callId":"c1","ticketId":"t1","allow":true}`, `"result":{"outcome":"ended","allowed":false}`)
		w.hub.SetCalls(calls)
		decide(`{"callId":"c1","ticketId":"t1","allow":true,"scope":"time","forMs":600000}`, `"result":{"outcome":"decided","by":"the side panel","allowed":true}`)
		decide(`{"callId":"c1","ticketId":"t1","allow":false}`, `"result":{"outcome":"already","by":"a terminal","allowed":true}`)
		decide(`{"callId":"c2","ticketId":"t1","allow":false}`, `"result":{"outcome":"ended","allowed":false}`)
		decide(`{"callId":"c1","ticketId":"t1","allow":true,"scope":"always"}`,
			`"error":{"code":-32600,"message":"the scope \"always\" is not offered for this call: use one of [\"once\"]"}`)
		decide(`{"callId":"c1","ticketId":""}`, `"error":{"code":-32600,"message":"call.decide needs a callId and a ticketId; send those of the displayed call"}`)
		for _, ms := range []string{"-1", "1e300", "86400001"} {
			decide(`{"callId":"c1","ticketId":"t1","allow":true,"scope":"time","forMs":`+ms+`}`,
				`"error":{"code":-32600,"message":"a permission can last for up to 24h0m0s; choose a shorter time, or always"}`)
		}
		p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"call.decide","params":{"callId":7}}`)
		if got := p.readFrames(); len(got) != 1 || !strings.Contains(got[0], `"code":-32602,"message":"call.decide: `) {
			t.Errorf("frames of the server = %q, want the error invalid params", got)
		}
		want := "c1 t1 true time 10m0s by the side panel, c1 t1 false  0s by the side panel, c2 t1 false  0s by the side panel, c1 t1 true always 0s by the side panel"
		if got := strings.Join(calls.decidedCallIDs, ", "); got != want {
			t.Errorf("decisions that the server received:\n got %s\nwant %s", got, want)
		}
	})
}

func TestPanelRequestsAreLimited(t *testing.T) {
	testWithHub(t, Options{}, func(w *hubFixture) {
		gate := make(chan struct{})
		w.hub.opts.Policy = &fakePolicy{gate: gate}
		p := w.connectBrowser("b1", "boot1")
		for range 2 * maxPanelRequests {
			p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"config.permission","params":{"plugin":"chat","permission":"ask"}}`)
		}
		refusalFrame := `{"jsonrpc":"2.0","id":"1","error":{"code":-32600,"message":"64 requests are already in progress; retry later"}}`
		if got := p.readFrames(); len(got) != maxPanelRequests || got[0] != refusalFrame {
			t.Errorf("the server answered %d requests at once, the first with %q; want %d and %q", len(got), got[:min(1, len(got))], maxPanelRequests, refusalFrame)
		}
		close(gate)
		if got := p.readFrames(); len(got) != maxPanelRequests {
			t.Errorf("the server completed %d requests, want %d", len(got), maxPanelRequests)
		}
		p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"call.cancel","params":{"callId":"c1"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"1","result":{"cancelled":false}}`)
	})
}

func TestPanelSetsPermissions(t *testing.T) {
	sendRequest := func(p *browserPeer, method, params, want string) {
		t.Helper()
		p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":` + params + `}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"1",` + want + `}`)
	}
	const noPermissionsError = `"error":{"code":-32600,"message":"this server has no permissions"}`
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		sendRequest(p, "config.permission", `{"plugin":"chat","permission":"ask"}`, noPermissionsError)
		sendRequest(p, "config.review", `{"plugin":"chat","hash":"h1","permission":"ask"}`, noPermissionsError)
		sendRequest(p, "config.settings", `{"plugin":"chat","values":{}}`, noPermissionsError)
		sendRequest(p, "config.opening", `{"plugin":"chat","allowed":true}`, noPermissionsError)
		sendRequest(p, "config.calls", `{"plugin":"chat","other":"wiki","allowed":true}`, noPermissionsError)
		sendRequest(p, "config.lateAccess", `{"plugin":"chat","allowed":true}`, noPermissionsError)
	})
	policy := &fakePolicy{}
	testWithHub(t, Options{Policy: policy}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		sendRequest(p, "config.permission", `{"plugin":"chat","tool":"export","permission":"ask"}`, `"result":{}`)
		sendRequest(p, "config.permission", `{"plugin":"chat","tool":"export"}`, `"result":{}`)
		sendRequest(p, "config.review", `{"plugin":"chat","hash":"h1","permission":"auto"}`, `"result":{}`)
		sendRequest(p, "config.review", `{"plugin":"chat","hash":"h1","permission":"auto","tools":[{"tool":"post","permission":"off"}]}`, `"result":{}`)
		sendRequest(p, "plugin.page", `{"plugin":"chat","hash":"h1","section":"code","page":1}`, `"result":{"text":"code","firstLine":1}`)
		sendRequest(p, "plugin.install", `{"package":"other"}`, `"error":{"code":-32600,"message":"there is no plugin \"other\"; add it first"}`)
		sendRequest(p, "config.permission", `{"plugin":"none","permission":"ask"}`, `"error":{"code":-32600,"message":"there is no plugin \"none\"; add it first"}`)
		sendRequest(p, "config.settings", `{"plugin":"chat","values":{"key":null}}`, `"result":{}`)
		for _, values := range []string{"null", "7", "[]"} {
			sendRequest(p, "config.settings", `{"plugin":"chat","values":`+values+`}`,
				`"error":{"code":-32600,"message":"config.settings needs values, an object of settings by key"}`)
		}
		sendRequest(p, "config.opening", `{"plugin":"chat","allowed":true}`, `"result":{}`)
		sendRequest(p, "config.calls", `{"plugin":"chat","other":"wiki","allowed":true}`, `"result":{}`)
		sendRequest(p, "config.lateAccess", `{"plugin":"chat","allowed":false}`, `"result":{}`)
	})
	want := `permission chat export "ask" by the side panel, permission chat export "" by the side panel, ` +
		`review chat h1 "auto" by the side panel, review chat h1 "auto" post="off" by the side panel, ` +
		`page 1 of code of chat, install other, permission none  "ask" by the side panel, ` +
		`settings chat map[key:null] by the side panel, opening chat true by the side panel, ` +
		`calls chat wiki true by the side panel, late access chat false by the side panel`
	if got := strings.Join(policy.changes, ", "); got != want {
		t.Errorf("changes that the policy received:\n got %s\nwant %s", got, want)
	}
}

func TestPanelCancelsCalls(t *testing.T) {
	calls := newFakeCalls()
	testWithHub(t, Options{}, func(w *hubFixture) {
		p := w.connectBrowser("b1", "boot1")
		p.sendFrame(`{"jsonrpc":"2.0","id":"1","method":"call.cancel","params":{"callId":"c1"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"1","result":{"cancelled":false}}`)
		w.hub.SetCalls(calls)
		p.sendFrame(`{"jsonrpc":"2.0","id":"2","method":"call.cancel","params":{"callId":"c1"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"2","result":{"cancelled":true}}`)
		p.sendFrame(`{"jsonrpc":"2.0","id":"3","method":"call.cancel","params":{"callId":"gone"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"3","result":{"cancelled":false}}`)
		for _, params := range []string{`{}`, `{"callId":7}`, `[]`} {
			p.sendFrame(`{"jsonrpc":"2.0","id":"4","method":"call.cancel","params":` + params + `}`)
			p.wantFrames(`{"jsonrpc":"2.0","id":"4","error":{"code":-32602,"message":"call.cancel needs a callId; name the call to stop"}}`)
		}
		if got := strings.Join(calls.cancelledCalls, ", "); got != "c1 by the side panel, gone by the side panel" {
			t.Errorf("calls that the panel cancelled = %s, want %q", got, "c1 by the side panel, gone by the side panel")
		}
	})
}
