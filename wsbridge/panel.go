package wsbridge

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/wire"
)

const (
	// stateInterval is the minimum time between two state.sync.
	stateInterval = 100 * time.Millisecond
	// maxShown limits the calls in a side panel. maxActivityCalls limits the calls that
	// are shown with activities, and maxActivityText limits the total length of these
	// activities, in bytes.
	maxShown         = 200
	maxActivityCalls = 20
	maxActivityText  = 512 << 10
)

// panel is the side panel of one browser: its watcher and its requests.
type panel struct {
	link *link
	// state and plugins have a token when state.sync or state.plugins is due.
	state, plugins chan struct{}
	work           atomic.Int32 // running requests

	mu     sync.Mutex         // guards cancel
	cancel context.CancelFunc // stops the watcher; nil if the panel is closed
}

// requestState schedules a state.sync, which is sent if a panel is open.
func (p *panel) requestState() { signalOnce(p.state) }

// requestPlugins schedules a state.plugins, which is sent if a panel is open.
func (p *panel) requestPlugins() { signalOnce(p.plugins) }

// sendWaiting sends state.waiting if the number has changed. The caller holds
// registry.mu.
func (l *link) sendWaiting(calls int) {
	if !l.isReady || calls == l.waiting {
		return
	}
	l.waiting = calls
	l.post(wire.AppendNotification(nil, wire.MethodStateWaiting, wire.EncodeBody(wire.StateWaitingParams{Count: calls})))
}

// setWatching turns state.sync and state.plugins on or off. Only the reader of the link
// calls setWatching.
func (p *panel) setWatching(b *browser, on bool) {
	p.stop()
	if !on {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.cancel = cancel
	p.mu.Unlock()
	calls := p.link.hub.currentCalls()
	p.requestState()
	p.requestPlugins()
	p.link.work.Go(func() { p.sendState(ctx, b, calls) })
	if calls == nil {
		return
	}
	follower := calls.Follow(dispatch.FollowOptions{})
	p.link.work.Go(func() {
		defer follower.Close()
		for {
			if _, _, err := follower.Next(ctx); err != nil {
				return
			}
			p.requestState()
		}
	})
}

// stop stops the watcher of a panel, if there is one.
func (p *panel) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
}

// sendState sends state.sync and state.plugins when they are due and have
// changed: the first at once, then at most one of each per stateInterval. Each
// frame has the newest state.
func (p *panel) sendState(ctx context.Context, b *browser, calls Calls) {
	var state, pluginInfos []byte // as last sent
	send := func(last *[]byte, method wire.Method, params []byte) {
		frame := wire.AppendNotification(nil, method, params)
		if !bytes.Equal(frame, *last) {
			p.link.post(frame)
			*last = frame
		}
	}
	pause := time.NewTimer(stateInterval)
	defer pause.Stop()
	for {
		var stateDue, pluginsDue bool
		select {
		case <-ctx.Done():
			return
		case <-p.state:
			stateDue, pluginsDue = true, tryReceive(p.plugins)
		case <-p.plugins:
			stateDue, pluginsDue = tryReceive(p.state), true
		}
		if ctx.Err() != nil { // the next watcher receives the tokens
			p.requestState()
			p.requestPlugins()
			return
		}
		if stateDue {
			send(&state, wire.MethodStateSync, wire.EncodeBody(p.stateFor(b, calls)))
		}
		if pluginsDue {
			send(&pluginInfos, wire.MethodStatePlugins, wire.EncodeBody(p.link.hub.pluginViews()))
		}
		pause.Reset(stateInterval)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// tryReceive takes a token from a channel, if there is one.
func tryReceive(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// pluginViews returns the plugins as side panels show them.
func (h *Hub) pluginViews() (all wire.StatePluginsParams) {
	if h.opts.Policy != nil {
		all.Plugins, all.Failed = h.opts.Policy.Plugins()
	}
	return all
}

func (p *panel) stateFor(b *browser, calls Calls) wire.StateSyncParams {
	s := wire.StateSyncParams{ServerVersion: p.link.hub.opts.Version}
	if calls == nil {
		return s
	}
	shown := activityBudget{calls: maxActivityCalls, bytes: maxActivityText}
	for _, v := range calls.Calls() {
		if v.Ended == nil {
			s.Running++
		}
		if len(s.Calls) < maxShown {
			c := shape.CallForPanel(v, b.id)
			c.Activities = shown.activitiesOf(calls, v.CallID)
			s.Calls = append(s.Calls, c)
		}
	}
	return s
}

// activityBudget limits how many more calls are shown with activities, and the total
// text of the activities.
type activityBudget struct{ calls, bytes int }

// activitiesOf returns the activities of a call. activitiesOf omits content that is too long or exceeds the
// budget.
func (a *activityBudget) activitiesOf(calls Calls, callID string) []wire.ActivityView {
	if a.calls == 0 {
		return nil
	}
	whole, ok := calls.Find(callID)
	if !ok || len(whole.Activities) == 0 {
		return nil
	}
	a.calls--
	var out []wire.ActivityView
	for _, one := range whole.Activities {
		v := shape.ActivityForPanel(one, min(wire.MaxShownActivityBytes, a.bytes))
		a.bytes -= len(v.Content)
		out = append(out, v)
	}
	return out
}
