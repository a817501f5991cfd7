package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"opentabs/dispatch"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

type callsShowOptions struct {
	program *program
	id      string
	follow  bool
	json    bool
	verbose bool
}

func newCallsShowCmd(p *program) *cobra.Command {
	opts := callsShowOptions{program: p}
	cmd := &cobra.Command{
		Use:   "show CALL",
		Short: "Show all of one call: its way, its progress, what its tool shows",
		Long: `Show one call: what it is, its way so far, the question it waits with, its
progress and its activities. What its tool does not mean for people is left out;
--verbose shows it.

With --follow, go on until the call ends: on a terminal the picture is drawn anew
in its place, in a pipe each change is a line, and of an activity the lines that
changed.`,
		Example: `  opentabs calls show call_abc
  opentabs calls show call_abc --follow
  opentabs calls show call_abc --json | jq .activities`,
		Args: exactly(1, "the id of the call"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.id = args[0]
			return runCallsShow(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.follow, "follow", "f", false, "go on until the call ends")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --follow the call, then one event a line")
	cmd.Flags().BoolVarP(&opts.verbose, "verbose", "v", false, "show what is not meant for people too")
	return cmd
}

func runCallsShow(ctx context.Context, opts callsShowOptions) error {
	client, _, err := opts.program.client(ctx)
	if err != nil {
		return err
	}
	out := opts.program.out
	if opts.follow {
		var ui callUI = &plainCall{out: out, verbose: opts.verbose, drawn: map[string][]string{}}
		switch {
		case opts.json:
			ui = jsonCall{out: out}
		case out.CanRedraw():
			ui = newLiveCall(out, opts.verbose)
		}
		return watchCall(ctx, client, opts.id, ui)
	}
	v, err := client.Call(ctx, opts.id)
	if err != nil {
		return err
	}
	if opts.json {
		return out.PrintValue(v)
	}
	out.PrintSafeLines(sheetOf(out, v, opts.verbose).lines(0)...)
	return nil
}

// sheetOf is the sheet of a view that was made just now.
func sheetOf(out *terminal.Output, v dispatch.View, verbose bool) callSheet {
	now := time.Now()
	s := callSheet{view: v, verbose: verbose, glyphs: out.Glyphs(), now: now, read: now}
	if out.IsTerminal() {
		s.columns, _ = out.Size()
	}
	return s
}

// callUI shows a call that is watched. Its methods are called one at a time.
type callUI interface {
	// begin takes the call as it is, show a later view of it.
	begin(v dispatch.View) error
	show(v dispatch.View)
	// event takes an event that begin has not seen; raw is the JSON it came as.
	event(e dispatch.Event, raw []byte) error
	// missed says that events were lost.
	missed(n int)
	// tick is called often.
	tick(now time.Time)
	// end takes the call as it is in the end; the view is nil if nobody knows.
	end(v *dispatch.View)
	// pause is how often the call is read anew while it changes.
	pause() time.Duration
}

// watchTick is how often a picture is drawn.
const watchTick = 100 * time.Millisecond

// heardOf is one thing that the stream of events tells.
type heardOf struct {
	following bool
	event     *dispatch.Event
	raw       []byte
	missed    int
}

// watchCall shows a call until it ends or ctx does, which is no failure.
func watchCall(ctx context.Context, client *httpapi.Client, id string, ui callUI) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	heard, failed := make(chan heardOf), make(chan error, 1)
	go func() { failed <- hear(watching, client, id, heard) }()
	w := callWatch{client: client, id: id, ui: ui}
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for {
		var over bool
		var err error
		select {
		case h := <-heard:
			over, err = w.take(ctx, h)
		case now := <-tick.C:
			over, err = w.tick(ctx, now)
		case err = <-failed:
			err = serverStopped(err)
		}
		if over || err != nil {
			ui.end(w.last)
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// hear sends what the stream of events tells of one call until ctx ends.
func hear(ctx context.Context, client *httpapi.Client, id string, heard chan<- heardOf) error {
	send := func(h heardOf) error {
		select {
		case heard <- h:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return client.Follow(ctx, dispatch.FollowOptions{CallID: id}, httpapi.Listener{
		Following: func() error { return send(heardOf{following: true}) },
		Event: func(e dispatch.Event, raw []byte) error {
			return send(heardOf{event: &e, raw: append([]byte(nil), raw...)})
		},
		Missed: func(n int) error { return send(heardOf{missed: n}) },
	})
}

// callWatch keeps the last view of a call that is watched.
type callWatch struct {
	client *httpapi.Client
	id     string
	ui     callUI
	last   *dispatch.View
	// since is the last event that begin has seen.
	since uint64
	// stale is set when something has happened since the call was read.
	stale bool
	read  time.Time
}

// take handles what was heard. It reports true when the call has ended.
func (w *callWatch) take(ctx context.Context, h heardOf) (over bool, err error) {
	switch {
	case h.following: // from here on nothing is missed between the view and the events
		if err := w.fetch(ctx); err != nil {
			return false, err
		}
		w.since = w.last.Seq
		return w.last.Ended != nil, w.ui.begin(*w.last)
	case h.event == nil:
		w.ui.missed(h.missed)
		w.stale = true
		return false, nil
	case h.event.Seq <= w.since:
		return false, nil
	}
	w.stale = true
	over = h.event.Kind == dispatch.EventEnded
	if over { // what it showed last comes before its end
		if err := w.fetch(ctx); err != nil {
			return false, err
		}
		w.ui.show(*w.last)
	}
	return over, w.ui.event(*h.event, h.raw)
}

// tick reads the call anew if it has changed and the time has come.
func (w *callWatch) tick(ctx context.Context, now time.Time) (over bool, err error) {
	if w.stale && now.Sub(w.read) >= w.ui.pause() {
		if err := w.fetch(ctx); err != nil {
			return false, err
		}
		w.ui.show(*w.last)
		// Its end comes as an event, unless that was missed.
		over = w.last.Ended != nil && w.last.Seq > w.since && time.Since(*w.last.Ended) > time.Second
	}
	w.ui.tick(now)
	return over, nil
}

func (w *callWatch) fetch(ctx context.Context) error {
	v, err := w.client.Call(ctx, w.id)
	if err != nil {
		return err
	}
	w.last, w.stale, w.read = &v, false, time.Now()
	return nil
}

// jsonCall prints the call, and then each event.
type jsonCall struct{ out *terminal.Output }

func (j jsonCall) begin(v dispatch.View) error {
	return j.out.PrintValueLine(v)
}

func (j jsonCall) event(_ dispatch.Event, raw []byte) error { return j.out.PrintJSONLine(raw) }
func (j jsonCall) missed(n int)                             { j.out.Notef("%s were missed", terminal.Plural(n, "event")) }
func (jsonCall) show(dispatch.View)                         {}
func (jsonCall) tick(time.Time)                             {}
func (jsonCall) end(*dispatch.View)                         {}
func (jsonCall) pause() time.Duration                       { return time.Second }
