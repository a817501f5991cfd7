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

// display shows a watched call to the user. At most one method of a display runs at a
// time.
type display interface {
	// begin shows the first state of the call that was read, and show shows each later
	// state.
	begin(v dispatch.View) error
	show(v dispatch.View)
	// showEvent shows an event that happened after the state that begin has shown. The
	// parameter raw is the event's JSON as the server sent it.
	showEvent(e dispatch.Event, raw []byte) error
	// showMissed shows that n events were lost.
	showMissed(n int)
	// redraw is called every 100 ms to update the run time on the screen.
	redraw(now time.Time)
	// end shows the final state of the call. If the server could not return the final
	// state of the call, v is nil.
	end(v *dispatch.View)
	// pause returns the minimum time between two requests to the server for the state of
	// a changing call.
	pause() time.Duration
}

func newDisplay(out *terminal.Output, o Options) display {
	switch {
	case o.JSON:
		return jsonCall{out: out}
	case out.CanRedraw():
		return newLiveCall(out, o.Verbose)
	}
	return &plainCall{out: out, verbose: o.Verbose, printedLines: map[string][]string{}}
}

// watchTick is how often the terminal redraws a watched call.
const watchTick = 100 * time.Millisecond

// streamItem is one item of a call's event stream: the start of the stream, an event, or
// a number of lost events.
type streamItem struct {
	isFollowing bool
	event       *dispatch.Event
	raw         []byte
	missed      int
}

// Watch shows a call on the terminal until the call ends or ctx is cancelled, and then
// returns nil. If the server stops, Watch returns httpapi.ErrEnded.
func Watch(ctx context.Context, client *httpapi.Client, id string, out *terminal.Output, o Options) error {
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	items, streamErr := make(chan streamItem), make(chan error, 1)
	display := newDisplay(out, o)
	go func() { streamErr <- streamEvents(watchCtx, client, id, items) }()
	w := watcher{client: client, id: id, display: display}
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for {
		var hasEnded bool
		var err error
		select {
		case item := <-items:
			hasEnded, err = w.handle(ctx, item)
		case now := <-tick.C:
			hasEnded, err = w.refreshCall(ctx, now)
		case err = <-streamErr:
		}
		if hasEnded || err != nil {
			display.end(w.lastView)
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// streamEvents sends the events of one call to the channel items until ctx is cancelled.
func streamEvents(ctx context.Context, client *httpapi.Client, id string, items chan<- streamItem) error {
	send := func(item streamItem) error {
		select {
		case items <- item:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return client.Calls.Follow(ctx, dispatch.FollowOptions{CallID: id}, httpapi.Listener{
		Following: func() error { return send(streamItem{isFollowing: true}) },
		Event: func(e dispatch.Event, raw []byte) error {
			return send(streamItem{event: &e, raw: append([]byte(nil), raw...)})
		},
		Missed: func(n int) error { return send(streamItem{missed: n}) },
	})
}

// watcher follows one call: it reads the state of the call from the server and passes
// states and events to a display.
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
	isStale  bool
	viewTime time.Time
}

// handle passes one item of the call's event stream to the display. The method handle
// skips events that the first displayed state of the call already includes.
func (w *watcher) handle(ctx context.Context, item streamItem) (hasEnded bool, err error) {
	switch {
	case item.isFollowing: // the first view is read only now, so that the stream has all later events
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.viewSeq = w.lastView.Seq
		return w.lastView.Ended != nil, w.display.begin(*w.lastView)
	case item.event == nil:
		w.display.showMissed(item.missed)
		w.isStale = true
		return false, nil
	case item.event.Seq <= w.viewSeq:
		return false, nil
	}
	w.isStale = true
	hasEnded = item.event.Kind == dispatch.EventEnded
	if hasEnded { // shows the final activities before the end of the call
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.display.show(*w.lastView)
	}
	return hasEnded, w.display.showEvent(*item.event, item.raw)
}

// refreshCall reads the call from the server again if the call has changed and the
// display's pause is over.
func (w *watcher) refreshCall(ctx context.Context, now time.Time) (hasEnded bool, err error) {
	if w.isStale && now.Sub(w.viewTime) >= w.display.pause() {
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.display.show(*w.lastView)
		// Normally, an event notifies the watcher that the call has ended. If the event
		// for the end of the call was lost, refreshCall reports the end 1 s later.
		hasEnded = w.lastView.Ended != nil && w.lastView.Seq > w.viewSeq && time.Since(*w.lastView.Ended) > time.Second
	}
	w.display.redraw(now)
	return hasEnded, nil
}

// fetchCall requests the watched call from the server and stores the result in
// w.lastView.
func (w *watcher) fetchCall(ctx context.Context) error {
	record, err := w.client.Calls.Get(ctx, w.id)
	if err != nil {
		return err
	}
	w.lastView, w.isStale, w.viewTime = &record.View, false, time.Now()
	return nil
}
