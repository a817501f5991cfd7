package callview

import (
	"context"
	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"time"
)

// Options determine what [Watch] and [Follow] print. By default, [Watch] and [Follow]
// print text, and omit messages that are not for the user.
type Options struct {
	// Verbose makes [Watch] and [Follow] also show messages that are not for the user;
	// false by default.
	Verbose bool
	// JSON makes [Watch] and [Follow] print calls and events as lines of JSON; false by
	// default.
	JSON bool
}

// The type display shows a watched call to the user. At most one method of a display runs
// at a time.
type display interface {
	begin(v dispatch.View) error
	show(v dispatch.View)
	showEvent(e dispatch.Event, rawJSON []byte) error
	showMissedCount(n int)
	// The method redraw is called every 100 ms to update the run time on the screen.
	redraw(now time.Time)
	// showEnd receives nil if the server could not return the final state of the call.
	showEnd(v *dispatch.View)
	pauseDuration() time.Duration
}

func newDisplay(terminalOut *terminal.Output, o Options) display {
	switch {
	case o.JSON:
		return jsonCall{terminalOut: terminalOut}
	case terminalOut.CanRedraw():
		return newLiveCall(terminalOut, o.Verbose)
	}
	return &plainTextCall{terminalOut: terminalOut, verbose: o.Verbose, printedLines: map[string][]string{}}
}

const redrawInterval = 100 * time.Millisecond

// streamItem is one item of a call's event stream: the start of the stream, an event, or
// a number of lost events.
type streamItem struct {
	isFollowing bool
	event       *dispatch.Event
	rawJSON     []byte
	missedCount int
}

// Watch shows a call on the terminal until the call ends or ctx is cancelled, and then
// returns nil. If the server stops, Watch returns httpapi.ErrStreamEnded.
func Watch(ctx context.Context, client *httpapi.Client, id string, terminalOut *terminal.Output, o Options) error {
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	items, streamErr := make(chan streamItem), make(chan error, 1)
	display := newDisplay(terminalOut, o)
	go func() { streamErr <- streamEvents(watchCtx, client, id, items) }()
	w := watcher{client: client, id: id, display: display}
	ticker := time.NewTicker(redrawInterval)
	defer ticker.Stop()
	for {
		var hasEnded bool
		var err error
		select {
		case item := <-items:
			hasEnded, err = w.handleItem(ctx, item)
		case now := <-ticker.C:
			hasEnded, err = w.refreshCall(ctx, now)
		case err = <-streamErr:
		}
		if hasEnded || err != nil {
			display.showEnd(w.lastView)
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

func streamEvents(ctx context.Context, client *httpapi.Client, id string, items chan<- streamItem) error {
	sendItem := func(item streamItem) error {
		select {
		case items <- item:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return client.Calls.Follow(ctx, dispatch.SubscribeOptions{CallID: id}, httpapi.Listener{
		StreamStarted: func() error { return sendItem(streamItem{isFollowing: true}) },
		Event: func(e dispatch.Event, rawJSON []byte) error {
			return sendItem(streamItem{event: &e, rawJSON: append([]byte(nil), rawJSON...)})
		},
		Missed: func(n int) error { return sendItem(streamItem{missedCount: n}) },
	})
}

// The type watcher follows one call: it reads the state of the call from the server and
// passes states and events to a display.
type watcher struct {
	client   *httpapi.Client
	id       string
	display  display
	lastView *dispatch.View
	// viewSeq is the sequence number of the last event that the first view of the call
	// includes.
	viewSeq uint64
	// isStale is true if an event of the call has arrived since the watcher read lastView
	// from the server.
	isStale      bool
	viewReadTime time.Time
}

func (w *watcher) handleItem(ctx context.Context, item streamItem) (hasEnded bool, err error) {
	switch {
	case item.isFollowing: // the first view is read only now, so that the stream has all later events
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.viewSeq = w.lastView.Seq
		return w.lastView.Ended != nil, w.display.begin(*w.lastView)
	case item.event == nil:
		w.display.showMissedCount(item.missedCount)
		w.isStale = true
		return false, nil
	case item.event.Seq <= w.viewSeq:
		return false, nil
	}
	w.isStale = true
	hasEnded = item.event.Kind == dispatch.EventEnded
	if hasEnded { // the details show the final activities before the end of the call
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.display.show(*w.lastView)
	}
	return hasEnded, w.display.showEvent(*item.event, item.rawJSON)
}

func (w *watcher) refreshCall(ctx context.Context, now time.Time) (hasEnded bool, err error) {
	if w.isStale && now.Sub(w.viewReadTime) >= w.display.pauseDuration() {
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.display.show(*w.lastView)
		// If the event for the end of the call was lost, refreshCall reports the end 1 s later.
		hasEnded = w.lastView.Ended != nil && w.lastView.Seq > w.viewSeq && time.Since(*w.lastView.Ended) > time.Second
	}
	w.display.redraw(now)
	return hasEnded, nil
}

func (w *watcher) fetchCall(ctx context.Context) error {
	callRecord, err := w.client.Calls.Get(ctx, w.id)
	if err != nil {
		return err
	}
	w.lastView, w.isStale, w.viewReadTime = &callRecord.View, false, time.Now()
	return nil
}
