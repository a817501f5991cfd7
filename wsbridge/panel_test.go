package wsbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/dispatchtest"
	"opentabs/wire"
)

// fakeCalls has the views it is given, and the events of a dispatcher whose
// calls end at once.
type fakeCalls struct {
	d *dispatch.Dispatcher

	mu        sync.Mutex // guards all below
	views     []dispatch.View
	cancelled []string
}

func newFakeCalls() *fakeCalls {
	return &fakeCalls{d: dispatch.New(&dispatchtest.Bridge{
		StartFunc: func(_ context.Context, _ dispatch.Run, s dispatch.Sink) *wire.CallError {
			s.Finish(nil, nil)
			return nil
		},
	}, dispatch.Options{})}
}

func (f *fakeCalls) Follow(dispatch.FollowOptions) *dispatch.Follower {
	return f.d.Follow(dispatch.FollowOptions{})
}

func (f *fakeCalls) Calls() []dispatch.View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.views
}

func (f *fakeCalls) Cancel(id, by string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelled = append(f.cancelled, id+" by "+by)
	return id == "c1"
}

// change sets the views and makes events.
func (f *fakeCalls) change(views ...dispatch.View) {
	f.mu.Lock()
	f.views = views
	f.mu.Unlock()
	_, _ = f.d.Call(context.Background(), dispatch.Call{})
}

func view(id string, p float64, browser string) dispatch.View {
	return dispatch.View{Snapshot: dispatch.Snapshot{CallID: id, Status: wire.StatusRunning, Progress: &p}, Browser: browser, TabID: 7}
}

const watchOn = `{"jsonrpc":"2.0","method":"state.watch","params":{"on":true}}`

// states decodes the state.sync frames since the last time.
func (p *peer) states() []wire.StateSyncParams {
	var out []wire.StateSyncParams
	for _, f := range p.take() {
		e, err := wire.Parse([]byte(f))
		if err != nil || e.Method != wire.MethodStateSync {
			continue
		}
		var s wire.StateSyncParams
		if err := json.Unmarshal(e.Params, &s); err != nil {
			p.w.t.Error(err)
		}
		out = append(out, s)
	}
	return out
}

func TestPanel(t *testing.T) {
	calls := newFakeCalls()
	inWorld(t, Options{Calls: calls}, func(w *world) {
		p := w.browser("b1", "boot1")
		calls.change(view("c1", 0.25, "b1"), view("c2", 0.5, "b2"))
		if got := p.states(); len(got) != 0 {
			t.Errorf("nobody watches, and %d states came", len(got))
		}
		p.send(watchOn)
		got := p.states()
		if len(got) != 1 || got[0].Running != 2 || len(got[0].Calls) != 2 || got[0].ServerVersion != "0.1.0" {
			t.Fatalf("states = %+v, want one with two calls", got)
		}
		// Only a call of this browser has its tab (fault 46).
		if c := got[0].Calls; c[0].TabID != 7 || c[1].TabID != 0 || *c[0].Progress != 0.25 {
			t.Errorf("calls = %+v", c)
		}
		p.send(`{"jsonrpc":"2.0","method":"state.watch","params":{"on":false}}`)
		p.take()
		calls.change(view("c1", 0.5, "b1"))
		w.pass(time.Second)
		if got := p.states(); len(got) != 0 {
			t.Errorf("the panel is closed, and %d states came", len(got))
		}
		p.send(watchOn) // the same state again, for a new panel
		if got := p.states(); len(got) != 1 || *got[0].Calls[0].Progress != 0.5 {
			t.Errorf("states = %+v, want the newest", got)
		}
		p.send(watchOn)
		w.pass(time.Second)
		if got := p.states(); len(got) != 1 {
			t.Errorf("%d states for a second watch, want 1", len(got))
		}
	})
}

// TestPanelRate: the first change is shown at once, then at most ten a second,
// the newest last.
func TestPanelRate(t *testing.T) {
	calls := newFakeCalls()
	inWorld(t, Options{Calls: calls}, func(w *world) {
		p := w.browser("b1", "boot1")
		p.send(watchOn)
		w.pass(time.Second)
		p.states()
		for i := range 1000 { // one each millisecond
			calls.change(view("c1", float64(i)/1000, "b1"))
			if i == 0 {
				if got := p.states(); len(got) != 1 {
					t.Errorf("%d states at once, want 1", len(got))
				}
			}
			w.pass(time.Millisecond)
		}
		w.pass(time.Second)
		got := p.states()
		if len(got) < 9 || len(got) > 10 {
			t.Errorf("%d states in a second, want 9 or 10", len(got))
		}
		if last := *got[len(got)-1].Calls[0].Progress; last != 0.999 {
			t.Errorf("the last state has progress %v, want 0.999", last)
		}
	})
}

func TestPanelIsBounded(t *testing.T) {
	calls := newFakeCalls()
	inWorld(t, Options{Calls: calls}, func(w *world) {
		p := w.browser("b1", "boot1")
		var views []dispatch.View
		for i := range 1000 {
			views = append(views, view(fmt.Sprint("c", i), 0, "b1"))
		}
		ended := time.Now()
		views = append(views, dispatch.View{Ended: &ended})
		calls.change(views...)
		p.send(watchOn)
		if got := p.states(); len(got) != 1 || got[0].Running != 1000 || len(got[0].Calls) != maxShown || got[0].Calls[0].CallID != "c0" {
			t.Errorf("states = %+v", got)
		}
	})
}

// TestPanelShowsPlugins: without a dispatcher, and when the plugins change.
func TestPanelShowsPlugins(t *testing.T) {
	hash := "h1"
	inWorld(t, Options{Adapters: onePlugin(&hash)}, func(w *world) {
		p := w.browser("b1", "boot1")
		p.send(watchOn)
		if got := p.states(); len(got) != 1 || got[0].Plugins[0].Hash != "h1" {
			t.Errorf("states = %+v, want plugin h1", got)
		}
		hash = "h2"
		w.hub.Sync()
		w.pass(stateInterval)
		if got := p.states(); len(got) != 1 || got[0].Plugins[0].Hash != "h2" {
			t.Errorf("states = %+v, want plugin h2", got)
		}
		p.drop()
	})
}

func TestPanelStops(t *testing.T) {
	calls := newFakeCalls()
	inWorld(t, Options{}, func(w *world) {
		p := w.browser("b1", "boot1")
		p.send(`{"jsonrpc":"2.0","id":"1","method":"call.cancel","params":{"callId":"c1"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"1","result":{"cancelled":false}}`)
		w.hub.SetCalls(calls)
		p.send(`{"jsonrpc":"2.0","id":"2","method":"call.cancel","params":{"callId":"c1"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"2","result":{"cancelled":true}}`)
		p.send(`{"jsonrpc":"2.0","id":"3","method":"call.cancel","params":{"callId":"gone"}}`)
		p.wantFrames(`{"jsonrpc":"2.0","id":"3","result":{"cancelled":false}}`)
		for _, params := range []string{`{}`, `{"callId":7}`, `[]`} {
			p.send(`{"jsonrpc":"2.0","id":"4","method":"call.cancel","params":` + params + `}`)
			p.wantFrames(`{"jsonrpc":"2.0","id":"4","error":{"code":-32602,"message":"call.cancel needs a callId; name the call to stop"}}`)
		}
		if got := strings.Join(calls.cancelled, ", "); got != "c1 by the side panel, gone by the side panel" {
			t.Errorf("cancelled: %s", got)
		}
	})
}
