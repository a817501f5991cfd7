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
	// stateInterval is the minimum time between two state.sync notifications to a side
	// panel.
	stateInterval = 100 * time.Millisecond
	// maxShownCalls limits the calls in a side panel. maxActivityCalls limits the calls
	// that are shown with activities, and maxActivityBytes limits the total length of
	// these activities, in bytes.
	maxShownCalls    = 200
	maxActivityCalls = 20
	maxActivityBytes = 512 << 10
)

// panel has the server's state for the side panel of one browser.
type panel struct {
	link *link
	// stateDue has a token when a state.sync is due, pluginsDue when a state.plugins is
	// due.
	stateDue, pluginsDue chan struct{}
	runningRequests      atomic.Int32 // the number of running requests of the side panel

	mu          sync.Mutex         // guards cancel
	stopWatcher context.CancelFunc // stops the goroutine sendState; nil if the panel is closed
}

// requestState schedules a state.sync, which is sent if a panel is open.
func (p *panel) requestState() { signalOnce(p.stateDue) }

// requestPlugins schedules a state.plugins, which is sent if a panel is open.
func (p *panel) requestPlugins() { signalOnce(p.pluginsDue) }

// sendWaiting sends a state.waiting if the number of waiting calls has changed. The
// caller holds registry.mu.
func (l *link) sendWaiting(calls int) {
	if !l.isReady || calls == l.waitingSent {
		return
	}
	l.waitingSent = calls
	l.postFrame(wire.AppendNotification(nil, wire.MethodStateWaiting, wire.EncodeBody(wire.StateWaitingParams{Count: calls})))
}

// setWatching turns state.sync and state.plugins on or off. Only the reader of the link
// calls setWatching.
func (p *panel) setWatching(b *browser, isOn bool) {
	p.stop()
	if !isOn {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.stopWatcher = cancel
	p.mu.Unlock()
	calls := p.link.hub.currentCalls()
	p.requestState()
	p.requestPlugins()
	p.link.goroutines.Go(func() { p.sendState(ctx, b, calls) })
	if calls == nil {
		return
	}
	follower := calls.Follow(dispatch.FollowOptions{})
	p.link.goroutines.Go(func() {
		defer follower.Close()
		for {
			if _, _, err := follower.Next(ctx); err != nil {
				return
			}
			p.requestState()
		}
	})
}

// stop stops the goroutine that sends state to an open side panel.
func (p *panel) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopWatcher != nil {
		p.stopWatcher()
		p.stopWatcher = nil
	}
}

// sendState sends a state.sync or state.plugins when it is due and its content has
// changed. sendState sends the first state.sync and state.plugins at once. Later
// state.sync and state.plugins are sent at most once per stateInterval. Each state.sync
// or state.plugins has the newest content.
func (p *panel) sendState(ctx context.Context, b *browser, calls Calls) {
	var lastState, lastPlugins []byte // the frames that were sent last
	send := func(lastFrame *[]byte, method wire.Method, params []byte) {
		frame := wire.AppendNotification(nil, method, params)
		if !bytes.Equal(frame, *lastFrame) {
			p.link.postFrame(frame)
			*lastFrame = frame
		}
	}
	pauseTimer := time.NewTimer(stateInterval)
	defer pauseTimer.Stop()
	for {
		var stateDue, pluginsDue bool
		select {
		case <-ctx.Done():
			return
		case <-p.stateDue:
			stateDue, pluginsDue = true, tryReceive(p.pluginsDue)
		case <-p.pluginsDue:
			stateDue, pluginsDue = tryReceive(p.stateDue), true
		}
		if ctx.Err() != nil { // the next call of sendState receives the tokens
			p.requestState()
			p.requestPlugins()
			return
		}
		if stateDue {
			send(&lastState, wire.MethodStateSync, wire.EncodeBody(p.newStateParams(b, calls)))
		}
		if pluginsDue {
			send(&lastPlugins, wire.MethodStatePlugins, wire.EncodeBody(p.link.hub.pluginViews()))
		}
		pauseTimer.Reset(stateInterval)
		select {
		case <-ctx.Done():
			return
		case <-pauseTimer.C:
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
func (h *Hub) pluginViews() (params wire.StatePluginsParams) {
	if h.opts.Policy != nil {
		params.Plugins, params.Failed = h.opts.Policy.Plugins()
	}
	return params
}

func (p *panel) newStateParams(b *browser, calls Calls) wire.StateSyncParams {
	s := wire.StateSyncParams{ServerVersion: p.link.hub.opts.Version}
	if calls == nil {
		return s
	}
	budget := activityBudget{calls: maxActivityCalls, bytes: maxActivityBytes}
	for _, v := range calls.Calls() {
		if v.Ended == nil {
			s.Running++
		}
		if len(s.Calls) < maxShownCalls {
			c := shape.CallForPanel(v, b.id)
			c.Activities = budget.activitiesOf(calls, v.CallID)
			s.Calls = append(s.Calls, c)
		}
	}
	return s
}

// activityBudget is how many more calls and bytes of activities fit into one
// state.sync.
type activityBudget struct{ calls, bytes int }

// activitiesOf returns the activities of a call, without content that is too long or
// exceeds the activityBudget.
func (a *activityBudget) activitiesOf(calls Calls, callID string) []wire.ActivityView {
	if a.calls == 0 {
		return nil
	}
	callView, ok := calls.Find(callID)
	if !ok || len(callView.Activities) == 0 {
		return nil
	}
	a.calls--
	var activityViews []wire.ActivityView
	for _, activity := range callView.Activities {
		v := shape.ActivityForPanel(activity, min(wire.MaxShownActivityBytes, a.bytes))
		a.bytes -= len(v.Content)
		activityViews = append(activityViews, v)
	}
	return activityViews
}
