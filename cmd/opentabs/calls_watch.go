package main

import (
	"time"

	"opentabs/dispatch"
	"opentabs/internal/terminal"
)

// liveCall is a picture of a call that is drawn anew in its place.
type liveCall struct {
	out     *terminal.Output
	verbose bool
	block   *terminal.Block
	view    *dispatch.View
	read    time.Time
}

func newLiveCall(out *terminal.Output, verbose bool) *liveCall {
	return &liveCall{out: out, verbose: verbose, block: out.NewBlock()}
}

func (l *liveCall) begin(v dispatch.View) error {
	l.show(v)
	return nil
}

func (l *liveCall) show(v dispatch.View) {
	l.view, l.read = &v, time.Now()
	l.tick(l.read)
}

func (l *liveCall) event(dispatch.Event, []byte) error { return nil }
func (l *liveCall) missed(int)                         {}
func (l *liveCall) pause() time.Duration               { return watchTick }

// tick draws the picture as of now.
func (l *liveCall) tick(now time.Time) {
	if l.view == nil {
		return
	}
	columns, rows := l.out.Size()
	s := callSheet{view: *l.view, verbose: l.verbose, columns: columns, glyphs: l.out.Glyphs(), now: now, read: l.read}
	l.block.Draw(s.lines(rows - 1))
}

// end leaves the whole picture, also what the screen had no room for.
func (l *liveCall) end(v *dispatch.View) {
	l.block.Clear()
	if v != nil {
		l.out.PrintSafeLines(sheetOf(l.out, *v, l.verbose).lines(0)...)
	}
}

// plainPause is how often a pipe gets the lines of an activity that changed.
const plainPause = time.Second

// plainCall writes a call line by line, as for a pipe.
type plainCall struct {
	out     *terminal.Output
	verbose bool
	// drawn are the lines of each activity that were written last.
	drawn map[string][]string
	// ended is set once the end of the call was written.
	ended bool
}

func (p *plainCall) begin(v dispatch.View) error {
	s := sheetOf(p.out, v, p.verbose)
	p.ended = v.Ended != nil
	p.out.PrintSafeLines(s.lines(0)...)
	for _, a := range v.Activities {
		p.drawn[a.Type] = terminal.ContentLines(a.Type, a.Content, s.columns > 0)
	}
	return nil
}

// event writes what is no report, and the reports that are shown. Activities are
// written by show.
func (p *plainCall) event(e dispatch.Event, _ []byte) error {
	p.ended = p.ended || e.Kind == dispatch.EventEnded
	report := e.Kind == dispatch.EventProgress || e.Kind == dispatch.EventActivity
	if e.Kind != dispatch.EventActivity && (!report || p.verbose || e.ForPeople()) {
		p.out.PrintText(e.Time.Local().Format(clockTime) + "  " + eventText(e, p.verbose))
	}
	return nil
}

func (p *plainCall) missed(n int)         { p.out.Notef("%s were missed", terminal.Plural(n, "event")) }
func (p *plainCall) tick(time.Time)       {}
func (p *plainCall) pause() time.Duration { return plainPause }

// show writes the activities that changed, each from its first line that did.
func (p *plainCall) show(v dispatch.View) {
	s := sheetOf(p.out, v, p.verbose)
	shown, _ := s.shown()
	for _, a := range shown {
		lines, before := terminal.ContentLines(a.Type, a.Content, s.columns > 0), p.drawn[a.Type]
		same := 0
		for same < len(lines) && same < len(before) && lines[same] == before[same] {
			same++
		}
		if same == len(lines) && same == len(before) {
			continue
		}
		p.drawn[a.Type] = lines
		head := activityHead(a)
		switch {
		case same > 0 && same == len(before):
			head += ", more"
		case same > 0 || len(before) > 0:
			head += ", changed from line " + terminal.Number(float64(same+1))
		}
		p.out.PrintSafeLines(head)
		for _, line := range lines[same:] {
			p.out.PrintSafeLines("  " + line)
		}
	}
}

// end writes what came last.
func (p *plainCall) end(v *dispatch.View) {
	if v == nil {
		return
	}
	p.show(*v)
	if v.Ended != nil && !p.ended { // the event was missed
		p.out.PrintSafeLines(field("status", sheetOf(p.out, *v, p.verbose).status()))
	}
}
