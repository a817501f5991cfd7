package callview

import (
	"context"
	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"time"
)

// Options choose how [Watch] shows a call. By default, [Watch] prints text and omits
// messages that are not for the user.
type Options struct {
	// Verbose also shows messages that are not for the user. Default false.
	Verbose bool
	// JSON prints the call and its events as lines of JSON. Default false.
	JSON bool
}

// display shows a call that is watched. The methods of display are called one at a
// time.
type display interface {
	// begin shows the first state of the call; show shows a later state.
	begin(v dispatch.View) error
	show(v dispatch.View)
	// showEvent shows an event that followed the state passed to begin; raw is the event's
	// JSON.
	showEvent(e dispatch.Event, raw []byte) error
	// showMissed shows how many events were lost.
	showMissed(n int)
	// redraw is called every watchTick.
	redraw(now time.Time)
	// end shows the last state of the call; v is nil if the state could not be read.
	end(v *dispatch.View)
	// pause is the least time between two reads of a call that changes.
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

// watchTick is the time between two drawings of the sheet of a watched call.
const watchTick = 100 * time.Millisecond

// streamItem is the start of the stream of events, an event, or a number of missed
// events.
type streamItem struct {
	isFollowing bool
	event       *dispatch.Event
	raw         []byte
	missed      int
}

// Watch shows a call until it ends. Watch returns nil when ctx ends, and
// httpapi.ErrEnded if the server stops.
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

// streamEvents sends the events of one call until ctx ends.
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

// watcher has the last view of a call that is watched.
type watcher struct {
	client   *httpapi.Client
	id       string
	display  display
	lastView *dispatch.View
	// viewSeq is the sequence number of the last event that the first view includes.
	viewSeq uint64
	// isStale is set if an event is later than the last view.
	isStale  bool
	viewTime time.Time
}

// handle shows the event of a stream item, unless the first view includes the event.
func (w *watcher) handle(ctx context.Context, item streamItem) (hasEnded bool, err error) {
	switch {
	case item.isFollowing: // the stream has all events after the first view of the call
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
	if hasEnded { // the last activities of a call precede its end
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.display.show(*w.lastView)
	}
	return hasEnded, w.display.showEvent(*item.event, item.raw)
}

// refreshCall reads the call again if it has changed and the pause is over.
func (w *watcher) refreshCall(ctx context.Context, now time.Time) (hasEnded bool, err error) {
	if w.isStale && now.Sub(w.viewTime) >= w.display.pause() {
		if err := w.fetchCall(ctx); err != nil {
			return false, err
		}
		w.display.show(*w.lastView)
		// The end of the call arrives as an event, unless that event was lost.
		hasEnded = w.lastView.Ended != nil && w.lastView.Seq > w.viewSeq && time.Since(*w.lastView.Ended) > time.Second
	}
	w.display.redraw(now)
	return hasEnded, nil
}

// fetchCall requests the watched call from the server and stores the view.
func (w *watcher) fetchCall(ctx context.Context) error {
	record, err := w.client.Calls.Get(ctx, w.id)
	if err != nil {
		return err
	}
	w.lastView, w.isStale, w.viewTime = &record.View, false, time.Now()
	return nil
}
