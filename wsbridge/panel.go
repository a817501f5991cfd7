package wsbridge

import (
	"bytes"
	"context"
	"time"

	"opentabs/dispatch"
	"opentabs/wire"
)

const (
	// stateInterval is the least time between two state.sync.
	stateInterval = 100 * time.Millisecond
	// maxShown is how many calls a side panel is told of, maxActivityCalls how many
	// of them with their activities, and maxActivityText how long those are
	// together, in bytes.
	maxShown         = 200
	maxActivityCalls = 20
	maxActivityText  = 512 << 10
	// maxShownResult is how much of a result a side panel gets, in characters.
	maxShownResult = 200
)

// wantState asks for a state.sync, which is sent if a panel watches.
func (l *link) wantState() { poke(l.state) }

// wantPlugins asks for a state.plugins, which is sent if a panel watches.
func (l *link) wantPlugins() { poke(l.plugins) }

// greet tells a browser that was let in how many calls wait for a person, and
// lets it be told from then on.
func (l *link) greet() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.greeted = true
	l.hub.endGreeting(l)
	l.tellWaiting(l.hub.waiting)
}

// tellWaiting sends state.waiting if it changed. The caller holds hub.mu.
func (l *link) tellWaiting(calls int) {
	if !l.greeted || calls == l.waiting {
		return
	}
	l.waiting = calls
	l.post(wire.AppendNotification(nil, wire.MethodStateWaiting, marshal(wire.StateWaitingParams{Count: calls})))
}

// watchFor switches state.sync and state.plugins on or off. The reader calls it.
func (l *link) watchFor(b *browser, on bool) {
	l.unwatch()
	if !on {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	l.panel = cancel
	l.mu.Unlock()
	calls := l.hub.currentCalls()
	l.wantState()
	l.wantPlugins()
	l.work.Go(func() { l.sendState(ctx, b, calls) })
	if calls == nil {
		return
	}
	follower := calls.Follow(dispatch.FollowOptions{})
	l.work.Go(func() {
		defer follower.Close()
		for {
			if _, _, err := follower.Next(ctx); err != nil {
				return
			}
			l.wantState()
		}
	})
}

// unwatch ends what watches for a panel, if anything does.
func (l *link) unwatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panel != nil {
		l.panel()
		l.panel = nil
	}
}

// sendState sends state.sync and state.plugins when asked and if they changed,
// the first at once, then at most one of each in each stateInterval; each has the
// newest state.
func (l *link) sendState(ctx context.Context, b *browser, calls Calls) {
	var state, plugins []byte // as they were sent last
	send := func(last *[]byte, method wire.Method, params []byte) {
		frame := wire.AppendNotification(nil, method, params)
		if !bytes.Equal(frame, *last) {
			l.post(frame)
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
		case <-l.state:
			stateDue, pluginsDue = true, taken(l.plugins)
		case <-l.plugins:
			stateDue, pluginsDue = taken(l.state), true
		}
		if ctx.Err() != nil { // the tokens were meant for the next watcher
			l.wantState()
			l.wantPlugins()
			return
		}
		if stateDue {
			send(&state, wire.MethodStateSync, marshal(l.stateFor(b, calls)))
		}
		if pluginsDue {
			send(&plugins, wire.MethodStatePlugins, marshal(l.hub.pluginViews()))
		}
		pause.Reset(stateInterval)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// taken takes a token from a channel, if it has one.
func taken(c chan struct{}) bool {
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

func (l *link) stateFor(b *browser, calls Calls) wire.StateSyncParams {
	s := wire.StateSyncParams{ServerVersion: l.hub.opts.Version}
	if calls == nil {
		return s
	}
	shown := activityBudget{calls: maxActivityCalls, bytes: maxActivityText}
	for _, v := range calls.Calls() {
		if v.Ended == nil {
			s.Running++
		}
		if len(s.Calls) < maxShown {
			c := b.callView(v)
			c.Activities = shown.of(calls, v.CallID)
			s.Calls = append(s.Calls, c)
		}
	}
	return s
}

// callView returns a call as this browser's side panel shows it, but for its
// activities. Only a call in this browser has its tab: two browsers may have tabs
// with one id.
func (b *browser) callView(v dispatch.View) wire.CallView {
	c := wire.CallView{
		CallID: v.CallID, Plugin: v.Plugin, Tool: v.Tool, Status: v.Status, Progress: v.Progress,
		Message: v.Message, Client: clean(v.Who().String(), maxName), RunMs: v.RunMs, Error: v.Error,
		Prompt: v.Prompt, ParentCallID: v.ParentCallID,
		UserProgress: v.UserProgress, UserMessage: v.UserMessage, EndAudience: v.EndAudience,
		StatusWord: v.StatusWord, UserStatusWord: v.UserStatusWord, Result: clean(v.Result, maxShownResult),
	}
	if v.Browser == b.id {
		c.TabID = v.TabID
	}
	if w := v.Waiting; w != nil {
		c.Waiting = &wire.WaitingView{
			TicketID: w.TicketID, Kind: w.Kind, Reason: w.Reason, Title: w.Title, Args: w.Args,
			Caller: b.callerView(w.Caller),
			LeftMs: max(0, float64(time.Until(w.Until))/float64(time.Millisecond)), Scopes: w.Scopes,
		}
	}
	return c
}

// callerView returns the tool that makes a call; nil for a call of a client.
func (b *browser) callerView(by *dispatch.Caller) *wire.CallerView {
	if by == nil {
		return nil
	}
	v := &wire.CallerView{Plugin: by.Plugin, Tool: by.Tool, Origin: by.Origin}
	if by.Browser == b.id {
		v.TabID = by.TabID
	}
	return v
}

// activityBudget is how many more calls are shown with their activities, and how
// much text of those.
type activityBudget struct{ calls, bytes int }

// of returns the activities of a call; without their content where that is too
// long, or where there is no room for it.
func (a *activityBudget) of(calls Calls, callID string) []wire.ActivityView {
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
		v := wire.ActivityView{Type: one.Type, Audience: one.Audience, Bytes: len(one.Content)}
		if v.Bytes <= min(wire.MaxShownActivity, a.bytes) {
			v.Content = string(one.Content)
			a.bytes -= v.Bytes
		}
		out = append(out, v)
	}
	return out
}
