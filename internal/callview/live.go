package callview

import (
	"opentabs/dispatch"
	"opentabs/internal/terminal"
	"time"
)

// liveCall shows the details of a call in a terminal and redraws them in place.
type liveCall struct {
	out      *terminal.Output
	verbose  bool
	block    *terminal.Block
	view     *dispatch.View
	viewTime time.Time
}

func newLiveCall(out *terminal.Output, verbose bool) *liveCall {
	return &liveCall{out: out, verbose: verbose, block: out.NewBlock()}
}

func (l *liveCall) begin(v dispatch.View) error {
	l.show(v)
	return nil
}

func (l *liveCall) show(v dispatch.View) {
	l.view, l.viewTime = &v, time.Now()
	l.redraw(l.viewTime)
}

func (l *liveCall) showEvent(dispatch.Event, []byte) error { return nil }
func (l *liveCall) showMissed(int)                         {}
func (l *liveCall) pause() time.Duration                   { return watchTick }

func (l *liveCall) redraw(now time.Time) {
	if l.view == nil {
		return
	}
	columns, rows := l.out.Size()
	s := callDetails{view: *l.view, verbose: l.verbose, columns: columns, glyphs: l.out.Glyphs(), now: now, viewTime: l.viewTime}
	l.block.Draw(s.renderLines(rows - 1))
}

func (l *liveCall) end(v *dispatch.View) {
	l.block.Clear()
	if v != nil {
		l.out.PrintSafeLines(newCallDetails(l.out, *v, l.verbose).renderLines(0)...)
	}
}

const plainSilence = time.Second

// plainCall prints a call line by line, for output that is not a terminal.
type plainCall struct {
	out           *terminal.Output
	verbose       bool
	printedLines  map[string][]string
	hasPrintedEnd bool
}

func (p *plainCall) begin(v dispatch.View) error {
	s := newCallDetails(p.out, v, p.verbose)
	p.hasPrintedEnd = v.Ended != nil
	p.out.PrintSafeLines(s.renderLines(0)...)
	for _, a := range v.Activities {
		p.printedLines[a.Type] = terminal.ContentLines(a.Type, a.Content, s.columns > 0)
	}
	return nil
}

func (p *plainCall) showEvent(e dispatch.Event, _ []byte) error {
	p.hasPrintedEnd = p.hasPrintedEnd || e.Kind == dispatch.EventEnded
	isReport := e.Kind == dispatch.EventProgress || e.Kind == dispatch.EventActivity
	if e.Kind != dispatch.EventActivity && (!isReport || p.verbose || e.IsForUser()) {
		p.out.PrintText(e.Time.Local().Format(clockTime) + "  " + EventText(e, p.verbose))
	}
	return nil
}

func (p *plainCall) showMissed(n int)     { p.out.Notef("%s were missed", terminal.Plural(n, "event")) }
func (p *plainCall) redraw(time.Time)     {}
func (p *plainCall) pause() time.Duration { return plainSilence }

func (p *plainCall) show(v dispatch.View) {
	s := newCallDetails(p.out, v, p.verbose)
	shownActivities, _ := s.shownActivities()
	for _, a := range shownActivities {
		lines, oldLines := terminal.ContentLines(a.Type, a.Content, s.columns > 0), p.printedLines[a.Type]
		sameLines := 0
		for sameLines < len(lines) && sameLines < len(oldLines) && lines[sameLines] == oldLines[sameLines] {
			sameLines++
		}
		if sameLines == len(lines) && sameLines == len(oldLines) {
			continue
		}
		p.printedLines[a.Type] = lines
		heading := activityHead(a)
		switch {
		case sameLines > 0 && sameLines == len(oldLines):
			heading += ", more"
		case sameLines > 0 || len(oldLines) > 0:
			heading += ", changed from line " + terminal.Number(float64(sameLines+1))
		}
		p.out.PrintSafeLines(heading)
		for _, line := range lines[sameLines:] {
			p.out.PrintSafeLines("  " + line)
		}
	}
}

func (p *plainCall) end(v *dispatch.View) {
	if v == nil {
		return
	}
	p.show(*v)
	if v.Ended != nil && !p.hasPrintedEnd { // the event for the end of the call was lost
		p.out.PrintSafeLines(fieldLine("status", newCallDetails(p.out, *v, p.verbose).statusLine()))
	}
}

// jsonCall prints the state of a call, and then each event of the call, as JSON on one
// line each.
type jsonCall struct{ out *terminal.Output }

func (j jsonCall) begin(v dispatch.View) error {
	return j.out.PrintValueLine(v)
}

func (j jsonCall) showEvent(_ dispatch.Event, raw []byte) error { return j.out.PrintJSONLine(raw) }
func (j jsonCall) showMissed(n int)                             { j.out.Notef("%s were missed", terminal.Plural(n, "event")) }
func (jsonCall) show(dispatch.View)                             {}
func (jsonCall) redraw(time.Time)                               {}
func (jsonCall) end(*dispatch.View)                             {}
func (jsonCall) pause() time.Duration                           { return time.Second }
