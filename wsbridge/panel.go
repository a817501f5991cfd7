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
	// maxShown is how many calls a side panel is told of.
	maxShown = 200
)

// wantState asks for a state.sync, which is sent if a panel watches.
func (l *link) wantState() { poke(l.state) }

// watchFor switches state.sync on or off. The reader calls it.
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

// sendState sends state.sync when asked, the first at once, then at most one
// in each stateInterval; each has the newest state.
func (l *link) sendState(ctx context.Context, b *browser, calls Calls) {
	var last []byte
	pause := time.NewTimer(stateInterval)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.state:
		}
		if ctx.Err() != nil { // the token was meant for the next watcher
			l.wantState()
			return
		}
		frame := wire.AppendNotification(nil, wire.MethodStateSync, marshal(l.stateFor(b, calls)))
		if !bytes.Equal(frame, last) {
			l.post(frame)
			last = frame
		}
		pause.Reset(stateInterval)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

func (l *link) stateFor(b *browser, calls Calls) wire.StateSyncParams {
	s := wire.StateSyncParams{ServerVersion: l.hub.opts.Version, Plugins: l.hub.plugins()}
	if calls == nil {
		return s
	}
	for _, v := range calls.Calls() {
		if v.Ended == nil {
			s.Running++
		}
		if len(s.Calls) < maxShown {
			s.Calls = append(s.Calls, b.callView(v))
		}
	}
	return s
}

// callView returns a call as this browser's side panel shows it. Only a call in
// this browser has its tab: two browsers may have tabs with one id.
func (b *browser) callView(v dispatch.View) wire.CallView {
	c := wire.CallView{
		CallID: v.CallID, Plugin: v.Plugin, Tool: v.Tool, Status: v.Status, Progress: v.Progress,
		Message: v.Message, Client: clean(v.Client, maxName), RunMs: v.RunMs, Error: v.Error,
	}
	if v.Browser == b.id {
		c.TabID = v.TabID
	}
	return c
}
