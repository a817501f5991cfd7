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

// stateInterval is the minimum time between two state.sync notifications to a side panel.
const stateInterval = 200 * time.Millisecond

// refreshInterval is how often an open side panel receives changes of the connected clients. If
// calls change, an open side panel receives the changes at once.
const refreshInterval = 3 * time.Second

// The type panel contains the channels and the link with which the server updates the side
// panel of one browser.
type panel struct {
	link *link
	// Each channel contains a value while notifications are due: stateDue for state.sync,
	// pluginsDue for state.plugins and state.browser.
	stateDue, pluginsDue chan struct{}
	runningRequests      atomic.Int32

	mu               sync.Mutex // the mutex guards the field cancelStateWatch
	cancelStateWatch context.CancelFunc
}

func (p *panel) requestState() { notifyWithoutBlocking(p.stateDue) }

func (p *panel) requestPlugins() { notifyWithoutBlocking(p.pluginsDue) }

// The caller of sendWaitingCount holds registry.mu.
func (l *link) sendWaitingCount(calls int) {
	if !l.isReady || calls == l.lastSentWaitingCount {
		return
	}
	l.lastSentWaitingCount = calls
	l.postFrame(wire.AppendNotification(nil, wire.MethodStateWaiting, wire.EncodeBody(wire.StateWaitingParams{Count: calls})))
}

// Only the goroutine that reads messages from the browser calls setPanelOpen.
func (p *panel) setPanelOpen(b *browser, isPanelOpen bool) {
	p.stop()
	if !isPanelOpen {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.cancelStateWatch = cancel
	p.mu.Unlock()
	calls := p.link.hub.currentCalls()
	var subscription *dispatch.Subscriber
	if calls != nil { // subscribe before sendState reads the calls, so that no change is lost
		subscription = calls.Subscribe(dispatch.SubscribeOptions{})
	}
	p.requestState()
	p.requestPlugins()
	p.link.goroutines.Go(func() { p.sendState(ctx, b, calls) })
	if subscription == nil {
		return
	}
	p.link.goroutines.Go(func() {
		defer subscription.Close()
		for {
			if _, _, err := subscription.Next(ctx); err != nil {
				return
			}
			p.requestState()
			// The next state is due at the earliest after stateInterval, so the goroutine does not wake for each event until then.
			select {
			case <-ctx.Done():
				return
			case <-time.After(stateInterval):
			}
		}
	})
}

func (p *panel) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancelStateWatch != nil {
		p.cancelStateWatch()
		p.cancelStateWatch = nil
	}
}

// The panel receives state.sync after changes of calls or clients, and state.plugins and state.browser after changes of
// permissions. Two notifications of one kind are at least stateInterval apart, and each notification contains the
// newest content.
func (p *panel) sendState(ctx context.Context, b *browser, calls Calls) {
	panelCalls := shape.PanelCalls{BrowserID: b.id, ServerVersion: p.link.hub.opts.Version, ClientNames: p.link.hub.opts.ClientNames}
	var lastStateFrame, lastPluginsFrame, lastBrowser []byte
	sendFrame := func(lastSentFrame *[]byte, method wire.Method, params []byte) {
		frame := wire.AppendNotification(nil, method, params)
		if !bytes.Equal(frame, *lastSentFrame) {
			p.link.postFrame(frame)
			*lastSentFrame = frame
		}
	}
	stateIntervalTimer := time.NewTimer(stateInterval)
	defer stateIntervalTimer.Stop()
	refreshTicks := time.Tick(refreshInterval)
	for {
		var stateDue, pluginsDue bool
		select {
		case <-ctx.Done():
			return
		case <-p.stateDue:
			stateDue, pluginsDue = true, tryReceive(p.pluginsDue)
		case <-refreshTicks:
			stateDue = true
		case <-p.pluginsDue:
			stateDue, pluginsDue = tryReceive(p.stateDue), true
		}
		if ctx.Err() != nil { // mark the notifications as due again for the next call of sendState
			p.requestState()
			p.requestPlugins()
			return
		}
		if stateDue {
			sendFrame(&lastStateFrame, wire.MethodStateSync, wire.EncodeBody(panelCalls.Next(calls)))
		}
		if pluginsDue {
			sendFrame(&lastPluginsFrame, wire.MethodStatePlugins, wire.EncodeBody(p.link.hub.pluginViews()))
			if policy := p.link.hub.opts.Policy; policy != nil {
				sendFrame(&lastBrowser, wire.MethodStateBrowser, wire.EncodeBody(policy.BrowserTools()))
			}
		}
		stateIntervalTimer.Reset(stateInterval)
		select {
		case <-ctx.Done():
			return
		case <-stateIntervalTimer.C:
		}
	}
}

func tryReceive(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (h *Hub) pluginViews() (params wire.StatePluginsParams) {
	if h.opts.Policy != nil {
		params.Plugins, params.Failed = h.opts.Policy.Plugins()
	}
	return params
}
